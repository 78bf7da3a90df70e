package cpuset

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// rounds bounds how often the list of threads is read again, for those that were born meanwhile.
const rounds = 10

// Keep keeps all threads of this process, and those that they will start, to a set of CPUs, and
// gives the Go scheduler as many threads. A thread that has chosen a part of the CPUs for itself is
// left alone. undo gives back what was before; processes that were started meanwhile keep theirs.
func Keep(cpus Set) (undo func() error, err error) {
	was, err := widest()
	if err != nil {
		return nil, fmt.Errorf("read affinity: %w", err)
	}
	set := cpus.mask()
	if err := change(was, set); err != nil {
		return nil, errors.Join(fmt.Errorf("keep this process to CPUs %s: %w", cpus, err), change(set, was))
	}
	runtime.GOMAXPROCS(max(1, len(cpus)))
	return func() error {
		err := change(set, was)
		runtime.SetDefaultGOMAXPROCS()
		return err
	}, nil
}

// KeepThread keeps the calling thread, and what it will start, to a set. The goroutine is locked to it.
func KeepThread(cpus Set) error {
	set := cpus.mask()
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("keep a thread to CPUs %s: %w", cpus, err)
	}
	return nil
}

func (s Set) mask() (set unix.CPUSet) {
	for _, cpu := range s {
		set.Set(cpu)
	}
	return set
}

// widest returns what this process may use: a single thread, even the first one, may have chosen less.
func widest() (set unix.CPUSet, err error) {
	err = eachThread(func(_ int, now unix.CPUSet) error {
		if now.Count() > set.Count() {
			set = now
		}
		return nil
	})
	if err == nil && set.Count() == 0 {
		err = errors.New("no thread can be read")
	}
	return set, err
}

// change gives every thread whose affinity is from the affinity to.
func change(from, to unix.CPUSet) error {
	for changed, round := true, 0; changed && round < rounds && from != to; round++ {
		changed = false
		err := eachThread(func(tid int, now unix.CPUSet) error {
			if now != from {
				return nil
			}
			changed = true
			if err := unix.SchedSetaffinity(tid, &to); !errors.Is(err, syscall.ESRCH) {
				return err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func eachThread(do func(tid int, affinity unix.CPUSet) error) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		var now unix.CPUSet
		if err := unix.SchedGetaffinity(tid, &now); errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		} else if err != nil {
			return err
		}
		if err := do(tid, now); err != nil {
			return err
		}
	}
	return nil
}

// Allowed returns the CPUs that this process may use; nil where nobody knows.
func Allowed() Set {
	set, err := widest()
	if err != nil {
		return nil
	}
	return read(set)
}

// OfThread returns the CPUs that the calling thread may use; nil where nobody knows.
func OfThread() Set {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	return read(set)
}

func read(mask unix.CPUSet) (s Set) {
	for cpu := range len(mask) * 64 {
		if mask.IsSet(cpu) {
			s = append(s, cpu)
		}
	}
	return s
}

// Siblings returns the CPUs of a CPU's core; nil where that is not known.
func Siblings(cpu int) Set {
	data, _ := os.ReadFile("/sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/topology/thread_siblings_list")
	core, _ := Parse(strings.TrimSpace(string(data)))
	return core
}
