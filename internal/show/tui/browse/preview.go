package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// preview returns a summary of the folder under the cursor: results and warnings.
func (s *Screen) preview(f ui.Frame, w, h int) []string {
	l, e := f.Look, s.current()
	if e == nil || h <= 0 {
		return l.Screen(nil, w, h)
	}
	if h < 8 {
		return l.Screen(s.few(f, e, w, h), w, h)
	}
	inner := w - 4
	lines := []string{l.Cut(s.about(l, e), inner)}
	switch k := s.known[e.Dir]; {
	case e.Err != nil:
		lines = append(lines, ui.Each(l.Bad, l.Wrap(outside(l, e.Err.Error(), noteBytes), inner, h-4))...)
	case k == nil:
		lines = append(lines, l.Spin(f.Tick)+" reading")
	default:
		lines = append(lines, s.inside(l, k, inner, h-3)...)
	}
	return l.Box(outside(l, e.Dir, nameBytes), ui.Indent(lines), w, h, false)
}

func (s *Screen) few(f ui.Frame, e *results.Entry, w, h int) []string {
	l, k := f.Look, s.known[e.Dir]
	text := ""
	switch {
	case e.Err != nil:
		text = l.Bad.S(l.Cut(outside(l, e.Err.Error(), noteBytes), w))
	case k == nil:
		text = l.Spin(f.Tick) + " reading"
	case k.err != nil:
		text = l.Bad.S(l.Cut(l.Glyph.Cross+" "+outside(l, k.err.Error(), noteBytes), w))
	default:
		var parts []string
		if k.best != "" {
			parts = append(parts, "best "+outside(l, k.best, nameBytes)+" "+units.Number(k.peak)+" req/s")
		}
		if warnings := k.warnings(); len(warnings) > 0 {
			parts = append(parts, units.Plural(len(warnings), "warning")+": "+outside(l, warnings[0], noteBytes))
		}
		text = l.Cut(strings.Join(parts, "; "), w)
	}
	rule := l.Border.S(strings.Repeat(l.Glyph.Horizontal, w))
	return []string{rule, l.Cut(outside(l, e.Dir, nameBytes), w), text}
}

// about returns a line with the state, the duration and the conditions of a run.
func (s *Screen) about(l *ui.Look, e *results.Entry) string {
	if e.Err != nil {
		return l.Bad.S("unreadable")
	}
	parts := []string{state(l, e)}
	if d := e.Ended.Sub(e.Started); !e.Ended.IsZero() && d > 0 {
		parts = append(parts, "took "+units.Approx(d))
	}
	switch {
	case e.Resumed == 1:
		parts = append(parts, "resumed once")
	case e.Resumed > 1:
		parts = append(parts, fmt.Sprintf("resumed %d times", e.Resumed))
	}
	if k := s.known[e.Dir]; k != nil {
		p := k.run.Profile
		parts = append(parts, units.Plural(max(0, p.Rounds), "round"), limitsOf(l, p))
		if kind := k.run.Store.Kind; kind != "" {
			parts = append(parts, "store "+outside(l, string(kind), nameBytes))
		}
	}
	return strings.Join(parts, ", ")
}

// limitsOf returns the limits of all contenders, or those of each where they differ.
func limitsOf(l *ui.Look, p bench.Profile) string {
	if p.EqualLimits() && len(p.Contenders) > 0 {
		return limits(p.LimitsOf(p.Contenders[0]))
	}
	if len(p.Contenders) == 0 {
		return limits(p.Limits)
	}
	var each []string
	for _, sel := range p.Contenders {
		each = append(each, outside(l, sel.String(), nameBytes)+" "+p.Under(sel))
	}
	return strings.Join(each, ", ")
}

func limits(m bench.Limits) string {
	var parts []string
	if m.CPUs > 0 {
		parts = append(parts, units.CPUs(m.CPUs))
	}
	if m.Memory > 0 {
		parts = append(parts, units.Bytes(m.Memory))
	}
	return cmp.Or(strings.Join(parts, ", "), "no limits")
}

