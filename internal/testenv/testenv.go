// Package testenv is what tests share. Untagged files hold what every test may use: goldens, and
// waiting for an event. With the build tag acceptance come the real parts that acceptance tests run
// against (a Docker engine, an Elasticsearch, a browser, a terminal, a virtual machine) and locbench
// as a process: a test of the plain suite cannot even be compiled with them. See docs/testing.md.
package testenv

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"time"
)

// AtOnce has n tests of a package that call t.Parallel run at once, unless -parallel says
// otherwise. It is for tests that wait for others most of their time, so as many as there are
// CPUs would leave these idle.
func AtOnce(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}

// Until polls until is holds, and fails the test when it does not within the time limit. It looks
// less often the longer a look takes.
func Until(t testing.TB, limit time.Duration, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; {
		began := time.Now()
		if is() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(5*time.Millisecond + 5*time.Since(began))
	}
}

// AloneOnMachine runs the tests of a package with an empty folder in the environment variable,
// where runs notice each other, so they see no other runs of this machine.
func AloneOnMachine(m *testing.M, variable string) (code int) {
	dir, err := os.MkdirTemp("", "locbench-runs-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv(variable, dir)
	return m.Run()
}
