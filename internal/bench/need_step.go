package bench

import "time"

// NeedStep is what a need used in a step. What is not known is nil.
type NeedStep struct {
	Between time.Duration // between the two readings
	CPU     *Duration     // outside the client
	// each without what the need used before the step
	Throttling *Throttling
	Pressure   *Pressure
	Network    *Network
	Disk       *Disk
	Memory     *Memory // at the end of the step
	BusyThread float64 // share of the step in which the busiest of its threads ran, 0 to 1; 0: not known
	OOMKills   int64   // processes that the kernel killed in the step, for lack of memory
}

// Need returns what a need used in the step; the zero value if it is not known.
func (s StepResult) Need(name string) (n NeedStep) {
	b, a, ok := ends(s.HostBefore, s.HostAfter, need(name))
	if n.Between = a.At.Sub(b.At); !ok || n.Between <= 0 || a.Source != b.Source || a.CPU < b.CPU {
		return NeedStep{}
	}
	if a.Source != EmbeddedSource {
		n.CPU = new(a.CPU - b.CPU)
	}
	if a.BusiestThread != nil {
		n.BusyThread = min(1, float64(*a.BusiestThread)/float64(n.Between))
	}
	if t, ok := s.NeedThrottling(name); ok {
		n.Throttling = &t
	}
	n.Pressure, n.Disk, n.Memory = a.Pressure.since(b.Pressure), a.Disk.since(b.Disk), a.Memory
	if a.Network != nil && b.Network != nil {
		if in, out, ok := networkBetween(*b.Network, *a.Network, true); ok {
			n.Network = &Network{a.Network.Source, in, out}
		}
	}
	if a.Memory != nil && b.Memory != nil {
		n.OOMKills = max(0, a.Memory.OOMKills-b.Memory.OOMKills)
	}
	return n
}

// DiskWait returns the share of the step in which at least one of its threads waited for a disk.
func (n NeedStep) DiskWait() (share float64, ok bool) { return waitShare(n.Pressure, n.Between) }
