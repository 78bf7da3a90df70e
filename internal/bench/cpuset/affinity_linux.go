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

// rounds limits how often the list of threads is read again to find new threads.
const rounds = 10

// Keep restricts all threads of this process, and later ones, to a set of CPUs, and sets GOMAXPROCS
// to its size. Threads that have restricted themselves are not changed. undo restores the affinity
// of this process, but not of child processes.
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

// KeepThread restricts the calling thread, and threads it starts, to a set.
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

// widest returns the CPUs of this process. Any thread may have restricted itself to fewer.
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

// change sets the affinity of every thread with the affinity from to to.
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

// Allowed returns the CPUs that this process may use; nil if they are not known.
func Allowed() Set {
	set, err := widest()
	if err != nil {
		return nil
	}
	return read(set)
}

// OfThread returns the CPUs that the calling thread may use; nil if they are not known.
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

// Siblings returns the CPUs of a CPU's core; nil if they are not known.
func Siblings(cpu int) Set {
	data, _ := os.ReadFile("/sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/topology/thread_siblings_list")
	core, _ := Parse(strings.TrimSpace(string(data)))
	return core
}
