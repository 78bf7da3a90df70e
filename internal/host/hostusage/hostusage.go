// Package hostusage takes the readings of a step: the counters of the contender, exactly at both
// ends and regularly in between, and those of possible bottlenecks, the CPUs of this machine and
// what the contenders need. A reading costs some microseconds. Counters that the system lacks are
// left out.
package hostusage

import (
	"cmp"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/text/secret"
)

// ErrUnknown is returned if nothing can be read.
var ErrUnknown = errors.New("cannot read its counters")

// Counters reads the counters of one need. Close it.
type Counters struct {
	mu    sync.Mutex
	group *cgroup.Reader // a container
	pid   int            // a process on this machine
	own   func() (calls int64, busy time.Duration)
	cpus  int
	quota float64
}

// Container returns the counters of the need in the container with main process pid. It reads the
// complete container. The error wraps ErrUnknown if the container is not on this machine.
func Container(pid int) (*Counters, error) {
	if pid <= 0 {
		return nil, ErrUnknown
	}
	r, err := cgroup.Tree{}.Process(pid)
	if err != nil {
		return nil, errors.Join(ErrUnknown, err)
	}
	r.Follow(pid)
	return &Counters{group: r}, nil
}

// Address returns the counters of the need at the host and port of raw, if a process of this
// machine listens there on the loopback interface or on all. It reads that process, not its
// children.
func Address(raw string) (*Counters, error) {
	u, err := secret.ParseURL(raw)
	if err != nil {
		return nil, ErrUnknown
	}
	if u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback() {
		return nil, ErrUnknown
	}
	pid, ok := listener(cmp.Or(u.Port(), "80"))
	if !ok {
		return nil, ErrUnknown
	}
	return &Counters{pid: pid}, nil
}

// Embedded returns the counters of a need inside locbench, which counts its own work.
func Embedded(work func() (calls int64, busy time.Duration)) *Counters { return &Counters{own: work} }

// KeptTo records that the need may run on this number of CPUs. Call it before the first reading.
func (c *Counters) KeptTo(cpus int) { c.cpus = cpus }

// LimitedTo records that the need may use this many CPUs; 0: it has no quota. Call it before the
// first reading.
func (c *Counters) LimitedTo(cpus float64) { c.quota = cpus }

// Close closes its files.
func (c *Counters) Close() error {
	if c == nil || c.group == nil {
		return nil
	}
	return c.group.Close()
}

// AddPressure makes the kernel add up the need's waiting for disks; see cgroup.Reader. c may be
// nil.
func (c *Counters) AddPressure() bool { return c != nil && c.group != nil && c.group.AddPressure() }

// Read reads the counters; nil: it cannot. c may be nil.
func (c *Counters) Read() *bench.NeedUsage {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch {
	case c.own != nil:
		calls, busy := c.own()
		return &bench.NeedUsage{At: now, Source: bench.EmbeddedSource, Calls: calls, Busy: busy}
	case c.group != nil:
		u, err := c.group.Read()
		if err != nil {
			return nil
		}
		return &bench.NeedUsage{At: u.At, Source: u.Source, CPU: u.CPU, CPUs: c.cpus, Quota: c.quota, Throttling: u.Throttling,
			Memory: u.Memory, Pressure: u.Pressure, Network: u.Network, Disk: u.Disk, ThreadCPU: u.ThreadCPU}
	}
	cpu, err := processCPU(c.pid)
	if err != nil {
		return nil
	}
	return &bench.NeedUsage{At: now, Source: "/proc", CPU: cpu}
}

// Host reads the counters of this machine; nil where the system has none.
func Host() *bench.HostUsage { return host() }

// Throttles returns how often CPUs, cores and packages added up, were slowed down because of heat
// since the machine was started. The counters are below dir, such as /sys/devices/system/cpu. It
// returns nil if the kernel does not count this, as in most virtual machines.
func Throttles(dir string) *int64 {
	paths, _ := filepath.Glob(filepath.Join(dir, "cpu[0-9]*/thermal_throttle/*_throttle_count"))
	var sum int64
	known := false
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if n, e := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && e == nil && n >= 0 && n < 1<<50 {
			sum, known = sum+n, true
		}
	}
	if !known {
		return nil
	}
	return &sum
}
