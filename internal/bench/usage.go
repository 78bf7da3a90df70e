package bench

import (
	"time"
)

// Pressure is for how long work has waited for each resource, as the kernel's pressure stall
// information counts it since the group was made or the machine was started.
type Pressure struct {
	Source string `json:"source"` // "cgroup v2", "/proc/pressure"
	CPU    *Stall `json:"cpu,omitempty"`
	Memory *Stall `json:"memory,omitempty"`
	IO     *Stall `json:"io,omitempty"`
}

// Stall is how long some of the processes waited for a resource, and how long all of them did at
// the same time.
type Stall struct {
	Some Duration  `json:"some_ns"`
	Full *Duration `json:"full_ns,omitempty"` // nil where the kernel does not count it
}

// Switches counts how often the threads of an instance gave up a CPU. Of a thread that has ended it
// holds what was read last.
type Switches struct {
	Source      string `json:"source"`      // "/proc/PID/status of all threads"
	Voluntary   int64  `json:"voluntary"`   // to wait for something
	Involuntary int64  `json:"involuntary"` // another one's turn, or no quota left
}

// Network counts the bytes of all interfaces of an instance's own network namespace, loopback apart
// where there is another. An instance that shares the machine's namespace has none: the counters
// there are everybody's.
type Network struct {
	Source   string `json:"source"` // "/proc/PID/net/dev", "docker stats"
	Received int64  `json:"received_bytes"`
	Sent     int64  `json:"sent_bytes"`
}

// Starter is an Instance whose high-water mark of memory can begin again, apart from that since start.
type Starter interface {
	// BeginPeak makes Memory.StepPeak count from now on, where the kernel can do that.
	BeginPeak() error
}

// CPUSplit returns the CPU time of the contender in the step, in its own code and in the kernel.
func (s StepResult) CPUSplit() (user, system Duration, ok bool) {
	b, a, _ := ends(s.Before, s.After, func(u *Usage) *Usage { return u })
	user, ok = since(b.CPUUser, a.CPUUser)
	system, known := since(b.CPUSystem, a.CPUSystem)
	return user, system, ok && known
}

// Pressure is for how long the contender's processes waited for each resource in the step; nil when
// it is not known.
func (s StepResult) Pressure() *Pressure {
	b, a, _ := ends(s.Before, s.After, func(u *Usage) *Usage { return u })
	return a.Pressure.since(b.Pressure)
}

// HostPressure returns the same of the whole machine.
func (s StepResult) HostPressure() *Pressure {
	b, a, _ := ends(s.HostBefore, s.HostAfter, hostOf)
	return a.Pressure.since(b.Pressure)
}

func (p *Pressure) since(before *Pressure) *Pressure {
	if p == nil || before == nil || p.Source != before.Source {
		return nil
	}
	d := Pressure{Source: p.Source, CPU: p.CPU.since(before.CPU), Memory: p.Memory.since(before.Memory),
		IO: p.IO.since(before.IO)}
	if d.CPU == nil && d.Memory == nil && d.IO == nil {
		return nil
	}
	return &d
}

func (s *Stall) since(before *Stall) *Stall {
	if s == nil || before == nil || s.Some < before.Some {
		return nil
	}
	d := Stall{Some: s.Some - before.Some}
	if full, ok := since(before.Full, s.Full); ok {
		d.Full = &full
	}
	return &d
}

func memoryOf(u *Usage) *Memory { return u.Memory }

// Faults returns those of the contender in the step: with the page in memory, and read from a disk.
func (s StepResult) Faults() (minor, major int64, ok bool) {
	b, a, _ := ends(s.Before, s.After, memoryOf)
	minor, ok = since(b.MinorFaults, a.MinorFaults)
	major, known := since(b.MajorFaults, a.MajorFaults)
	return minor, major, ok && known
}

// Switches returns the context switches of the contender in the step.
func (s StepResult) Switches() (voluntary, involuntary int64, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *Switches { return u.Switches })
	voluntary, involuntary = a.Voluntary-b.Voluntary, a.Involuntary-b.Involuntary
	return voluntary, involuntary, ok && a.Source == b.Source && voluntary >= 0 && involuntary >= 0
}

// Network returns the number of bytes that went into and out of the contender in the step.
func (s StepResult) Network() (received, sent int64, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *Network { return u.Network })
	received, sent = a.Received-b.Received, a.Sent-b.Sent
	return received, sent, ok && a.Source == b.Source && received >= 0 && sent >= 0
}

// StepPeak returns the high-water mark of the contender's memory within the step, in bytes.
func (s StepResult) StepPeak() (bytes int64, ok bool) {
	b, a, _ := ends(s.Before, s.After, memoryOf)
	if b.StepPeak == nil || a.StepPeak == nil {
		return 0, false
	}
	return *a.StepPeak, true
}

// HostReading is one reading of what runs next to a contender and may be what bounds it. What cannot be
// read is nil.
type HostReading struct {
	Host  *HostUsage  `json:"host,omitempty"`
	Store *StoreUsage `json:"store,omitempty"`
}

