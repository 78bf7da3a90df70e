package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/locbench/locbench/internal/bench"
)

// maxThreads is how many threads threadSwitches follows at most: each costs an open file and a
// system call per reading.
const maxThreads = 512

// switchesSource is the Switches.Source of sums by threadSwitches.
const switchesSource = "/proc/PID/status of all threads"

// threadSwitches adds up the context switches of threads that start and end. The kernel counts them
// per thread and forgets them when the thread ends; here the last value stays in the sum. The files
// stay open: one system call per thread and reading. Not safe for concurrent use. Close it.
type threadSwitches struct {
	root string // root of the file system with /proc; "" is "/"

	open  map[int]*thread
	ended [2]int64 // sums of the threads that have ended
	buf   []byte
}

type thread struct {
	file *os.File
	last [2]int64
	seen bool
}

// read returns the sums for ids, all running threads, or nil if an existing thread is unreadable.
func (t *threadSwitches) read(ids []int) *bench.Switches {
	if t.open == nil {
		t.open, t.buf = map[int]*thread{}, make([]byte, 16<<10)
	}
	for _, th := range t.open {
		th.seen = false
	}
	for _, id := range ids {
		if err := t.readOne(id); err != nil {
			return nil
		}
	}
	for id, th := range t.open {
		if !th.seen {
			t.end(id)
		}
	}
	sum := t.ended
	for _, th := range t.open {
		sum[0] += th.last[0]
		sum[1] += th.last[1]
	}
	return &bench.Switches{Source: switchesSource, Voluntary: sum[0], Involuntary: sum[1]}
}

// readOne reads one thread, which may have ended. An open file belongs to the thread for which it
// was opened, even if another thread has its number now.
func (t *threadSwitches) readOne(id int) error {
	for range 2 {
		th := t.open[id]
		if th == nil {
			f, err := os.Open(filepath.Join(t.root+"/", "proc", strconv.Itoa(id), "status"))
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			th = &thread{file: f}
			t.open[id] = th
		}
		n, _ := th.file.ReadAt(t.buf, 0)
		v, i, ok := switches(t.buf[:n])
		if ok {
			th.last, th.seen = [2]int64{max(th.last[0], v), max(th.last[1], i)}, true
			return nil
		}
		t.end(id) // ESRCH; another thread may have the number already
	}
	return nil
}

func (t *threadSwitches) end(id int) {
	th := t.open[id]
	th.file.Close()
	t.ended[0] += th.last[0]
	t.ended[1] += th.last[1]
	delete(t.open, id)
}

func (t *threadSwitches) close() {
	for _, th := range t.open {
		th.file.Close()
	}
	t.open = nil
}
