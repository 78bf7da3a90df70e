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

	"locbench/internal/bench"
)

// tick is the unit of CPU time in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// stat is what is of use in /proc/<pid>/stat. Times are in ticks.
type stat struct {
	state                        byte
	parent, session              int
	user, system, cuser, csystem int64
	threads                      int
	start                        int64
	minor, major                 int64 // page faults, without those of children that have ended
	size                         int64 // of its memory; 0: a thread of the kernel, or ended
	envFrom, envTo               int64 // where its environment is; both 0 while a program is being started in it
}

// parent returns the number of a process's parent, 0 where there is none to be seen.
func parent(pid int) int {
	s, _ := readStat(pid)
	return s.parent
}

// processGone reports whether a process has ended, waited for or not.
func processGone(pid int) bool {
	s, err := readStat(pid)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) || s.state == 'Z' || s.state == 'X'
}

// processAilment returns "" unless the process is stopped.
func processAilment(pid int) string {
	s, _ := readStat(pid)
	switch s.state {
	case 'T':
		return "its process is stopped by a signal from outside (SIGSTOP)"
	case 't':
		return "its process is held by a debugger"
	}
	return ""
}

func readStat(pid int) (stat, error) {
	data, err := readProc(pid, "stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(data))
}

// parseStat reads "123 (a name (with) parentheses) S 1 …": the name may hold anything, so what
// counts begins after the last ")".
func parseStat(line string) (s stat, err error) {
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return s, errors.New("stat of a process: no name in it")
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
		size: num(23), envFrom: num(50), envTo: num(51),
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

// procUsage adds up processes. It knows nothing of one that has ended without its parent waiting
// for it.
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
		user += time.Duration(s.user+s.cuser) * tick
		system += time.Duration(s.system+s.csystem) * tick
		minor += s.minor
		major += s.major
		status, _ := readProc(pid, "status")
		mem.Used += statusBytes(status, "VmRSS:")
		mem.Peak += statusBytes(status, "VmHWM:") // of several processes: at most so much together
	}
	if processes == 0 {
		return bench.Usage{}, errors.New("no process of it is left")
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

// marked finds the processes whose environment, as it was at their start, has all of the entries
// ("KEY=value"; "KEY=" alone for any value). It sees the processes of this user, of everybody for
// root, and never this very process.
func marked(entries ...string) (all []found) {
	if !ownProc() {
		return nil // the numbers there mean other processes here
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

// execPatience is how long the kernel may take to start another program in a process. It is
// milliseconds, unless the machine is busy.
const execPatience = 10 * time.Second

// environOf returns the environment of a process, or nothing where it has none or cannot be read. A
// process in which another program is being started shows an empty one: until the kernel has written
// the new one, and to a reader that opened the file before. So an empty one is believed only where the
// process says where it begins and ends, at one and the same place.
func environOf(pid int) []byte {
	for deadline := time.Now().Add(execPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		env, err := readProc(pid, "environ")
		if err != nil || len(env) > 0 {
			return env
		}
		s, err := readStat(pid)
		if err != nil || s.size == 0 || s.envFrom != 0 && s.envFrom == s.envTo {
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
