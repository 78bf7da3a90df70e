package cgroup

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Reader reads the counters of one group. It opens the files once and reads them again from the
// beginning (lists of v1 from a new opening), which costs some microseconds per file. It is safe for concurrent use.
type Reader struct {
	mu    sync.Mutex
	buf   []byte
	files map[string]*os.File
	cpuV1 bool // the CPU time has the format of v1
	memV1 bool
	limit int64

	root     string // root of the file system with /proc
	pressure string // source of pressure; "": none
	threads  *threadTimes
	disks    disks
	peak     int64    // the highest value read before a reset of the high-water mark
	stepPeak *os.File // file that resets the mark; on v2 it also has the mark of the step
	began    bool
}

// Process opens the counters of a process's group. A container's main process has the container's.
func (t Tree) Process(pid int) (*Reader, error) {
	dirs, err := t.dirs(strconv.Itoa(pid))
	if err != nil {
		return nil, err
	}
	r, err := open(dirs)
	if err == nil {
		r.root, r.disks.root = t.Root, t.Root
	}
	return r, err
}

// Follow adds the counters in /proc of the group with main process pid: those of threads, and the bytes of
// its network, unless this process is in the same network.
func (r *Reader) Follow(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.threads = &threadTimes{root: r.root}
	proc := filepath.Join(r.root+"/", "proc")
	theirs, err1 := os.Readlink(filepath.Join(proc, strconv.Itoa(pid), "ns/net"))
	ours, err2 := os.Readlink(filepath.Join(proc, "self/ns/net"))
	if err1 != nil || err2 != nil || theirs == ours {
		return
	}
	if f, err := os.Open(filepath.Join(proc, strconv.Itoa(pid), "net/dev")); err == nil {
		r.files[netDev] = f
	}
}

// netDev is the key of /proc/PID/net/dev among the open files, and Network.Source.
const netDev = "/proc/PID/net/dev"

// open opens the files that exist in the folders. CPU time is required.
func open(dirs map[string]string) (*Reader, error) {
	r := &Reader{files: map[string]*os.File{}, buf: make([]byte, 16<<10)}
	try := func(controller string, names ...string) (n int) { return r.try(dirs[controller], names...) }
	if try("cpuacct", "cpuacct.usage", "cpuacct.usage_user", "cpuacct.usage_sys") > 0 {
		r.cpuV1 = true
		try("cpu", "cpu.stat")
	} else {
		try("", "cpu.stat")
	}
	if try("memory", "memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.stat", "memory.oom_control",
		"memory.limit_in_bytes", "memory.failcnt", "memory.memsw.failcnt") > 0 {
		r.memV1 = true
	} else {
		try("", "memory.current", "memory.peak", "memory.stat", "memory.events", "memory.max")
	}
	if try("pids", "pids.current", "cgroup.procs", "tasks") == 0 &&
		try("", "pids.current", "cgroup.procs", "cgroup.threads") == 0 {
		try("cpuacct", "cgroup.procs", "tasks")
	}
	r.openPressure(dirs)
	r.openPeak(dirs)
	r.openDisk(dirs)
	if _, _, _, err := r.cpu(); err != nil {
		r.Close()
		return nil, err
	}
	name := "memory.max"
	if r.memV1 {
		name = "memory.limit_in_bytes"
	}
	if n, ok := r.number(name); ok && n < 1<<62 { // without a limit v1 writes the largest number of pages
		r.limit = n
	}
	return r, nil
}

// try opens the files that exist in a folder, and returns their number. Without a folder there are
// none.
func (r *Reader) try(dir string, names ...string) (n int) {
	if dir == "" {
		return 0
	}
	for _, name := range names {
		if f, err := os.Open(filepath.Join(dir, name)); err == nil {
			r.files[name] = f
			n++
		}
	}
	return n
}

