package replay

import (
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/tui/fold"
)

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

// moment is the state after n records.
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

// weight is what a copy of s costs.
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

// ended tells that there is nothing more to come.
func (p *player) ended() bool { return p.pos >= p.total }
