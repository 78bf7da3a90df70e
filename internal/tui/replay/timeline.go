package replay

import (
	"fmt"
	"sort"
	"time"

	"locbench/internal/bench"
)

// idle is how long nothing may happen before it is called a gap.
const idle = 5 * time.Second

// longest bounds what one gap adds to the time line: clocks in files may say anything.
const longest = 7 * 24 * time.Hour

// maxMarks bounds each kind of mark on the time line.
const maxMarks = 20_000

// timeline is when the records of a run happened, counted from the first one. It never goes back,
// whatever the clock did.
type timeline struct {
	records []bench.Record
	offsets []time.Duration // of each record
	total   time.Duration
	legs    []mark
	steps   []mark // their beginnings, in the order of time
	gaps    []gap
}

// mark is a moment with a name.
type mark struct {
	at   time.Duration
	name string
}

// gap is a stretch in which nothing was reported.
type gap struct{ from, to time.Duration }

func newTimeline(records []bench.Record) *timeline {
	t := &timeline{records: records, offsets: make([]time.Duration, len(records))}
	for i, rec := range records {
		if i > 0 {
			d := max(0, min(rec.At.Sub(records[i-1].At), longest))
			if t.total > 1<<62 {
				d = 0
			}
			if d > idle && len(t.gaps) < maxMarks {
				t.gaps = append(t.gaps, gap{t.total, t.total + d})
			}
			t.total += d
		}
		t.offsets[i] = t.total
		switch e := rec.Event.(type) {
		case bench.LegStarted:
			if rec.Leg != nil && len(t.legs) < maxMarks {
				t.legs = append(t.legs, mark{t.total, fmt.Sprintf("%s %d", rec.Leg.Label(), rec.Leg.Round)})
			}
		case bench.StepStarted:
			if len(t.steps) < maxMarks {
				t.steps = append(t.steps, mark{t.total, e.Step.Name})
			}
		}
	}
	return t
}

// until is the number of records that have happened by pos.
func (t *timeline) until(pos time.Duration) int {
	return sort.Search(len(t.offsets), func(i int) bool { return t.offsets[i] > pos })
}

// clock is the time of day at pos.
func (t *timeline) clock(pos time.Duration) time.Time {
	n := t.until(pos)
	if n == 0 {
		return time.Time{}
	}
	return t.records[n-1].At.Add(pos - t.offsets[n-1])
}

// gapAt is the gap that pos is in.
func (t *timeline) gapAt(pos time.Duration) (gap, bool) {
	i := sort.Search(len(t.gaps), func(i int) bool { return t.gaps[i].to > pos })
	if i < len(t.gaps) && t.gaps[i].from <= pos {
		return t.gaps[i], true
	}
	return gap{}, false
}

// clockText is a length of time as players show it: "1:20", "1:02:03".
func clockText(d time.Duration) string {
	s := int64(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
