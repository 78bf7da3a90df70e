package replay

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"locbench/internal/bench"
	"locbench/internal/tui/fold"
)

// idle is how long nothing may happen before it is called a gap.
const idle = 5 * time.Second

// longest bounds what one gap adds to the time line: clocks in files may say anything.
const longest = 7 * 24 * time.Hour

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

func (t *timeline) clock(pos time.Duration) time.Time {
	n := t.until(pos)
	if n == 0 {
		return time.Time{}
	}
	return t.records[n-1].At.Add(pos - t.offsets[n-1])
}

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

// Bounds of the states that are kept to come back to.
const (
	leastBetween = 1000 // records between two of them
	mostKept     = 100
)

// player is a run at a moment: the fold over the records until then. Going back starts from a state
// that was kept on the way.
type player struct {
	*timeline
	start fold.State // before the first record
	state *fold.State
	n     int // records in it
	pos   time.Duration
	kept  []moment
}

type moment struct {
	n     int
	state *fold.State
}

// newPlayer folds all records onto start and stands at the end. tell, which may be nil, gets the
// share that is done and may end it by an error.
func newPlayer(start fold.State, records []bench.Record, tell func(share float64) error) (*player, error) {
	p := &player{timeline: newTimeline(records), start: start, state: start.Clone()}
	every := max(leastBetween, len(records)/mostKept)
	for i, rec := range records {
		if i > 0 && i%every == 0 {
			if weight(p.state) <= 4*every {
				p.kept = append(p.kept, moment{i, p.state.Clone()})
			}
			if tell != nil {
				if err := tell(float64(i) / float64(len(records))); err != nil {
					return nil, err
				}
			}
		}
		p.state.Apply(rec)
	}
	p.n, p.pos = len(records), p.total
	return p, nil
}

func weight(s *fold.State) int {
	n := len(s.Legs)
	for _, leg := range s.Legs {
		n += len(leg.Steps)
	}
	return n
}

// seek goes to pos, which is bounded to the run.
func (p *player) seek(pos time.Duration) {
	p.pos = max(0, min(pos, p.total))
	p.to(p.until(p.pos))
}

// to makes the state that of the first n records.
func (p *player) to(n int) {
	from := -1 // kept state to start from
	for i, m := range p.kept {
		if m.n <= n && (m.n > p.n || n < p.n) {
			from = i
		}
	}
	switch {
	case from >= 0:
		p.state, p.n = p.kept[from].state.Clone(), p.kept[from].n
	case n < p.n:
		p.state, p.n = p.start.Clone(), 0
	}
	for ; p.n < n; p.n++ {
		p.state.Apply(p.records[p.n])
	}
}

// step applies the next n records and stands at the last of them.
func (p *player) step(n int) {
	n = min(p.n+n, len(p.records))
	p.to(n)
	if n > 0 {
		p.pos = p.offsets[n-1]
	}
}

// after is the next of marks, or the end.
func (p *player) after(marks []mark) time.Duration {
	if i := slices.IndexFunc(marks, func(m mark) bool { return m.at > p.pos }); i >= 0 {
		return marks[i].at
	}
	return p.total
}

// before is the last of marks that was passed, or the start. One that has only just been passed does
// not count, so that going back twice goes further.
func (p *player) before(marks []mark) time.Duration {
	const just = 2 * time.Second
	for i, m := range slices.Backward(marks) {
		if m.at < p.pos-just || m.at < p.pos && i == 0 {
			return m.at
		}
	}
	return 0
}

func (p *player) ended() bool { return p.pos >= p.total }
