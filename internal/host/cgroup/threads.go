package cgroup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// maxThreads is how many threads threadTimes follows at most: each costs two open files and, per reading, one
// system call, or two if it has run since the last one.
const maxThreads = 512

// switchesSource is the Switches.Source of sums by threadTimes.
const switchesSource = "/proc/PID/status of all threads"

// threadTimes adds up the context switches of threads that start and end, and keeps the CPU time of
// each that runs. The kernel counts switches per thread and forgets them when the thread ends; here
// the last value stays in the sum. The files stay open. Not safe for concurrent use. Close it.
type threadTimes struct {
	root string // root of the file system with /proc; "" is "/"

	open  map[int]*thread
	ended [2]int64     // sums of the threads that have ended
	spent [kinds]int64 // their CPU time in ns, by what they did
	buf   []byte
}

type thread struct {
	file  *os.File
	sched *os.File // nil: the kernel does not count the CPU time of threads in ns
	last  [2]int64
	cpu   time.Duration
	work  work
	read  bool // its status
	seen  bool
}

// read sets the sums for ids, all running threads, unless an existing thread is unreadable, and the CPU
// time of each and of all by what they do, unless that of one is not known.
func (t *threadTimes) read(u *bench.Usage, ids []int) {
	if t.open == nil {
		t.open, t.buf = map[int]*thread{}, make([]byte, 16<<10)
	}
	for _, th := range t.open {
		th.seen = false
	}
	for _, id := range ids {
		if err := t.readOne(id); err != nil {
			return
		}
	}
	for id, th := range t.open {
		if !th.seen {
			t.end(id)
		}
	}
	sum, by, cpu, known := t.ended, t.spent, map[int]time.Duration{}, true
	for id, th := range t.open {
		sum[0] += th.last[0]
		sum[1] += th.last[1]
		by[th.work] += int64(th.cpu)
		cpu[id] = th.cpu
		known = known && th.sched != nil
	}
	u.Switches = &bench.Switches{Source: switchesSource, Voluntary: sum[0], Involuntary: sum[1]}
	if known {
		u.ThreadCPU, u.ThreadTime = cpu, threadTime(by)
	}
}

// readOne reads one thread, which may have ended. An open file belongs to the thread for which it
// was opened, even if another thread has its number now.
func (t *threadTimes) readOne(id int) error {
	for range 2 {
		th := t.open[id]
		if th == nil {
			dir := filepath.Join(t.root+"/", "proc", strconv.Itoa(id))
			f, err := os.Open(filepath.Join(dir, "status"))
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			th = &thread{file: f}
			if th.sched, err = os.Open(filepath.Join(dir, "schedstat")); err != nil {
				th.sched = nil
			}
			t.open[id] = th
		}
		if ran := th.readCPU(t.buf); !ran && th.read { // so it has not switched either
			th.seen = true
			return nil
		}
		n, _ := th.file.ReadAt(t.buf, 0)
		v, i, ok := switches(t.buf[:n])
		if ok {
			th.last, th.read, th.seen, th.work = [2]int64{max(th.last[0], v), max(th.last[1], i)}, true, true, workOf(t.buf[:n])
			return nil
		}
		t.end(id) // ESRCH; another thread may have the number already
	}
	return nil
}

func (t *threadTimes) end(id int) {
	th := t.open[id]
	th.close()
	t.ended[0] += th.last[0]
	t.ended[1] += th.last[1]
	t.spent[th.work] += int64(th.cpu)
	delete(t.open, id)
}

func (t *threadTimes) close() {
	for _, th := range t.open {
		th.close()
	}
	t.open = nil
}

// readCPU reads the first number of schedstat: the CPU time in ns. Only it grows. It reports whether the thread
// may have run since the last reading.
func (th *thread) readCPU(buf []byte) (ran bool) {
	if th.sched == nil {
		return true
	}
	n, _ := th.sched.ReadAt(buf, 0)
	first, _, _ := bytes.Cut(buf[:n], []byte(" "))
	ns, ok := number(first)
	if !ok {
		return true
	}
	ran = time.Duration(ns) != th.cpu
	th.cpu = max(th.cpu, time.Duration(ns))
	return ran
}

func (th *thread) close() {
	th.file.Close()
	if th.sched != nil {
		th.sched.Close()
	}
}
