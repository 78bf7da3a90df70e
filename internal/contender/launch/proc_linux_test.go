package launch

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

// TestHandlesTerm: the main thread of an init program blocks signals and waits for them.
func TestHandlesTerm(t *testing.T) {
	for name, c := range map[string]struct {
		blocked, ignored, caught string
		want                     bool
	}{
		"neither":      {"0000000000000000", "0000000000000000", "0000000000000002", false},
		"ignores it":   {"0000000000000000", "0000000000004000", "0000000000000002", false},
		"has handler":  {"0000000000000000", "0000000000001000", "0000000180014a02", true},
		"waits for it": {"fffffffe7ffbfeff", "0000000000300000", "0000000000000000", true},
		"no numbers":   {"?", "?", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			status := fmt.Sprintf("Name:\tx\nSigQ:\t0/1\nSigBlk:\t%s\nSigIgn:\t%s\nSigCgt:\t%s\n", c.blocked, c.ignored, c.caught)
			testenv.Equal(t, handled([]byte(status), 15), c.want, status)
			if got := handled([]byte(status), 2); got != (c.want || name == "neither" || name == "ignores it") || handled([]byte(status), 0) {
				t.Errorf("SIGINT: %v of\n%s", got, status)
			}
		})
	}
}

// TestEnvironFrom: what the kernel shows of a process in each moment of an execve.
func TestEnvironFrom(t *testing.T) {
	const none = int64(-1) // no stat
	type moment struct {
		env                  string
		size, code, from, to int64
	}
	begun, counting, over := moment{"", 4096, 0, 0, 0}, moment{"", 4096, 0, 7, 7}, moment{"", 4096, 1, 7, 9}
	for name, tt := range map[string]struct {
		moments []moment // one a millisecond; the last one stays
		want    string
		after   time.Duration
	}{
		"at once":     {[]moment{{"A=1", 0, 0, 0, 0}}, "A=1", 0},
		"in execve":   {[]moment{begun, counting, over, {"A=1", 0, 0, 0, 0}}, "A=1", 3 * time.Millisecond},
		"empty":       {[]moment{begun, counting, {"", 4096, 1, 7, 7}}, "", 2 * time.Millisecond},
		"exited":      {[]moment{{"", 0, 0, 0, 0}, {"A=1", 0, 0, 0, 0}}, "", 0},
		"gone":        {[]moment{{"", none, 0, 0, 0}, {"A=1", 0, 0, 0, 0}}, "", 0},
		"not allowed": {[]moment{{"-", 0, 0, 0, 0}, {"A=1", 0, 0, 0, 0}}, "", 0},
		"endless":     {[]moment{counting}, "", execPatience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				env := environFrom(func(file string) ([]byte, error) {
					now := int(time.Since(began).Milliseconds())
					m := tt.moments[min(now, len(tt.moments)-1)]
					if file == "environ" && m.env == "-" || file == "stat" && m.size == none {
						return nil, os.ErrPermission
					}
					if file == "environ" {
						return []byte(m.env), nil
					}
					fields := slices.Repeat([]string{"1"}, 49)
					for field, n := range map[int]int64{23: m.size, 26: m.code, 50: m.from, 51: m.to} {
						fields[field-3] = strconv.FormatInt(n, 10)
					}
					return []byte("1 (x) " + strings.Join(fields, " ")), nil
				})
				if took := time.Since(began); string(env) != tt.want || took != tt.after {
					t.Errorf("%q after %v, want %q after %v", env, took, tt.want, tt.after)
				}
			})
		})
	}
}

// TestEnvironOf: a process is found by its environment also while it calls execve again and again,
// with variables that the kernel takes a while to count.
func TestEnvironOf(t *testing.T) {
	cmd := exec.Command("env", append(slices.Repeat([]string{"env"}, 2000), "sleep", "600")...)
	cmd.Env = []string{"MARK=here", "PATH=" + os.Getenv("PATH")}
	for i := range 80_000 {
		cmd.Env = append(cmd.Env, strconv.Itoa(i)+"=")
	}
	testenv.OK(t, cmd.Start())
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	for i := range 150 {
		env := environOf(cmd.Process.Pid)
		testenv.Need(t, bytes.HasPrefix(env, []byte("MARK=here\x00")), "environment %.99q at reading %d", env, i)
	}
	bare := exec.Command("sleep", "600")
	bare.Env = []string{}
	testenv.OK(t, bare.Start())
	env := environOf(bare.Process.Pid)
	testenv.Check(t, len(env) == 0, "environment %q of a process without one", env)
	bare.Process.Kill()
	bare.Wait()
	env = environOf(bare.Process.Pid)
	testenv.Check(t, len(env) == 0, "environment %q of an exited process", env)
}

func TestMatchEnv(t *testing.T) {
	env := []byte("A=1\x00" + envRun + "=r1\x00B=" + envRun + "=r2\x00")
	for _, tt := range []struct {
		entries []string
		want    bool
	}{
		{[]string{envRun + "=r1"}, true}, {[]string{envRun + "="}, true}, {[]string{envRun + "=r"}, false},
		{[]string{envRun + "=r2"}, false}, {[]string{envRun + "=r1", envInstance + "="}, false},
	} {
		f, ok := matchEnv(env, tt.entries)
		testenv.Check(t, ok == tt.want && (!ok || f.run == "r1"), "%q: %+v, %v", tt.entries, f, ok)
	}
}

func exists(pid int) bool {
	s, err := cgroup.ReadStat(pid)
	return err == nil && s.State != 'Z'
}

func gone(t *testing.T, pid int) {
	t.Helper()
	testenv.Until(t, 30*time.Second, fmt.Sprintf("process %d has exited", pid), func() bool { return !exists(pid) })
}

// The CPU time of processes is not known if that of one is not.
func TestOwnCPU(t *testing.T) {
	self := os.Getpid()
	one := ownCPU([]int{self})
	testenv.Check(t, one != nil && ownCPU([]int{self, self}) != nil && *ownCPU([]int{self, self}) >= 2**one, "%v", one)
	testenv.Check(t, ownCPU(nil) == nil && ownCPU([]int{self, 1 << 30}) == nil, "known without its processes")
	testenv.Check(t, logProcesses(self, 0) == nil && logProcesses(1<<30, self) == nil, "known without the engine or the shim")
	testenv.Equal(t, fmt.Sprint(logProcesses(self, 4711)), fmt.Sprint([]int{os.Getppid(), 4711}))
}