// inside returns the headline table and the warnings, in at most h lines.
func (s *Screen) inside(l *ui.Look, k *summary, w, h int) []string {
	lines := []string{""}
	if k.err != nil {
		lines = append(lines, ui.Each(l.Bad, l.Wrap(outside(l, k.err.Error(), noteBytes), w, 3))...)
	}
	shown := measure.View(measure.BrowserContenders)
	cols := []ui.Column{{Title: "contender", Left: true, Max: 34}, {Title: "rounds", Drop: 8}}
	for _, m := range shown {
		cols = append(cols, ui.Column{Title: m.Head, Drop: m.Drop})
		if m.ID == measure.Throughput {
			cols = append(cols, ui.Column{Title: "at", Left: true, Drop: 7})
		}
	}
	var rows [][]string
	for _, c := range k.contenders {
		rows = append(rows, contenderRow(l, shown, c))
	}
	if len(rows) > 0 {
		table := l.Table(cols, rows, w)
		if room := max(3, h/2); len(rows) > room {
			table = append(table[:room], l.Faint.S(fmt.Sprintf("%d more", len(rows)-room+1)))
		}
		lines = append(lines, table...)
		if n := k.run.Profile.Rounds; n < stats.MinInterval {
			lines = append(lines, l.Faint.S(l.Cut(units.Plural(max(0, n), "round")+": no ranking", w)))
		}
	} else {
		lines = append(lines, "no trial started")
	}
	warnings := k.warnings()
	if len(warnings) > 0 {
		lines = append(lines, "")
	}
	for _, warning := range warnings {
		lines = append(lines, ui.Each(l.Warn, l.Wrap("! "+outside(l, warning, noteBytes), w, 2))...)
	}
	if len(lines) > h && h > 0 {
		lines = append(lines[:h-1], l.Faint.S(l.Glyph.Ellipsis+" (enter: all)"))
	}
	return lines
}

func contenderRow(l *ui.Look, shown []measure.Shown, c stats.Contender) []string {
	row := []string{outside(l, c.Label, nameBytes), fmt.Sprintf("%d/%d", c.Complete, c.Trials)}
	for _, m := range shown {
		f := m.Contender(c)
		row = append(row, ui.ValueCell(l, m.Measure, f, l.ASCIIOnly(m.Unit.Cell(f.Value))))
		if m.ID == measure.Throughput {
			at := l.Glyph.Missing
			if p, ok := c.PeakStep(); ok {
				at = l.Cut(outside(l, p.Step.At(), nameBytes), 14)
			}
			row = append(row, at)
		}
	}
	return row
}

const maxKnown = 1000

type summary struct {
	changed    time.Time // of the entry that it was made for
	run        bench.Run
	contenders []stats.Contender
	best       string              // label of the contender with the highest peak
	peak       float64             // successes per second
	trials     []bench.TrialResult // without their steps
	err        error               // of reading the folder
}

// ask starts to summarize the folder under the cursor, or else another one in sight, one at a time.
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
		run, trials, err := src.Load(e.Dir)
		return summarized{s, e.Dir, summarize(e, run, trials, err)}
	}
}

// unknown returns the i-th shown entry if it has no summary or an outdated one, else nil.
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

func summarize(e results.Entry, run bench.Run, trials []bench.TrialResult, err error) *summary {
	k := &summary{changed: e.Changed, run: run, err: err}
	for _, of := range analysis.Of(run, trials).Contenders {
		c := of.Contender
		if p, ok := c.PeakStep(); ok && c.WhyExcluded() == "" && p.Throughput.Median > k.peak {
			k.best, k.peak = c.Label, p.Throughput.Median
		}
		k.contenders = append(k.contenders, c)
	}
	for _, trial := range trials {
		k.trials = append(k.trials, bench.TrialResult{Trial: trial.Trial, Warnings: trial.Warnings})
	}
	return k
}

// warnings returns the warnings of the run, and failures and warnings of its contenders, each once.
func (k *summary) warnings() (all []string) {
	add := func(w string) {
		if len(all) < 100 && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	for _, w := range k.run.Warnings {
		add(w.Text)
	}
	for _, c := range k.contenders {
		for _, f := range c.Failures {
			add(c.Label + ", " + f)
		}
		for _, w := range c.Warnings {
			add(c.Label + ": " + w.Text)
		}
	}
	for _, trial := range k.trials {
		for _, w := range trial.Warnings {
			add(trial.Trial.Label() + ": " + w.Text)
		}
	}
	return all
}