// HostUsage is what all CPUs of this machine have spent their time on since it was started, summed
// over the CPUs.
type HostUsage struct {
	At     time.Time     `json:"at"`
	Busy   time.Duration `json:"busy_ns"`
	Idle   time.Duration `json:"idle_ns"`  // waiting for disks among it
	Steal  time.Duration `json:"steal_ns"` // wanted to run, but the hypervisor ran others
	IOWait time.Duration `json:"io_wait_ns"`

	Pressure *Pressure `json:"pressure,omitempty"`
	// how often CPUs were slowed down for their heat, summed over cores and packages
	Throttles *int64 `json:"thermal_throttles,omitempty"`
}

// StoreUsage is what the store has used since it was started.
type StoreUsage struct {
	At time.Time `json:"at"`
	// "cgroup v1", "cgroup v2", "/proc", or "embedded", whose CPU time is the client's
	Source string        `json:"source"`
	CPU    time.Duration `json:"cpu_ns,omitempty"` // not of an embedded one
	Calls  int64         `json:"calls,omitempty"`  // answered; these two of an embedded one only
	// summed over the calls: from the head of a call until its response was written, waiting added on purpose included
	Busy time.Duration `json:"busy_ns,omitempty"`

	CPUs     int       `json:"cpus,omitempty"`   // of the CPU set that it is kept to; 0: all
	Memory   *Memory   `json:"memory,omitempty"` // of a container
	Pressure *Pressure `json:"pressure,omitempty"`
}

// ends returns one part of the readings at the two ends of a step; empty ones where either is missing.
func ends[R, P any](before, after *R, part func(*R) *P) (b, a P, ok bool) {
	if before != nil && after != nil {
		if x, y := part(before), part(after); x != nil && y != nil {
			return *x, *y, true
		}
	}
	return b, a, false
}

func hostOf(b *HostReading) *HostUsage   { return b.Host }
func storeOf(b *HostReading) *StoreUsage { return b.Store }

// since returns how far a counter has come; ok is false where it is not known, or has gone back.
func since[T ~int64](before, after *T) (n T, ok bool) {
	if before == nil || after == nil || *after < *before {
		return 0, false
	}
	return *after - *before, true
}

// Whole returns all the time of the CPUs.
func (h HostUsage) Whole() time.Duration { return h.Busy + h.Idle + h.Steal }

// HostShare returns the share of the machine's CPU time in the step that was busy, and stolen.
func (s StepResult) HostShare() (busy, steal float64, ok bool) {
	b, a, _ := ends(s.HostBefore, s.HostAfter, hostOf)
	whole := a.Whole() - b.Whole()
	if whole <= 0 || a.Busy < b.Busy || a.Steal < b.Steal {
		return 0, 0, false
	}
	return float64(a.Busy-b.Busy) / float64(whole), float64(a.Steal-b.Steal) / float64(whole), true
}

// Throttles returns how often CPUs were slowed down for their heat in the step.
func (s StepResult) Throttles() (n int64, ok bool) {
	b, a, _ := ends(s.HostBefore, s.HostAfter, hostOf)
	return since(b.Throttles, a.Throttles)
}

// StoreCPUs returns how many CPUs the store used in the step; ok is false of one inside the client too.
func (s StepResult) StoreCPUs() (cpus float64, ok bool) {
	b, a, _ := ends(s.HostBefore, s.HostAfter, storeOf)
	d := a.At.Sub(b.At)
	if d <= 0 || a.Source != b.Source || a.Source == StoreEmbeddedSource || a.CPU < b.CPU {
		return 0, false
	}
	return float64(a.CPU-b.CPU) / float64(d), true
}

// StoreInFlight returns how many calls an embedded store was at on average in the step.
func (s StepResult) StoreInFlight() (calls float64, ok bool) {
	b, a, _ := ends(s.HostBefore, s.HostAfter, storeOf)
	d := a.At.Sub(b.At)
	if d <= 0 || a.Source != StoreEmbeddedSource || b.Source != StoreEmbeddedSource || a.Busy < b.Busy {
		return 0, false
	}
	return float64(a.Busy-b.Busy) / float64(d), true
}

// StoreEmbeddedSource is StoreUsage.Source of the store inside locbench.
const StoreEmbeddedSource = "embedded"

// Hiccups is how often, in a step, CPUs of this machine did not run for a millisecond or more a
// thread that was scheduled on them.
type Hiccups struct {
	CPUs  int           `json:"cpus"` // watched
	Count int64         `json:"count"`
	Sum   time.Duration `json:"sum_ns"` // over the CPUs
	Max   time.Duration `json:"max_ns"`
	// the threads that watched came before all others (real-time class); else they may also have waited for their turn
	Realtime bool `json:"realtime"`
}

// Share returns the part of a time for which the CPUs stood still, on average over them.
func (h Hiccups) Share(of time.Duration) float64 {
	if h.CPUs == 0 || of <= 0 {
		return 0
	}
	return float64(h.Sum) / float64(h.CPUs) / float64(of)
}
