package cgroup

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestParseStat(t *testing.T) {
	line := "123 (a) b (c)) S 1 2 77 0 -1 4194560 10 20 30 40 5 6 7 8 20 0 9 0 12345 4096 2 18446744073709551615 " +
		"21 2 3 0 0 0 0 0 65536 0 0 0 17 1 0 0 0 0 0 1 2 3 4 5 6 7 0\n"
	s, err := ParseStat(line)
	want := Stat{State: 'S', Parent: 1, Session: 77, User: 5, System: 6, ChildUser: 7, ChildSystem: 8, Threads: 9, Start: 12345, Minor: 10, Major: 30,
		Size: 4096, Code: 21, EnvFrom: 6, EnvTo: 7}
	user, system := want.CPU()
	testenv.Check(t, user == 120*time.Millisecond && system == 140*time.Millisecond, "%v and %v of CPU time", user, system)
	testenv.Check(t, err == nil && s == want, "%+v, %v; want %+v", s, err, want)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	fields[3] = "-1" // no session
	shortest := ") " + strings.Join(fields[:49], " ")
	want.Session = -1
	testenv.Equal(t, testenv.Must(ParseStat(shortest))(t), want)
	for bad, want := range map[string]string{
		"": "no name", "1 (x": "no name", "1 (x) S 1 2": "5 fields", strings.TrimSuffix(shortest, " "+fields[48]): "50 fields",
		strings.Replace(line, " 5 6 ", " x 6 ", 1): `field 14 is "x"`, strings.Replace(line, " 5 6 ", " -5 6 ", 1): `field 14 is "-5"`,
	} {
		_, err := ParseStat(bad)
		testenv.Check(t, err != nil && err.Error() == "stat of a process: "+want, "%q: %v, want %s", bad, err, want)
	}
	s, err = ReadStat(os.Getpid())
	testenv.Check(t, err == nil && s.Threads >= 1 && s.Start > 0, "own: %+v, %v", s, err)
}

func FuzzParseStat(f *testing.F) {
	f.Add("123 (a) b) S 1 2 77 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 12345")
	f.Add(") ")
	f.Fuzz(func(t *testing.T, line string) {
		s, err := ParseStat(line)
		testenv.Check(t, err != nil || s.User >= 0 && s.Threads >= 0, "%+v", s)
	})
}
