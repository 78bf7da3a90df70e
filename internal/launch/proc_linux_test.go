package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"locbench/internal/testenv"
)

func TestParseStat(t *testing.T) {
	line := "123 (a) b (c)) S 1 2 77 0 -1 4194560 10 20 30 40 5 6 7 8 20 0 9 0 12345 0 0\n"
	s, err := parseStat(line)
	want := stat{state: 'S', parent: 1, session: 77, user: 5, system: 6, cuser: 7, csystem: 8, threads: 9, start: 12345, minor: 10, major: 30}
	if err != nil || s != want {
		t.Errorf("%+v, %v; want %+v", s, err, want)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1 2", strings.Replace(line, " 5 6 ", " x 6 ", 1), strings.Replace(line, " 5 6 ", " -5 6 ", 1)} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
	if s, err := readStat(os.Getpid()); err != nil || s.threads < 1 {
		t.Errorf("own: %+v, %v", s, err)
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
	env := []byte("A=1\x00" + envRun + "=r1\x00" + envOwner + "=o\x00B=" + envRun + "=r2\x00")
	for _, tt := range []struct {
		entries []string
		want    bool
	}{
		{[]string{envRun + "=r1"}, true}, {[]string{envRun + "="}, true}, {[]string{envRun + "=r"}, false},
		{[]string{envRun + "=r2"}, false}, {[]string{envRun + "=r1", envInstance + "="}, false},
	} {
		f, ok := matchEnv(env, tt.entries)
		if ok != tt.want || ok && (f.run != "r1" || f.owner != "o") {
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
	testenv.Until(t, 30*time.Second, fmt.Sprintf("process %d has ended", pid), func() bool { return !exists(pid) })
}
