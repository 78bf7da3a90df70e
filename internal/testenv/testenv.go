// Package testenv has helpers for tests. Files without tags are for every test: golden files, and
// waiting for an event. The build tag acceptance adds the real parts of acceptance tests (a Docker
// engine, an Elasticsearch, a browser, a terminal, a virtual machine) and locbench as a process, so
// the plain suite does not compile with them. See docs/testing.md.
package testenv

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"time"
)

// AtOnce runs n tests of a package that call t.Parallel in parallel, unless -parallel is given. It
// is for tests that wait most of their time: one per CPU would leave the CPUs idle.
func AtOnce(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}

// Until polls until is returns true, and fails the test at the time limit. The slower is is, the
// less often it is called.
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

// AloneOnMachine runs the tests of a package with an empty folder in the environment variable for
// the folder in which runs notice each other: they see no other runs of this machine.
func AloneOnMachine(m *testing.M, variable string) (code int) {
	dir, err := os.MkdirTemp("", "locbench-runs-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv(variable, dir)
	return m.Run()
}
