package bench

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

// Starter is an Instance whose high-water mark of memory can begin anew while the one since start
// is kept.
type Starter interface {
	// BeginPeak makes Memory.StepPeak of later readings count from now on. It fails where the
	// kernel cannot do that.
	BeginPeak() error
}

// CPUSplit is the CPU time that the contender used in the step, in its own code and in the kernel
// for it; ok is false when it is not known.
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

// HostPressure is the same of the whole machine.
func (s StepResult) HostPressure() *Pressure {
	b, a, _ := ends(s.BesideBefore, s.BesideAfter, hostOf)
	return a.Pressure.since(b.Pressure)
}

func (p *Pressure) since(before *Pressure) *Pressure {
	if p == nil || before == nil || p.Source != before.Source {
		return nil
	}
	d := Pressure{Source: p.Source, CPU: p.CPU.since(before.CPU), Memory: p.Memory.since(before.Memory), IO: p.IO.since(before.IO)}
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

// Faults are the page faults of the contender in the step: those that found the page in memory, and
// those that had to read it from a disk.
func (s StepResult) Faults() (minor, major int64, ok bool) {
	b, a, _ := ends(s.Before, s.After, memoryOf)
	minor, ok = since(b.MinorFaults, a.MinorFaults)
	major, known := since(b.MajorFaults, a.MajorFaults)
	return minor, major, ok && known
}

// Switches are the context switches of the contender in the step.
func (s StepResult) Switches() (voluntary, involuntary int64, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *Switches { return u.Switches })
	voluntary, involuntary = a.Voluntary-b.Voluntary, a.Involuntary-b.Involuntary
	return voluntary, involuntary, ok && a.Source == b.Source && voluntary >= 0 && involuntary >= 0
}

// Network is the number of bytes that went into and out of the contender in the step.
func (s StepResult) Network() (received, sent int64, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *Network { return u.Network })
	received, sent = a.Received-b.Received, a.Sent-b.Sent
	return received, sent, ok && a.Source == b.Source && received >= 0 && sent >= 0
}

// StepPeak is the high-water mark of the contender's memory within the step, in bytes; ok is false
// where the kernel keeps none.
func (s StepResult) StepPeak() (bytes int64, ok bool) {
	b, a, _ := ends(s.Before, s.After, memoryOf)
	if b.StepPeak == nil || a.StepPeak == nil {
		return 0, false
	}
	return *a.StepPeak, true
}
