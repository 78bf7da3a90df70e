package bench

import (
	"slices"
	"time"
)

// Pressure is the time that threads waited for each resource, from the kernel's pressure stall
// information: since the cgroup was created, or since the machine was started.
type Pressure struct {
	Source string `json:"source"` // "cgroup v2", "/proc/pressure"
	CPU    *Stall `json:"cpu,omitempty"`
	Memory *Stall `json:"memory,omitempty"`
	IO     *Stall `json:"io,omitempty"`
}

// Stall is how long some threads waited for a resource, and how long all of them did at once.
type Stall struct {
	Some Duration  `json:"some_ns"`
	Full *Duration `json:"full_ns,omitempty"` // nil if the kernel does not count it
}

// Network counts the bytes of all interfaces of an instance's own network namespace, except
// loopback if there is another. It is absent if the instance shares the network namespace of the
// machine.
type Network struct {
	Source   string `json:"source"` // "/proc/PID/net/dev", "docker stats"
	Received int64  `json:"received_bytes"`
	Sent     int64  `json:"sent_bytes"`
}

// Starter is an Instance that can measure peak memory per step, apart from that since start.
type Starter interface {
	// BeginPeak makes Memory.StepPeak start from now, if the kernel supports that.
	BeginPeak() error
}

// Presser is an Instance or a need whose kernel adds up pressure exactly only if it does so often.
type Presser interface {
	// AddPressure makes the kernel add up the waiting for disks since the last time; false: it cannot.
	AddPressure() bool
}

// CPUSplit returns the CPU time of the contender in the step: user and system.
func (s StepResult) CPUSplit() (user, system Duration, ok bool) {
	b, a, _ := ends(s.Before, s.After, func(u *Usage) *Usage { return u })
	user, ok = since(b.CPUUser, a.CPUUser)
	system, known := since(b.CPUSystem, a.CPUSystem)
	return user, system, ok && known
}

// Pressure returns the pressure on the contender in the step; nil if it is not known.
func (s StepResult) Pressure() *Pressure {
	b, a, _ := ends(s.Before, s.After, func(u *Usage) *Usage { return u })
	return a.Pressure.since(b.Pressure)
}

// HostPressure returns the pressure on the whole machine in the step; nil if it is not known.
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

// Faults returns the page faults of the contender in the step: without and with a read from disk.
func (s StepResult) Faults() (minor, major int64, ok bool) {
	b, a, _ := ends(s.Before, s.After, memoryOf)
	minor, ok = since(b.MinorFaults, a.MinorFaults)
	major, known := since(b.MajorFaults, a.MajorFaults)
	return minor, major, ok && known
}

// Log returns what the contender wrote to its log in the step. The CPU time of the engine is that of
// the log only if there was one.
func (s StepResult) Log() (l Log, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *Log { return u.Log })
	l.Bytes, l.Lines = a.Bytes-b.Bytes, a.Lines-b.Lines
	if cpu, known := since(b.EngineCPU, a.EngineCPU); known && l.Bytes > 0 {
		l.EngineCPU = &cpu
	}
	return l, ok && l.Bytes >= 0 && l.Lines >= 0
}

// LogCPUs returns how many CPUs the engine used for the contender's log in the step; 0: none, or not
// known.
func (s StepResult) LogCPUs() float64 {
	l, ok := s.Log()
	if !ok || l.EngineCPU == nil {
		return 0
	}
	cpus, _ := s.perTime(*l.EngineCPU)
	return cpus
}

// Network returns the bytes that the contender received and sent in the step.
func (s StepResult) Network() (received, sent int64, ok bool) {
	return networkBetween(ends(s.Before, s.After, func(u *Usage) *Network { return u.Network }))
}

func networkBetween(b, a Network, ok bool) (received, sent int64, known bool) {
	received, sent = a.Received-b.Received, a.Sent-b.Sent
	return received, sent, ok && a.Source == b.Source && received >= 0 && sent >= 0
}

// StepPeak returns the peak memory of the contender within the step, in bytes.
func (s StepResult) StepPeak() (bytes int64, ok bool) {
	b, a, _ := ends(s.Before, s.After, memoryOf)
	if b.StepPeak == nil || a.StepPeak == nil {
		return 0, false
	}
	return *a.StepPeak, true
}

