package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locbench/locbench/internal/bench"
)

func (r *Reader) memory() *bench.Memory {
	usage, peak, source, events := "memory.current", "memory.peak", "memory.peak", "memory.events"
	if r.memV1 {
		usage, peak, source, events = "memory.usage_in_bytes", "memory.max_usage_in_bytes", "max_usage", "memory.oom_control"
	}
	used, ok := r.number(usage)
	if !ok {
		return nil
	}
	m := bench.Memory{Used: used, Limit: r.limit}
	if data, ok := r.read("memory.stat"); ok {
		stat := keyed(data)
		m.Used = max(0, used-r.pageCache(stat))
		m.MajorFaults = sum(stat, "pgmajfault")
		if all := sum(stat, "pgfault"); all != nil && m.MajorFaults != nil && *all >= *m.MajorFaults {
			m.MinorFaults = new(*all - *m.MajorFaults) // pgfault counts both kinds
		}
		// Before Linux 5.9 it counts files and other pages together.
		m.Refaults = sum(stat, "workingset_refault", "workingset_refault_anon", "workingset_refault_file")
	}
	if m.Peak, ok = r.number(peak); ok {
		m.PeakSource = source
		r.peaks(&m)
	} else { // v2 before Linux 5.19
		m.Peak, m.PeakSource, m.PeakIsSample = m.Used, "largest sample", true
	}
	data, _ := r.read(events)
	stat := keyed(data)
	m.OOMKills = stat["oom_kill"]
	if n, ok := stat["max"]; ok && !r.memV1 {
		m.LimitHits = &n
	}
	if n, ok := r.number("memory.failcnt"); ok {
		// Without swap both limits are the same, and the kernel checks the one for memory and swap
		// first.
		if swap, ok := r.number("memory.memsw.failcnt"); ok {
			n += swap
		}
		m.LimitHits = &n
	}
	return &m
}

// pageCache returns the part of the usage that is file contents, which the kernel gives up when
// memory is needed. v1 counts shared memory as cache, too, though the kernel cannot give it up:
// some runtimes have their heap there.
func (r *Reader) pageCache(stat map[string]int64) int64 {
	if r.memV1 {
		return max(0, stat["total_cache"]-stat["total_shmem"])
	}
	return stat["inactive_file"]
}

// sum adds up the values of the keys in a memory.stat; nil if it has none of them. v1 counts the
// group and the groups below it under total_….
func sum(stat map[string]int64, keys ...string) *int64 {
	for _, prefix := range []string{"total_", ""} {
		var sum int64
		known := false
		for _, key := range keys {
			n, ok := stat[prefix+key]
			sum, known = sum+n, known || ok
		}
		if known {
			return &sum
		}
	}
	return nil
}

// openPressure opens the files of pressure. Only v2 has them, but also if v1 controls CPU and
// memory and runc or systemd puts processes into a group of the empty v2 hierarchy. Such a group
// counts only if it is the same group.
func (r *Reader) openPressure(dirs map[string]string) {
	dir := dirs[""]
	if dir == "" || r.cpuV1 && filepath.Base(dir) != filepath.Base(dirs["cpuacct"]) {
		return
	}
	for _, name := range []string{"cpu.pressure", "memory.pressure", ioPressure} {
		if f, err := os.Open(filepath.Join(dir, name)); err == nil { // fails if the kernel was started without it
			r.files[name] = f
			r.pressure = "cgroup v2"
		}
	}
}

const ioPressure = "io.pressure"

// openPeak opens the file that resets the high-water mark. On v1 any write of a number resets it.
// On v2, since Linux 6.12, each open file has its own mark, which a write to that file resets.
// Older kernels refuse to open the file for writing.
func (r *Reader) openPeak(dirs map[string]string) {
	dir, name := dirs["memory"], "memory.max_usage_in_bytes"
	if !r.memV1 {
		dir, name = dirs[""], "memory.peak"
	}
	if dir == "" {
		return
	}
	if f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0); err == nil {
		r.stepPeak = f
	}
}

var errPeak = errors.New("the kernel keeps one high-water mark, since the start")

// BeginPeak resets the high-water mark of the step. The mark since start is kept: on v2 by the
// kernel, on v1 here, which misses a peak in the microseconds between reading and writing.
func (r *Reader) BeginPeak() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stepPeak == nil {
		return errPeak
	}
	if r.memV1 {
		n, ok := r.number("memory.max_usage_in_bytes")
		if !ok {
			return fmt.Errorf("%w: cannot read its memory", ErrNone)
		}
		r.peak = max(r.peak, n)
	}
	if _, err := r.stepPeak.WriteAt([]byte("0\n"), 0); err != nil {
		return fmt.Errorf("reset the high-water mark: %w", err)
	}
	r.began = true
	return nil
}

// peaks completes m, whose Peak is the value of the kernel's file.
func (r *Reader) peaks(m *bench.Memory) {
	now := m.Peak
	m.Peak = max(r.peak, now)
	if !r.began {
		return
	}
	if !r.memV1 {
		buf := make([]byte, 32)
		n, _ := r.stepPeak.ReadAt(buf, 0)
		var ok bool
		if now, ok = number(buf[:n]); !ok {
			return
		}
	}
	m.StepPeak = &now
}

// others reads the kernel's counters other than CPU and memory.
func (r *Reader) others(u *bench.Usage) {
	if r.pressure != "" {
		p := bench.Pressure{
			Source: r.pressure, CPU: r.stall("cpu.pressure"), Memory: r.stall("memory.pressure"), IO: r.stall(ioPressure),
		}
		if p.CPU != nil || p.Memory != nil || p.IO != nil {
			u.Pressure = &p
		}
	}
	if data, ok := r.read(netDev); ok {
		if in, out, ok := network(data); ok {
			u.Network = &bench.Network{Source: netDev, Received: in, Sent: out}
		}
	}
	u.Disk = r.disk()
	r.ofThreads(u)
}

// AddPressure makes the kernel add up the waiting for disks now. It does so for each CPU, weighted
// by the CPU's own time with work, since the last reading: between rare readings a single thread
// that waits on one of n CPUs after the other may count for as little as 1/n of its waiting.
func (r *Reader) AddPressure() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.read(ioPressure)
	return ok
}

func (r *Reader) stall(name string) *bench.Stall {
	data, ok := r.read(name)
	if !ok {
		return nil
	}
	return Stall(data)
}

// ofThreads sets the context switches of the group and the CPU time of its threads, unless not all of
// these can be read.
func (r *Reader) ofThreads(u *bench.Usage) {
	if r.threads == nil {
		return
	}
	data, ok := r.read("cgroup.threads")
	if !ok {
		data, ok = r.read("tasks")
	}
	ids, whole := numbers(data, maxThreads)
	below := len(ids) == 0 && u.Threads != nil && *u.Threads > 0 // the threads are in groups below this one
	if ok && whole && !below {
		r.threads.read(u, ids)
	}
}
