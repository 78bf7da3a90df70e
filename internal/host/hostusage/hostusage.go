// Package hostusage takes the readings of a step: the counters of the contender, exactly at both
// ends and regularly in between, and those of possible bottlenecks, the CPUs of this machine and
// what the contenders need. A reading costs some microseconds. Counters that the system lacks are
// left out.
package hostusage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
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

// readTimeout is the time limit of one reading: a busy engine needs some hundred milliseconds.
const readTimeout = 5 * time.Second

// ReadInstance reads the counters of an instance. The instance knows their source (cgroup files,
// /proc, the engine) and keeps the maximum for a peak that the kernel does not keep.
func ReadInstance(ctx context.Context, inst bench.Instance) (*bench.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	u, err := inst.Usage(ctx)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return &u, nil
}

// BeginInstance reads the counters and, if possible, resets the step's high-water mark.
func BeginInstance(ctx context.Context, inst bench.Instance) (*bench.Usage, error) {
	if s, ok := inst.(bench.Starter); ok {
		_ = s.BeginPeak() // if it fails, the readings have no mark of the step
	}
	return ReadInstance(ctx, inst)
}

// Sampler reads the counters regularly, in a goroutine that never delays the load.
type Sampler struct {
	stop    context.CancelFunc
	done    chan struct{}
	samples []bench.Usage // only the goroutine uses samples and failed until it is done
	failed  int
}

// Sample reads inst's counters every interval until Stop or the end of ctx. It leaves out a reading
// that fails; a slow one makes the next one late. onUsage, which may be nil, gets each reading.
func Sample(ctx context.Context, inst bench.Instance, interval time.Duration, onUsage func(bench.Usage)) *Sampler {
	ctx, cancel := context.WithCancel(ctx)
	s := &Sampler{stop: cancel, done: make(chan struct{})}
	ticker := time.NewTicker(interval)
	go func() {
		defer close(s.done)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-inst.Exited():
				return
			case <-ticker.C:
			}
			u, err := ReadInstance(ctx, inst)
			if err != nil {
				if ctx.Err() == nil {
					s.failed++
				}
				continue
			}
			u.ThreadCPU = nil // the ends of a step have it
			s.samples = append(s.samples, *u)
			if onUsage != nil {
				onUsage(*u)
			}
		}
	}()
	return s
}

// KeepPressure makes the kernel add up the waiting for disks of those that can (bench.Presser)
// regularly, until the end of ctx or until stop, which waits for the last time.
func KeepPressure(ctx context.Context, interval time.Duration, of ...any) (stop func()) {
	var all []bench.Presser
	for _, x := range of {
		if p, ok := x.(bench.Presser); ok && p.AddPressure() {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			for _, p := range all {
				p.AddPressure()
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// Stop ends the sampling and returns all readings, oldest first. It is idempotent.
func (s *Sampler) Stop() []bench.Usage {
	s.stop()
	<-s.done
	return s.samples
}

// Failed returns the number of failed readings. Call it after Stop.
func (s *Sampler) Failed() int { return s.failed }

// maxSockets is the largest number of listening sockets reported from one table.
const maxSockets = 1000

// Listener is a listening TCP socket.
type Listener struct {
	Address netip.AddrPort
	Inode   string // as in a link /proc/PID/fd/N: socket:[INODE]
}

// here reports whether l listens on the port of the loopback interface or of all interfaces.
func (l Listener) here(port uint16) bool {
	ip := l.Address.Addr()
	return l.Address.Port() == port && (ip.IsLoopback() || ip.IsUnspecified())
}

// Listeners reads /proc/PID/net/tcp or tcp6. The lines are "sl local_address rem_address st … uid
// timeout inode", with state 0A for a listening socket and addresses in 32-bit words in the
// machine's byte order.
func Listeners(data []byte) (all []Listener) {
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 10 || f[3] != "0A" || len(all) == maxSockets {
			continue
		}
		address, port, _ := strings.Cut(f[1], ":")
		raw, err := hex.DecodeString(address)
		n, portErr := strconv.ParseUint(port, 16, 16)
		if err != nil || portErr != nil || len(raw)%4 != 0 {
			continue
		}
		for word := raw; len(word) > 0; word = word[4:] {
			binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
		}
		if ip, ok := netip.AddrFromSlice(raw); ok {
			all = append(all, Listener{netip.AddrPortFrom(ip.Unmap(), uint16(n)), f[9]})
		}
	}
	return all
}
