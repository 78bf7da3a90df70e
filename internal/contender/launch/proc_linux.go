package launch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
)

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
		s, err := cgroup.ReadStat(pid)
		if err != nil {
			return nil
		}
		sum += time.Duration(s.User+s.System) * cgroup.Tick
	}
	if len(pids) == 0 {
		return nil
	}
	return &sum
}

// parent returns the number of a process's parent; 0 if it cannot be read.
func parent(pid int) int {
	s, _ := cgroup.ReadStat(pid)
	return s.Parent
}

// processGone reports whether a process has exited, even if its parent has not waited for it.
func processGone(pid int) bool {
	s, err := cgroup.ReadStat(pid)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) || s.State == 'Z' || s.State == 'X'
}

// processAilment returns why a process does not run, or "" if it is not stopped.
func processAilment(pid int) string {
	s, _ := cgroup.ReadStat(pid)
	switch s.State {
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
	status, _ := cgroup.ReadProc(pid, "status")
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

// inSession returns the processes of a session.
func inSession(session int) (pids []int) {
	for _, pid := range allPIDs() {
		if s, err := cgroup.ReadStat(pid); err == nil && s.Session == session {
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
		s, err := cgroup.ReadStat(pid)
		if err != nil || s.State == 'Z' {
			continue
		}
		processes++
		threads += s.Threads
		inUser, inSystem := s.CPU()
		user, system = user+inUser, system+inSystem
		minor += s.Minor
		major += s.Major
		status, _ := cgroup.ReadProc(pid, "status")
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
	return environFrom(func(file string) ([]byte, error) { return cgroup.ReadProc(pid, file) })
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
		s, err := cgroup.ParseStat(string(line))
		if err != nil || s.Size == 0 || s.Code != 0 && s.EnvFrom == s.EnvTo {
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
