package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// waiter is the contender or a need that waits for a disk.
type waiter struct {
	name  string // of the need; "": the contender
	share float64
	disk  *bench.Disk
	over  time.Duration // between the readings
}

// waiters returns those that wait for a disk half of the time, the longest first.
func (f facts) waiters() (all []waiter) {
	if share, ok := f.step.DiskWait(); ok && share >= diskWaits {
		all = append(all, waiter{"", share, f.step.Disk(), f.step.After.At.Sub(f.step.Before.At)})
	}
	for _, n := range f.needs {
		used := f.step.Need(n.name)
		if share, ok := used.DiskWait(); ok && share >= diskWaits {
			all = append(all, waiter{n.name, share, used.Disk, used.Between})
		}
	}
	slices.SortStableFunc(all, func(a, b waiter) int { return cmp.Compare(b.share, a.share) })
	return all
}

// words returns "waits for disk 60% of the time: 12.0 MiB/s written in 310 operations/s".
func (w waiter) words() string {
	text := "waits for disk " + units.Percent(w.share) + " of the time"
	if moved := DiskWords(w.disk, w.over); moved != "" {
		text += ": " + moved
	}
	return text
}

// DiskWords returns "1.0 MiB/s read in 40 operations/s, 12.0 MiB/s written in 310 operations/s" of
// what was read and written within a time; "" if that is nothing or unknown.
func DiskWords(d *bench.Disk, within time.Duration) string {
	if d == nil || within <= 0 {
		return ""
	}
	var all []string
	add := func(bytes, operations int64, what string) {
		if operations > 0 {
			all = append(all, fmt.Sprintf("%s/s %s in %s operations/s", units.Bytes(int64(float64(bytes)/within.Seconds())), what,
				units.Number(float64(operations)/within.Seconds())))
		}
	}
	add(d.Read, d.Reads, "read")
	add(d.Written, d.Writes, "written")
	return strings.Join(all, ", ")
}

// waits returns a text if who ("": the contender) waits for a disk longer than all others, and more
// load brings no more than a queue: requests do not wait for a disk to which a need only writes in
// the background.
func (f facts) waits(who string) string {
	all := f.waiters()
	if len(all) == 0 || all[0].name != who || f.busyOK && f.busy+f.steal >= fullyBusy && f.ownCPUs() >= f.host/2 {
		return ""
	}
	if !f.responsesAsLongAs(all[0].operation() / 2) {
		return "" // it reads or writes in the background
	}
	why := f.noMore()
	if why == "" {
		return ""
	}
	text := all[0].words()
	if who == "" {
		text = "the contender " + text
	}
	return text + "; " + why
}

// operation returns how long an operation of the disk is waited for, on average; 0: not known.
func (w waiter) operation() time.Duration {
	if w.disk == nil || w.disk.Reads+w.disk.Writes == 0 {
		return 0
	}
	return time.Duration(w.share * float64(w.over) / float64(w.disk.Reads+w.disk.Writes))
}

// responsesAsLongAs reports whether requests spend most of their time in responses that take
// this time or longer. Those that wait for a disk do.
func (f facts) responsesAsLongAs(least time.Duration) bool {
	h, err := hdr.Decode(f.step.Load.Latency)
	if err != nil || h == nil || least <= 0 {
		return true // not known
	}
	long, all := 0., 0.
	for _, b := range h.Bars() {
		time := float64(b.Count) * float64(b.From+b.To) / 2
		all += time
		if b.To > least {
			long += time
		}
	}
	return long >= waiting*all
}

// ownCPUs returns how many CPUs contender, client and needs used.
func (f facts) ownCPUs() float64 {
	own := f.cpus + f.client
	for _, n := range f.needs {
		own += n.cpus
	}
	return own
}

func (f facts) contenderWaits() string { return f.waits("") }

func (f facts) needWaits(n need) string { return f.waits(n.name) }

// noMore returns the sign that more load brings no more than a queue: a rate that was not kept, or
// another step with fewer or more connections.
func (f facts) noMore() string {
	if f.step.Step.Open() {
		if l := f.step.Load; l.Scheduled > 0 && f.rateKept() == "" {
			return fmt.Sprintf("%s of %s scheduled requests late or dropped", units.Count(l.Late+l.Dropped), units.Count(l.Scheduled))
		}
		return ""
	}
	if f.moreBringsMore() != "" {
		return ""
	}
	// Few requests a second and group commits may give some more throughput.
	if text := f.queues(math.Inf(1)); text != "" {
		return text
	}
	for _, s := range f.above {
		other := facts{step: *s, below: []*bench.StepResult{&f.step}}
		if text := other.queues(more); text != "" {
			return text
		}
	}
	return ""
}

// waitingWords returns "; db waits for disk 99% of the time" for each that waits.
func (f facts) waitingWords() (text string) {
	for _, w := range f.waiters() {
		text += "; " + cmp.Or(w.name, "contender") + " " + w.words()
	}
	return text
}

// ColdCaches returns the warning that needs read from disk in a measured step.
func ColdCaches(res bench.StepResult) (all bench.Warnings) {
	n := res.Load.Counted()
	if res.Step.WarmUp || n == 0 {
		return nil
	}
	for _, name := range res.Needs() {
		d := res.Need(name).Disk
		if d == nil || float64(d.Reads) < coldReads*float64(n) || d.Reads < fewReads {
			continue
		}
		all = append(all, found(bench.WarnColdCache,
			values{"reads": float64(d.Reads), "bytes": float64(d.Read), "requests": float64(n)},
			"%s still read from disk: %s in %s reads, %s per request. A longer warm-up step fills its caches, "+
				"if its data fit into its memory", name, units.Bytes(d.Read), units.Count(d.Reads),
			units.Number(float64(d.Reads)/float64(n))))
	}
	return all
}
