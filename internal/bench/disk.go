package bench

import "time"

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

func (d *Disk) advance(from, to *Disk) *Disk {
	step := to.since(from)
	if d == nil || step == nil {
		return nil
	}
	return &Disk{d.Source, d.Read + step.Read, d.Written + step.Written, d.Reads + step.Reads, d.Writes + step.Writes}
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

// CPUPerRequest returns its CPU time per success of the step.
func (n NeedStep) CPUPerRequest(l Load) (d time.Duration, ok bool) {
	if n.CPU == nil || l.Succeeded <= 0 {
		return 0, false
	}
	return *n.CPU / time.Duration(l.Succeeded), true
}

// DiskWait returns the share of the step in which at least one of its threads waited for a disk.
func (n NeedStep) DiskWait() (share float64, ok bool) { return waitShare(n.Pressure, n.Between) }