// MostMemory returns the highest memory use of the contender within the step, in bytes: the kernel's
// mark, or the largest reading, above which it may have been.
func (s StepResult) MostMemory() (bytes int64, sampled, ok bool) {
	if bytes, ok = s.StepPeak(); ok {
		return bytes, false, true
	}
	for _, u := range s.Readings() {
		if u.Memory != nil {
			bytes = max(bytes, u.Memory.Used)
		}
	}
	return bytes, true, bytes > 0
}

// Readings returns the known readings of the contender's counters in the step, in order of time.
func (s StepResult) Readings() (all []*Usage) {
	if s.Before != nil {
		all = append(all, s.Before)
	}
	for i := range s.Samples {
		all = append(all, &s.Samples[i])
	}
	if s.After != nil {
		all = append(all, s.After)
	}
	return all
}

// HostReading is one reading of the counters of host and needs. What cannot be read is absent.
type HostReading struct {
	Host  *HostUsage            `json:"host,omitempty"`
	Needs map[string]*NeedUsage `json:"needs,omitempty"` // by their names
}

// HostUsage is the time of all CPUs of this machine since it was started, summed over the CPUs.
type HostUsage struct {
	At     time.Time     `json:"at"`
	Busy   time.Duration `json:"busy_ns"`
	Idle   time.Duration `json:"idle_ns"`  // including IOWait
	Steal  time.Duration `json:"steal_ns"` // CPU time that the hypervisor gave to other VMs
	IOWait time.Duration `json:"io_wait_ns"`

	Pressure *Pressure `json:"pressure,omitempty"`
	// number of times CPUs were throttled for heat, summed over cores and packages
	Throttles *int64 `json:"thermal_throttles,omitempty"`
}

// NeedUsage is the use of resources by a need since it was started.
type NeedUsage struct {
	At time.Time `json:"at"`
	// "cgroup v1", "cgroup v2", "/proc", or "embedded" (its CPU time is part of the client's)
	Source string        `json:"source"`
	CPU    time.Duration `json:"cpu_ns,omitempty"` // absent if embedded
	Calls  int64         `json:"calls,omitempty"`  // number of calls; Calls and Busy are known only if embedded
	// summed over the calls: from request to response, added latency included
	Busy time.Duration `json:"busy_ns,omitempty"`

	CPUs       int         `json:"cpus,omitempty" advance:"no"` // size of its CPU set; 0: all CPUs
	Quota      float64     `json:"quota,omitempty"`             // its limit in CPUs; 0: none
	Throttling *Throttling `json:"throttling,omitempty"`
	Memory     *Memory     `json:"memory,omitempty"` // these five: if in a container
	Pressure   *Pressure   `json:"pressure,omitempty"`
	Network    *Network    `json:"network,omitempty"`
	Disk       *Disk       `json:"disk,omitempty"`
	// as in Usage; BusiestThread is that of the step, at its end
	ThreadCPU     map[int]time.Duration `json:"-"`
	BusiestThread *Duration             `json:"busiest_thread_ns,omitempty" advance:"no"`
}

// ends returns one part of the readings at the two ends of a step; zero unless both are known.
func ends[R, P any](before, after *R, part func(*R) *P) (b, a P, ok bool) {
	if before != nil && after != nil {
		if x, y := part(before), part(after); x != nil && y != nil {
			return *x, *y, true
		}
	}
	return b, a, false
}

func hostOf(b *HostReading) *HostUsage { return b.Host }

// need returns the part of a reading that is a need's.
func need(name string) func(*HostReading) *NeedUsage {
	return func(b *HostReading) *NeedUsage { return b.Needs[name] }
}

// since returns the increase of a counter; ok is false if it is not known or has decreased.
func since[T ~int64](before, after *T) (n T, ok bool) {
	if before == nil || after == nil || *after < *before {
		return 0, false
	}
	return *after - *before, true
}

// Whole returns the total time of the CPUs.
func (h HostUsage) Whole() time.Duration { return h.Busy + h.Idle + h.Steal }

// HostShare returns the shares of the machine's CPU time in the step that were busy and stolen.
func (s StepResult) HostShare() (busy, steal float64, ok bool) {
	b, a, _ := ends(s.HostBefore, s.HostAfter, hostOf)
	whole := a.Whole() - b.Whole()
	if whole <= 0 || a.Busy < b.Busy || a.Steal < b.Steal {
		return 0, 0, false
	}
	return float64(a.Busy-b.Busy) / float64(whole), float64(a.Steal-b.Steal) / float64(whole), true
}

// Throttles returns how often CPUs were throttled for heat in the step.
func (s StepResult) Throttles() (n int64, ok bool) {
	b, a, _ := ends(s.HostBefore, s.HostAfter, hostOf)
	return since(b.Throttles, a.Throttles)
}

