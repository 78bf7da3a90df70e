package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync/atomic"

	"locbench/internal/bench"
	"locbench/internal/tui/fold"
)

// Source reads results folders. Its methods block: they are called in commands.
type Source interface {
	// Load reads the plan and the results of the legs. What can be read is returned beside an
	// error.
	Load(dir string) (bench.Run, []bench.LegResult, error)
	// Events gives handle every event that was kept, in order, with the share of the log that has
	// been read; it stops at the first error.
	Events(dir string, handle func(rec bench.Record, read float64) error) error
	// Report writes the report, opens it where that is possible, and says where it is.
	Report(dir string) (text string, err error)
}

// maxRecords bounds a replay. A run tells a few events a second.
const maxRecords = 500_000

var (
	errLeft = errors.New("the screen was left")
	errMany = fmt.Errorf("more than %d events", maxRecords)
)

// progress is shared by a screen and the command that loads for it.
type progress struct {
	share atomic.Uint64 // bits of a float64
	left  atomic.Bool   // nobody waits for it any more
}

func (p *progress) set(share float64) { p.share.Store(math.Float64bits(share)) }
func (p *progress) get() float64      { return math.Float64frombits(p.share.Load()) }

// loaded is the outcome of loading. With an error there may be a player none the less.
type loaded struct {
	screen *Screen
	run    bench.Run
	player *player
	note   string // what is not as it should be, and what is shown instead
	err    error  // nothing can be shown
}

// load prefers the event log; the files of the legs stand in for one that is lost, broken or not
// whole.
func load(src Source, dir string, p *progress) loaded {
	// The legs first: of a run in progress the log may be ahead of them then, but never behind.
	run, legs, legsErr := src.Load(dir)
	if run.Schema == 0 && legsErr != nil {
		return loaded{err: legsErr}
	}
	come := func(share float64) error {
		if p.left.Load() {
			return errLeft
		}
		p.set(share)
		return nil
	}
	tell := func(share float64) error { return come(0.5 + share/2) }
	var records []bench.Record
	eventsErr := src.Events(dir, func(rec bench.Record, read float64) error {
		if len(records) >= maxRecords {
			return errMany
		}
		records = append(records, rec)
		return come(read / 2)
	})
	if errors.Is(eventsErr, errLeft) {
		return loaded{err: errLeft}
	}
	out := loaded{run: run}
	if out.player, out.err = newPlayer(fold.State{}, records, tell); out.err != nil {
		return out
	}
	why := lacking(out.player.state, run, legs)
	switch {
	case errors.Is(eventsErr, fs.ErrNotExist):
		why = "no events.jsonl here"
	case eventsErr != nil:
		why = "the event log: " + eventsErr.Error()
	}
	switch {
	case why == "" && legsErr != nil:
		out.note = legsErr.Error()
	case why == "" && out.player.state.Ended == nil:
		out.note = "the run does not come to its end here: it was killed, or still goes on"
	case why != "":
		out.note = why + ": drawn from the files of the legs, without phases and logs"
		if out.player, out.err = newPlayer(fold.State{Unlogged: true}, FromLegs(run, legs, dir), tell); out.err != nil {
			return out
		}
		out.player.gaps = nil // much happened in between that the files do not tell
		if legsErr != nil {
			out.note += "; " + legsErr.Error()
		}
	}
	return out
}

// lacking says what the log does not tell although the files of the legs do; "" when it tells all.
func lacking(s *fold.State, run bench.Run, legs []bench.LegResult) string {
	if s.Run.ID != run.ID {
		return "the event log is not whole: it does not tell how the run began"
	}
	n := 0
	for _, r := range legs {
		leg := s.Leg(r.Leg)
		if leg == nil || len(leg.Result.Steps) < len(r.Steps) || r.State == bench.LegComplete && leg.Result.State != bench.LegComplete {
			n++
		}
	}
	if n > 0 {
		return fmt.Sprintf("the event log is not whole: it lacks parts of %d of %d legs", n, len(legs))
	}
	return ""
}
