package browse

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/results"
	"locbench/internal/stats"
)

// maxKnown bounds the summaries that are kept.
const maxKnown = 1000

// summary is what the files of the legs tell of a folder.
type summary struct {
	changed    time.Time // of the entry that it was made for
	run        bench.Run
	contenders []stats.Contender
	best       string  // label of the contender with the highest peak
	peak       float64 // successes per second
	warnings   []string
	err        error // what could not be read
}

// ask begins to summarise the folder under the cursor, or else one that is in sight and not known
// yet; one at a time.
func (s *Screen) ask() tea.Cmd {
	if s.asking != "" || !s.listed {
		return nil
	}
	next := s.unknown(s.cursor)
	for i := s.from; next == nil && i < min(len(s.shown), s.from+max(1, s.rows())); i++ {
		next = s.unknown(i)
	}
	if next == nil {
		return nil
	}
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	e, src := *next, s.options.Source
	s.asking = e.Dir
	return func() tea.Msg {
		run, legs, err := src.Load(e.Dir)
		return summarised{s, e.Dir, summarise(e, run, legs, err)}
	}
}

// unknown is the entry at i of those shown if it has no summary, or one of an earlier state.
func (s *Screen) unknown(i int) *results.Entry {
	if i < 0 || i >= len(s.shown) {
		return nil
	}
	e := &s.entries[s.shown[i]]
	if k := s.known[e.Dir]; e.Err != nil || k != nil && k.changed.Equal(e.Changed) {
		return nil
	}
	return e
}

func summarise(e results.Entry, run bench.Run, legs []bench.LegResult, err error) *summary {
	k := &summary{changed: e.Changed, run: run, err: err, contenders: stats.Summarise(legs, run.Profile.PriceVCPUHr)}
	add := func(w string) {
		if len(k.warnings) < 100 && !slices.Contains(k.warnings, w) {
			k.warnings = append(k.warnings, w)
		}
	}
	for _, w := range run.Warnings {
		add(w.Text)
	}
	for _, c := range k.contenders {
		for i := range c.Steps {
			c.Steps[i].Latency.HDR = "" // large, and nobody merges it here
		}
		if p, ok := c.PeakStep(); ok && p.Throughput.Median > k.peak {
			k.best, k.peak = c.Label, p.Throughput.Median
		}
		for _, f := range c.Failures {
			add(c.Label + ", " + f)
		}
		for _, w := range c.Warnings {
			add(c.Label + ": " + w)
		}
	}
	for _, leg := range legs {
		for _, w := range leg.Warnings {
			add(leg.Leg.Label() + ": " + w.Text)
		}
	}
	return k
}
