package bench

import "time"

// Beside is one reading of what stands beside a contender and may be what bounds it. What cannot be
// read is nil.
type Beside struct {
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

	Pressure  *Pressure `json:"pressure,omitempty"`
	Throttles *int64    `json:"thermal_throttles,omitempty"` // how often CPUs were slowed down for their heat, summed over cores and packages
}

// StoreUsage is what the store has used since it was started.
type StoreUsage struct {
	At     time.Time     `json:"at"`
	Source string        `json:"source"`            // "cgroup v1", "cgroup v2", "/proc", or "embedded", whose CPU time is the client's
	CPU    time.Duration `json:"cpu_ns,omitempty"`  // not of an embedded one
	Calls  int64         `json:"calls,omitempty"`   // answered; these two of an embedded one only
	Busy   time.Duration `json:"busy_ns,omitempty"` // summed over the calls: from the head of a call until its answer was written, waiting added on purpose included

	CPUs     int       `json:"cpus,omitempty"`   // of the CPU set that it is kept to; 0: all
	Memory   *Memory   `json:"memory,omitempty"` // of a container
	Pressure *Pressure `json:"pressure,omitempty"`
}

// ends are one part of the readings at the two ends of a step; empty ones where either is missing.
func ends[R, P any](before, after *R, part func(*R) *P) (b, a P, ok bool) {
	if before != nil && after != nil {
		if x, y := part(before), part(after); x != nil && y != nil {
			return *x, *y, true
		}
	}
	return b, a, false
}

func hostOf(b *Beside) *HostUsage   { return b.Host }
func storeOf(b *Beside) *StoreUsage { return b.Store }

// since is how far a counter has come; ok is false where it is not known, or has gone back.
func since[T ~int64](before, after *T) (n T, ok bool) {
	if before == nil || after == nil || *after < *before {
		return 0, false
	}
	return *after - *before, true
}

// Whole is all the time of the CPUs.
func (h HostUsage) Whole() time.Duration { return h.Busy + h.Idle + h.Steal }

// HostShare is what the machine's CPUs did between the two ends of the step, as shares of their
// time: busy (steal not among it) and stolen. ok is false when it is not known.
func (s StepResult) HostShare() (busy, steal float64, ok bool) {
	b, a, _ := ends(s.BesideBefore, s.BesideAfter, hostOf)
	whole := a.Whole() - b.Whole()
	if whole <= 0 || a.Busy < b.Busy || a.Steal < b.Steal {
		return 0, 0, false
	}
	return float64(a.Busy-b.Busy) / float64(whole), float64(a.Steal-b.Steal) / float64(whole), true
}

// Throttles is how often CPUs were slowed down for their heat in the step; ok is false where nobody
// counts it.
func (s StepResult) Throttles() (n int64, ok bool) {
	b, a, _ := ends(s.BesideBefore, s.BesideAfter, hostOf)
	return since(b.Throttles, a.Throttles)
}

// StoreCPUs is how many CPUs the store used between the two ends of the step; ok is false when it
// is not known, or part of the client.
func (s StepResult) StoreCPUs() (cpus float64, ok bool) {
	b, a, _ := ends(s.BesideBefore, s.BesideAfter, storeOf)
	d := a.At.Sub(b.At)
	if d <= 0 || a.Source != b.Source || a.Source == StoreEmbeddedSource || a.CPU < b.CPU {
		return 0, false
	}
	return float64(a.CPU-b.CPU) / float64(d), true
}

// StoreInFlight is how many calls an embedded store was at on average between the two ends of the
// step.
func (s StepResult) StoreInFlight() (calls float64, ok bool) {
	b, a, _ := ends(s.BesideBefore, s.BesideAfter, storeOf)
	d := a.At.Sub(b.At)
	if d <= 0 || a.Source != StoreEmbeddedSource || b.Source != StoreEmbeddedSource || a.Busy < b.Busy {
		return 0, false
	}
	return float64(a.Busy-b.Busy) / float64(d), true
}

// StoreEmbeddedSource is StoreUsage.Source of the store inside locbench.
const StoreEmbeddedSource = "embedded"

// Hiccups is how often, in a step, CPUs of this machine did not run for a millisecond or more a
// thread that was due on them.
type Hiccups struct {
	CPUs      int           `json:"cpus"` // watched
	Count     int64         `json:"count"`
	Sum       time.Duration `json:"sum_ns"` // over the CPUs
	Max       time.Duration `json:"max_ns"`
	Preferred bool          `json:"preferred"` // the threads that watched came before all others (real-time class); else they may also have waited for their turn
}

// Share is the part of a time for which the CPUs stood still, on average over them.
func (h Hiccups) Share(of time.Duration) float64 {
	if h.CPUs == 0 || of <= 0 {
		return 0
	}
	return float64(h.Sum) / float64(h.CPUs) / float64(of)
}
