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
