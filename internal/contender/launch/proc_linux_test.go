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
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestParseStat(t *testing.T) {
	line := "123 (a) b (c)) S 1 2 77 0 -1 4194560 10 20 30 40 5 6 7 8 20 0 9 0 12345 4096 2 18446744073709551615 " +
		"21 2 3 0 0 0 0 0 65536 0 0 0 17 1 0 0 0 0 0 1 2 3 4 5 6 7 0\n"
	s, err := parseStat(line)
	want := stat{state: 'S', parent: 1, session: 77, user: 5, system: 6, cuser: 7, csystem: 8, threads: 9, start: 12345, minor: 10, major: 30,
		size: 4096, code: 21, envFrom: 6, envTo: 7}
	if err != nil || s != want {
		t.Errorf("%+v, %v; want %+v", s, err, want)
	}
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	fields[3] = "-1" // no session
	shortest := ") " + strings.Join(fields[:49], " ")
	want.session = -1
	if s, err := parseStat(shortest); err != nil || s != want {
		t.Errorf("%+v, %v; want %+v", s, err, want)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1 2", strings.TrimSuffix(shortest, " "+fields[48]), strings.Replace(line, " 5 6 ", " x 6 ", 1), strings.Replace(line, " 5 6 ", " -5 6 ", 1)} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
	if s, err := readStat(os.Getpid()); err != nil || s.threads < 1 || strconv.FormatInt(s.start, 10) != self().start {
		t.Errorf("own: %+v, %v", s, err)
	}
}

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
			if got := termHandled([]byte(status)); got != c.want {
				t.Errorf("%v of\n%s", got, status)
			}
		})
	}
}

// TestEnvironOf: a process is found by its environment also while it calls execve again and again,
// with so many variables that the kernel takes a while to count them.
func TestEnvironOf(t *testing.T) {
	cmd := exec.Command("env", append(slices.Repeat([]string{"env"}, 2000), "sleep", "600")...)
	cmd.Env = []string{"MARK=here", "PATH=" + os.Getenv("PATH")}
	for i := range 80_000 {
		cmd.Env = append(cmd.Env, strconv.Itoa(i)+"=")
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	for i := range 150 {
		if env := environOf(cmd.Process.Pid); !bytes.HasPrefix(env, []byte("MARK=here\x00")) {
			t.Fatalf("environment %.99q at reading %d", env, i)
		}
	}
	bare := exec.Command("sleep", "600")
	bare.Env = []string{}
	if err := bare.Start(); err != nil {
		t.Fatal(err)
	}
	if env := environOf(bare.Process.Pid); len(env) > 0 {
		t.Errorf("environment %q of a process without one", env)
	}
	bare.Process.Kill()
	bare.Wait()
	if env := environOf(bare.Process.Pid); len(env) > 0 {
		t.Errorf("environment %q of an exited process", env)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("123 (a) b) S 1 2 77 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 12345")
	f.Add(") ")
	f.Fuzz(func(t *testing.T, line string) {
		if s, err := parseStat(line); err == nil && (s.user < 0 || s.threads < 0) {
			t.Errorf("%+v", s)
		}
	})
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
		if ok != tt.want || ok && (f.run != "r1") {
			t.Errorf("%q: %+v, %v", tt.entries, f, ok)
		}
	}
}

func exists(pid int) bool {
	s, err := readStat(pid)
	return err == nil && s.state != 'Z'
}

func gone(t *testing.T, pid int) {
	t.Helper()
	testenv.Until(t, 30*time.Second, fmt.Sprintf("process %d has exited", pid), func() bool { return !exists(pid) })
}