// Needs returns the names of the needs with readings at both ends of the step, sorted.
func (s StepResult) Needs() (names []string) {
	if s.HostBefore == nil || s.HostAfter == nil {
		return nil
	}
	for name := range s.HostAfter.Needs {
		if s.HostBefore.Needs[name] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// NeedCPUs returns how many CPUs a need used in the step; ok is false for an embedded one.
func (s StepResult) NeedCPUs(name string) (cpus float64, ok bool) {
	b, a, _ := ends(s.HostBefore, s.HostAfter, need(name))
	d := a.At.Sub(b.At)
	if d <= 0 || a.Source != b.Source || a.Source == EmbeddedSource || a.CPU < b.CPU {
		return 0, false
	}
	return float64(a.CPU-b.CPU) / float64(d), true
}

// NeedThrottling returns how a need was throttled in the step.
func (s StepResult) NeedThrottling(name string) (t Throttling, ok bool) {
	b, a, ok := ends(s.HostBefore, s.HostAfter, func(h *HostReading) *Throttling {
		if u := h.Needs[name]; u != nil {
			return u.Throttling
		}
		return nil
	})
	return Throttling{a.Periods - b.Periods, a.Throttled - b.Throttled, a.Time - b.Time}, ok
}

// NeedInFlight returns the mean number of calls in flight at an embedded need in the step.
func (s StepResult) NeedInFlight(name string) (calls float64, ok bool) {
	b, a, _ := ends(s.HostBefore, s.HostAfter, need(name))
	d := a.At.Sub(b.At)
	if d <= 0 || a.Source != EmbeddedSource || b.Source != EmbeddedSource || a.Busy < b.Busy {
		return 0, false
	}
	return float64(a.Busy-b.Busy) / float64(d), true
}

// EmbeddedSource is NeedUsage.Source of a need in the client.
const EmbeddedSource = "embedded"

// Hiccups counts the machine stalls in a step: how often a CPU did not run a ready thread for 1 ms
// or more.
type Hiccups struct {
	CPUs  int           `json:"cpus"` // number of CPUs watched
	Count int64         `json:"count"`
	Sum   time.Duration `json:"sum_ns"` // summed over the CPUs
	Max   time.Duration `json:"max_ns"`
	// the watchdog threads had real-time priority; without it, busy CPUs also count as stalls
	Realtime bool `json:"realtime"`
}

// Share returns the stalled share of a time, on average over the CPUs.
func (h Hiccups) Share(of time.Duration) float64 {
	if h.CPUs == 0 || of <= 0 {
		return 0
	}
	return float64(h.Sum) / float64(h.CPUs) / float64(of)
}

// Disk counts what a group of processes read from and wrote to disks, as the kernel's block layer
// counts it: what the page cache had is not read, and what the cache still holds is not written.
// Each physical disk counts once, whatever is stacked on it.
type Disk struct {
	// "io.stat" (cgroup v2), or "blkio.throttle" (v1), where what the kernel writes later, in the
	// background, is not counted
	Source  string `json:"source"`
	Read    int64  `json:"read_bytes"`
	Written int64  `json:"written_bytes"`
	Reads   int64  `json:"reads"`  // number of read operations
	Writes  int64  `json:"writes"` // number of write operations
}

func (d *Disk) since(before *Disk) *Disk {
	if d == nil || before == nil || d.Source != before.Source || d.Read < before.Read || d.Written < before.Written ||
		d.Reads < before.Reads || d.Writes < before.Writes {
		return nil
	}
	return &Disk{d.Source, d.Read - before.Read, d.Written - before.Written, d.Reads - before.Reads, d.Writes - before.Writes}
}

// Disk returns what the contender read and wrote in the step; nil if it is not known.
func (s StepResult) Disk() *Disk {
	b, a, _ := ends(s.Before, s.After, func(u *Usage) *Usage { return u })
	return a.Disk.since(b.Disk)
}

// DiskWait returns the share of the step in which at least one thread of the contender waited for
// a disk.
func (s StepResult) DiskWait() (share float64, ok bool) {
	b, a, _ := ends(s.Before, s.After, func(u *Usage) *Usage { return u })
	return waitShare(s.Pressure(), a.At.Sub(b.At))
}

func waitShare(p *Pressure, of time.Duration) (share float64, ok bool) {
	if p == nil || p.IO == nil || of <= 0 {
		return 0, false
	}
	return min(1, float64(p.IO.Some)/float64(of)), true
}