// Close closes the files; Read fails afterwards.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.files {
		f.Close()
	}
	r.files = map[string]*os.File{}
	if r.stepPeak != nil {
		r.stepPeak.Close()
		r.stepPeak, r.began = nil, false
	}
	if r.threads != nil {
		r.threads.close()
		r.threads = nil
	}
	return nil
}

// Read reads the counters. It fails when the group is gone.
func (r *Reader) Read() (bench.Usage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := time.Now()
	total, user, system, err := r.cpu()
	if err != nil {
		return bench.Usage{}, err
	}
	at := before.Add(time.Since(before) / 2) // when CPU time was read, whose time matters most
	u := bench.Usage{At: at, Source: "cgroup v2", CPU: total, CPUUser: user, CPUSystem: system}
	if r.cpuV1 {
		u.Source = "cgroup v1"
	}
	u.Throttling = r.throttling()
	u.Memory = r.memory()
	if n, ok := r.number("pids.current"); ok {
		u.Threads = new(int(n))
	}
	if n, ok := r.lines("cgroup.procs"); ok && (n > 0 || u.Threads == nil || *u.Threads == 0) {
		u.Processes = &n // none listed but some running: they are in groups below this one, which are not counted
	}
	r.others(&u)
	u.Took = time.Since(before)
	return u, nil
}

func (r *Reader) cpu() (total time.Duration, user, system *time.Duration, err error) {
	names := []string{"cpuacct.usage", "cpuacct.usage_user", "cpuacct.usage_sys"}
	unit, number := time.Nanosecond, r.number
	if !r.cpuV1 {
		data, _ := r.read("cpu.stat")
		stat := keyed(data)
		names, unit = []string{"usage_usec", "user_usec", "system_usec"}, time.Microsecond
		number = func(name string) (int64, bool) { n, ok := stat[name]; return n, ok }
	}
	var times [3]*time.Duration
	for i, name := range names {
		if n, ok := number(name); ok && n <= int64(1<<62)/int64(unit) {
			times[i] = new(time.Duration(n) * unit)
		}
	}
	if times[0] == nil {
		return 0, nil, nil, fmt.Errorf("%w: cannot read its CPU time", ErrNone)
	}
	return *times[0], times[1], times[2], nil
}

func (r *Reader) throttling() *bench.Throttling {
	data, ok := r.read("cpu.stat")
	if !ok {
		return nil
	}
	stat := keyed(data)
	periods, ok := stat["nr_periods"]
	if !ok {
		return nil // v2 without the controller counts only CPU time
	}
	t := bench.Throttling{Periods: periods, Throttled: stat["nr_throttled"], Time: time.Duration(stat["throttled_time"])}
	if usec, ok := stat["throttled_usec"]; ok {
		t.Time = time.Duration(usec) * time.Microsecond
	}
	return &t
}

// maxRead is the largest number of bytes read of a file.
const maxRead = 1 << 20

// read returns the content of an open file, valid until the next call.
func (r *Reader) read(name string) ([]byte, bool) {
	f := r.files[name]
	if f == nil {
		return nil, false
	}
	if r.cpuV1 && (name == "tasks" || name == "cgroup.procs") {
		// The kernel keeps the list of an open file for a second after each reading, without what started since.
		again, err := os.Open(f.Name())
		if err != nil {
			return nil, false
		}
		defer again.Close()
		f = again
	}
	n := 0
	for n < maxRead {
		if n == len(r.buf) {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
		k, err := f.ReadAt(r.buf[n:], int64(n))
		n += k
		if err == io.EOF || err == nil && k == 0 {
			break
		}
		if err != nil {
			return nil, false // ENODEV: the group is gone
		}
	}
	return r.buf[:n], true
}

func (r *Reader) number(name string) (int64, bool) {
	data, ok := r.read(name)
	if !ok {
		return 0, false
	}
	return number(data)
}

func (r *Reader) lines(name string) (int, bool) {
	data, ok := r.read(name)
	return bytes.Count(data, []byte{'\n'}), ok
}
