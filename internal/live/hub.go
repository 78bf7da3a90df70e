package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
	"locbench/internal/units"
)

// status is what runs now, in words; a follower gets it as JSON.
type status struct {
	Live bool   `json:"live"` // a locbench writes to the folder
	Text string `json:"text"`
}

// hub is the newest state. Any number of followers wait for it, and get the newest, not every one.
type hub struct {
	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, with every change
	status  status
	page    int64 // version of the page: it grows when there is more to draw

	seq   int64 // of the last event
	due   bool  // something is on disk, or will be in a moment, that the last page has not
	drawn time.Time
	leg   string
	step  string
	legs  map[bench.Leg]string // that run, in words: several where contenders take turns
}

func (h *hub) turnTo(rec bench.Record) {
	if rec.Leg != nil && h.legs[*rec.Leg] != "" {
		h.leg = h.legs[*rec.Leg]
	}
}

// now is the newest state, and what is closed when there is a newer one.
func (h *hub) now() (status, int64, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status, h.page, h.changed
}

// set changes the state under the lock and wakes the followers.
func (h *hub) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
	close(h.changed)
	h.changed = make(chan struct{})
}

// follow reads the event log for as long as ctx lasts: a run that has ended may be resumed.
func (h *hub) follow(ctx context.Context, o Options) {
	var wg sync.WaitGroup
	wg.Go(func() { h.redraw(ctx) })
	defer wg.Wait()
	for ctx.Err() == nil {
		before := h.seq
		err := o.Follow(ctx, h.seq, h.take)
		h.set(func() {
			h.status.Live = false
			h.due = h.due || h.seq != before
			if h.seq == 0 {
				h.status.Text = "no event log: the results as they are"
			} else if err != nil && ctx.Err() == nil {
				h.status.Text = safe.Line(err.Error(), 200)
			}
		})
		for waits := true; waits; { // until somebody writes again
			select {
			case <-ctx.Done():
				waits = false
			case <-time.After(again):
				waits = !o.Running()
			}
		}
	}
}

// redraw tells followers of a new page, a moment after what it shows and not too often.
func (h *hub) redraw(ctx context.Context) {
	tick := time.NewTicker(calm)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			h.mu.Lock()
			ready := h.due && now.Sub(h.drawn) >= between
			h.mu.Unlock()
			if ready {
				h.set(func() { h.page, h.due, h.drawn = h.page+1, false, now })
			}
		}
	}
}

func (h *hub) take(batch []bench.Record) error {
	h.set(func() {
		for _, rec := range batch {
			h.seq = max(h.seq, rec.Seq)
			h.one(rec)
		}
	})
	return nil
}

func (h *hub) one(rec bench.Record) {
	h.status.Live = true
	if rec.Leg == nil { // a log from elsewhere may leave out whose beginning or end it is
		switch rec.Event.(type) {
		case bench.LegStarted, bench.LegEnded:
			return
		}
	}
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		h.leg, h.step, h.due = "", "", true
		h.legs = map[bench.Leg]string{}
		h.say("the run has begun")
	case bench.PhaseStarted:
		if e.Phase != bench.PhaseLoad {
			h.step = ""
			h.say(string(e.Phase))
		}
	case bench.Progress:
		if e.Total > 0 {
			h.say(fmt.Sprintf("%s %d %%", e.Phase, 100*e.Done/e.Total))
		}
	case bench.LegStarted:
		h.leg, h.due = fmt.Sprintf("%s, leg %d of %d", rec.Leg.Label(), e.Number, e.Of), true
		if h.legs == nil {
			h.legs = map[bench.Leg]string{}
		}
		h.legs[*rec.Leg] = h.leg
		h.say("begins")
	case bench.StepStarted:
		h.turnTo(rec)
		h.step = fmt.Sprintf("step %d of %d: %s", e.Index+1, e.Of, e.Step.Name)
		h.say("")
	case bench.WindowClosed:
		h.turnTo(rec)
		if !e.Window.Drain {
			h.say(second(e.Window))
		}
	case bench.StepEnded:
		h.due = true
	case bench.Paused:
		h.say("paused")
	case bench.LegEnded:
		h.due, h.step = true, ""
		h.turnTo(rec)
		h.say(string(e.State))
		delete(h.legs, *rec.Leg)
	case bench.RunEnded:
		h.due, h.leg, h.step = true, "", ""
		h.status.Live = false
		h.say("the run has ended: " + string(e.State))
	}
}

// say puts together what runs and how it is.
func (h *hub) say(what string) {
	parts := slices.DeleteFunc([]string{h.leg, h.step, what}, func(part string) bool { return part == "" })
	h.status.Text = safe.Line(strings.Join(parts, " · "), 300)
}

func second(w bench.Window) string {
	text := units.Rate(w.Throughput()) + " req/s"
	if w.Succeeded > 0 {
		text += ", p50 " + units.Duration(w.P50) + ", p99 " + units.Duration(w.P99)
	}
	var failed int64
	for _, n := range w.Failed {
		failed += n
	}
	if failed > 0 {
		text += ", " + units.Count(failed) + " errors"
	}
	return text
}
