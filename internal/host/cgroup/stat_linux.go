package cgroup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Tick is the unit of CPU time in /proc, the same on every Linux that Go runs on.
const Tick = 10 * time.Millisecond

// Stat is the part of /proc/<pid>/stat that is used. Times are in ticks.
type Stat struct {
	State                                byte
	Parent, Session                      int
	User, System, ChildUser, ChildSystem int64
	Threads                              int
	Start                                int64
	Minor, Major                         int64 // page faults, without those of exited children
	Size                                 int64 // virtual memory; 0: a kernel thread, or exited
	Code                                 int64 // address of the program; 0 while execve runs
	EnvFrom, EnvTo                       int64 // addresses of the environment
}

// CPU returns the CPU time, with that of exited children that the process has waited for.
func (s Stat) CPU() (user, system time.Duration) {
	return time.Duration(s.User+s.ChildUser) * Tick, time.Duration(s.System+s.ChildSystem) * Tick
}

// ReadStat reads that of a process.
func ReadStat(pid int) (Stat, error) {
	data, err := ReadProc(pid, "stat")
	if err != nil {
		return Stat{}, err
	}
	return ParseStat(string(data))
}

// ParseStat reads "123 (a name (with) parentheses) S 1 …". The name may contain anything, so the
// fields begin after the last ")".
func ParseStat(line string) (s Stat, err error) {
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return s, errors.New("stat of a process: no name")
	}
	f := strings.Fields(line[end+1:]) // f[0] is field 3
	if len(f) < 49 {
		return s, fmt.Errorf("stat of a process: %d fields", len(f)+2)
	}
	num := func(field int) int64 {
		n, e := strconv.ParseInt(f[field-3], 10, 64)
		if e != nil || n < 0 && field != 6 {
			err = fmt.Errorf("stat of a process: field %d is %.20q", field, f[field-3])
		}
		return n
	}
	s = Stat{
		State: f[0][0], Parent: int(num(4)), Session: int(num(6)), Minor: num(10), Major: num(12),
		User: num(14), System: num(15), ChildUser: num(16), ChildSystem: num(17), Threads: int(num(20)), Start: num(22),
		Size: num(23), Code: num(26), EnvFrom: num(50), EnvTo: num(51),
	}
	return s, err
}

// ReadProc reads a file of a process below /proc.
func ReadProc(pid int, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}
