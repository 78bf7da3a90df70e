//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/locbench/locbench/internal/cli"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

func TestMain(m *testing.M) {
	testscript.Main(many{m}, map[string]func(){
		"locbench": func() {
			os.Exit(cli.Main(context.Background(), console.Main()))
		},
	})
}

// many runs three tests in parallel, also on two CPUs: acceptance tests wait most of their time.
type many struct{ *testing.M }

func (m many) Run() int {
	testenv.AtOnce(3)
	return m.M.Run()
}

// TestScripts runs short commands as a user would. The first lines of each script say what it is
// about. Scripts that run contenders are in testdata/acceptance: those are processes, these are calls. It is not
// parallel to other tests: the calls have their own folder and environment.
func TestScripts(t *testing.T) {
	var one sync.Mutex
	p := scripts(testenv.Must(filepath.Abs("testdata/script"))(t))
	call := func(ts *testscript.TestScript, args []string) int {
		one.Lock()
		defer one.Unlock()
		before := testenv.Must(os.Getwd())(t)
		defer func() { ts.Check(os.Chdir(before)) }()
		ts.Check(os.Chdir(ts.MkAbs(".")))
		for _, name := range []string{"HOME", "XDG_CACHE_HOME", "DOCKER_HOST", machine.RunsVariable} {
			was := os.Getenv(name)
			defer func() { ts.Check(os.Setenv(name, was)) }()
			ts.Check(os.Setenv(name, ts.Getenv(name)))
		}
		return cli.Main(t.Context(), cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: ts.Stdout(), Stderr: ts.Stderr(), Getenv: ts.Getenv})
	}
	p.Cmds["locbench"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if code := call(ts, args); (code != 0) != neg {
			ts.Fatalf("exit code %d", code)
		}
	}
	p.Cmds["exits"] = func(ts *testscript.TestScript, neg bool, args []string) { // exits 2 locbench run --nonsense
		if code := call(ts, args[2:]); strconv.Itoa(code) != args[0] || args[1] != "locbench" || neg {
			ts.Fatalf("exit code %d", code)
		}
	}
	testscript.Run(t, p)
}

func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			cache, err := os.UserCacheDir()
			if err != nil {
				return err
			}
			// Builds are cached outside the script's folder; the rest of the home is empty.
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
			env.Setenv(machine.RunsVariable, env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	}
}

// exits runs a command and fails unless it ends with the code in the first argument: exits 2
// locbench run --nonsense.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	err := ts.Exec("sh", append([]string{"-c", `want=$1; shift; "$@"; got=$?; if [ $got != $want ]; then echo "exit code $got, want $want" >&2; exit 1; fi; exit 0`, "exits"}, args...)...)
	if err != nil {
		ts.Fatalf("%v", err)
	}
}
