package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// tick is the unit of CPU time in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// stat is the part of /proc/<pid>/stat that is used. Times are in ticks.
type stat struct {
	state                        byte
	parent, session              int
	user, system, cuser, csystem int64
	threads                      int
	start                        int64
	minor, major                 int64 // page faults, without those of exited children
	size                         int64 // virtual memory; 0: a kernel thread, or exited
	code                         int64 // address of the program; 0 while execve runs
	envFrom, envTo               int64 // addresses of the environment
}

// cpu returns the CPU time, with that of exited children that the process has waited for.
func (s stat) cpu() (user, system time.Duration) {
	return time.Duration(s.user+s.cuser) * tick, time.Duration(s.system+s.csystem) * tick
}

// logProcesses returns the processes that pass on the log of a container: the parent of its main
// process (a shim), and the engine; nil if one is not known.
func logProcesses(pid, engine int) []int {
	shim := parent(pid)
	if shim <= 1 || engine <= 1 {
		return nil
	}
	if shim == engine {
		return []int{shim}
	}
	return []int{shim, engine}
}

// ownCPU returns the CPU time of processes, without that of their children; nil if one cannot be read.
func ownCPU(pids []int) *time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		s, err := readStat(pid)
		if err != nil {
			return nil
		}
		sum += time.Duration(s.user+s.system) * tick
	}
	if len(pids) == 0 {
		return nil
	}
	return &sum
}

// parent returns the number of a process's parent; 0 if it cannot be read.
func parent(pid int) int {
	s, _ := readStat(pid)
	return s.parent
}

// processGone reports whether a process has exited, even if its parent has not waited for it.
func processGone(pid int) bool {
	s, err := readStat(pid)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) || s.state == 'Z' || s.state == 'X'
}

// processAilment returns why a process does not run, or "" if it is not stopped.
func processAilment(pid int) string {
	s, _ := readStat(pid)
	switch s.state {
	case 'T':
		return "process stopped externally (SIGSTOP)"
	case 't':
		return "process held by a debugger"
	}
	return ""
}

// handles reports whether a process has a handler of a signal or, as init programs do, blocks it and
// waits for it. As PID 1 of a container, a process with neither ignores the signal.
func handles(pid int, signal string) bool {
	status, _ := readProc(pid, "status")
	return handled(status, bench.SignalNumber(signal))
}

func handled(status []byte, signal int) bool {
	return signal > 0 && (statusMask(status, "SigCgt:")|statusMask(status, "SigBlk:"))>>(signal-1)&1 != 0
}

// statusMask reads a line such as "SigCgt:	0000000000004a02".
func statusMask(status []byte, key string) (mask uint64) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			mask, _ = strconv.ParseUint(string(bytes.TrimSpace(rest)), 16, 64)
		}
	}
	return mask
}

func readStat(pid int) (stat, error) {
	data, err := readProc(pid, "stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(data))
}

// parseStat reads "123 (a name (with) parentheses) S 1 …". The name may contain anything, so the
// fields begin after the last ")".
func parseStat(line string) (s stat, err error) {
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
	s = stat{
		state: f[0][0], parent: int(num(4)), session: int(num(6)), minor: num(10), major: num(12),
		user: num(14), system: num(15), cuser: num(16), csystem: num(17), threads: int(num(20)), start: num(22),
		size: num(23), code: num(26), envFrom: num(50), envTo: num(51),
	}
	return s, err
}

// inSession returns the processes of a session.
func inSession(session int) (pids []int) {
	for _, pid := range allPIDs() {
		if s, err := readStat(pid); err == nil && s.session == session {
			pids = append(pids, pid)
		}
	}
	return pids
}

// procUsage sums up processes. It misses those that exited without their parent waiting for them.
func procUsage(pids []int) (bench.Usage, error) {
	before := time.Now()
	var user, system time.Duration
	var threads, processes int
	var minor, major int64
	mem := bench.Memory{PeakSource: "VmHWM", MinorFaults: &minor, MajorFaults: &major}
	for _, pid := range pids {
		s, err := readStat(pid)
		if err != nil || s.state == 'Z' {
			continue
		}
		processes++
		threads += s.threads
		inUser, inSystem := s.cpu()
		user, system = user+inUser, system+inSystem
		minor += s.minor
		major += s.major
		status, _ := readProc(pid, "status")
		mem.Used += statusBytes(status, "VmRSS:")
		mem.Peak += statusBytes(status, "VmHWM:") // of several processes: an upper bound
	}
	if processes == 0 {
		return bench.Usage{}, errors.New("no process left")
	}
	took := time.Since(before)
	return bench.Usage{
		At: before.Add(took / 2), Source: "/proc", CPU: user + system, CPUUser: &user, CPUSystem: &system,
		Memory: &mem, Processes: &processes, Threads: &threads, Took: took,
	}, nil
}

// statusBytes reads a line such as "VmHWM:	    1234 kB".
func statusBytes(status []byte, key string) int64 {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(string(f[0]), 10, 64)
				return max(0, min(n, 1<<50)) << 10
			}
		}
	}
	return 0
}

// marked returns the processes whose environment had all of the entries at their start
// ("KEY=value"; "KEY=" for any value): those of this user, or for root of all users, except this
// process.
func marked(entries ...string) (all []markedProcess) {
	if !ownProc() {
		return nil // its numbers mean other processes
	}
	for _, pid := range allPIDs() {
		if pid == os.Getpid() {
			continue
		}
		if f, ok := matchEnv(environOf(pid), entries); ok {
			f.pid = pid
			all = append(all, f)
		}
	}
	return all
}

// execPatience bounds the time of an execve, usually milliseconds, on a busy machine.
const execPatience = 10 * time.Second

// environOf returns the environment of a process, or nil if it has none or it is unreadable. During
// an execve the environment is empty until the kernel has written the new one, also in files opened
// before. So an empty one counts only if its begin and end addresses are set and equal.
func environOf(pid int) []byte {
	return environFrom(func(file string) ([]byte, error) { return readProc(pid, file) })
}

// environFrom does the work of environOf. read reads a file of the process.
func environFrom(read func(file string) ([]byte, error)) []byte {
	for deadline := time.Now().Add(execPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		env, err := read("environ")
		if err != nil || len(env) > 0 {
			return env
		}
		line, err := read("stat")
		if err != nil {
			return nil
		}
		s, err := parseStat(string(line))
		if err != nil || s.size == 0 || s.code != 0 && s.envFrom == s.envTo {
			return nil
		}
	}
	return nil
}

func allPIDs() (pids []int) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func readProc(pid int, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}
