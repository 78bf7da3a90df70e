// Package board draws a run: its header, charts and tables. The live screen adds the source of the
// events and the keys that control the run. A Board keeps only what the user looks at (tab, focus,
// zoom, scroll, trial); the run itself is a fold.State, which is handed in.
package board

import (
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// tab is one of the pages of the board.
type tab int

const (
	overview tab = iota
	steps
	contenders
	checks
	logs
	events
	tabs
)

// Board draws a fold.State and keeps the user's choices. It is used by one goroutine.
type Board struct {
	tab     tab
	span    span
	overlay bool // earlier rounds as faint lines
	focus   metric
	zoomed  bool
	cursor  float64 // in the zoomed chart: seconds of the trial
	pinned  bool    // the cursor stays at cursor; else it follows the newest point
	picked  stretch // the time that span ranged shows; empty: none was picked
	mark    mark
	shown   *bench.Trial
	pages   [tabs]pager
	step    int       // selected on the page of steps
	chosen  bool      // the user has selected the step; else it is the newest
	details bool      // show one step alone, instead of the table of steps
	below   int       // lines that the details of the step are scrolled by
	order   order     // of the contenders
	failed  bool      // the page of checks shows only failed ones
	filter  ui.Filter // of the log
	shift   int       // columns that the log is scrolled to the right

	revision uint64 // counts the changes of the fields above
	heads    []hit  // what a click on the header or a tab does
	body     drawn
	sums     sums
	spread   spread
	plot     plot // place of the zoomed chart
}

// New makes a board that shows the overview and follows the run.
func New() *Board { return &Board{filter: ui.Filter{Most: filterBytes}} }

// hit is a part of the screen that reacts to a click.
type hit struct {
	x, y, w, h int
	do         func()
}

// drawn is the part of the view under the tabs, kept until something in it changes.
type drawn struct {
	key   drawnKey
	lines []string
	hits  []hit
	top   int // first line on the screen
}

type drawnKey struct {
	state             *fold.State
	version, revision uint64
	w, h              int
	look              *ui.Look
	zone              *time.Location
}

// view is one drawing of one state.
type view struct {
	b       *Board
	l       *ui.Look
	s       *fold.State
	trial   *fold.Trial // the one shown; nil before the first
	at      time.Time   // the present for all durations
	zone    *time.Location
	tick    int
	compact bool
	full    bool // the axis names steps in full
	hits    []hit
	kinds   *errorKinds // of the trial; counted when first needed
}

// Compact views are drawn below these sizes, in cells and lines of the frame.
const compactWidth, compactHeight = 60, 15

// View draws exactly f.Height lines of f.Width cells, as at f.Now. status is a short painted text
// for the right end of the header. Clicks work only if the view begins at the top left of the
// screen.
func (b *Board) View(f ui.Frame, s *fold.State, status string) []string {
	if f.Height <= 0 {
		return nil
	}
	v := &view{
		b: b, l: f.Look, s: s, at: s.Now(f.Now), zone: f.Now.Location(), tick: f.Tick,
		compact: f.Width < compactWidth || f.Height < compactHeight,
	}
	v.trial = b.trialOf(s)
	top := v.header(f.Width, f.Height, status)
	if f.Height > 6 {
		top = append(top, v.tabLine(f.Width, len(top)))
	} else {
		b.heads = nil
	}
	top = v.l.Screen(top, f.Width, min(len(top), f.Height))
	return append(top, v.page(f.Width, f.Height-len(top), len(top))...)
}

// page returns the part below the tabs, drawn again only after an event, a key or a tick.
func (v *view) page(w, h, top int) []string {
	b := v.b
	key := drawnKey{v.s, v.s.Version, b.revision, w, h, v.l, v.zone}
	b.body.top = top
	if b.body.key == key && b.body.lines != nil && !v.waits() {
		return b.body.lines
	}
	lines := v.l.Screen(v.draw(w, h), w, h)
	b.body = drawn{key, lines, v.hits, top}
	return lines
}

func (v *view) draw(w, h int) []string {
	v.b.plot = plot{}
	if h <= 0 {
		return nil
	}
	switch {
	case v.b.tab != overview:
		return [tabs]func(w, h int) []string{
			steps: v.stepsPage, contenders: v.contendersPage, checks: v.checksPage, logs: v.logPage, events: v.eventsPage,
		}[v.b.tab](w, h)
	case v.trial == nil || len(v.trial.Steps) == 0:
		return v.phasePanel(w, h)
	case v.b.zoomed:
		return v.zoom(w, h)
	case v.compact:
		return v.small(w, h)
	}
	return v.overview(w, h)
}

// waits reports whether the page contains a clock or a spinner.
func (v *view) waits() bool {
	return v.b.tab == overview && v.s.Ended == nil && (v.trial == nil || len(v.trial.Steps) == 0)
}

// trialOf returns the trial to show: the selected one, else the running one.
func (b *Board) trialOf(s *fold.State) *fold.Trial {
	if b.shown != nil {
		if trial := s.Trial(*b.shown); trial != nil {
			return trial
		}
	}
	return s.Current
}

func (b *Board) choose(s *fold.State, d int) {
	at := slices.Index(s.Trials, b.trialOf(s))
	if at < 0 {
		return
	}
	for i := at + d; i >= 0 && i < len(s.Trials); i += d {
		if st := s.Trials[i].Result.State; st != bench.TrialPending && st != "" {
			b.show(s, s.Trials[i])
			return
		}
	}
}

func (b *Board) show(s *fold.State, trial *fold.Trial) {
	b.shown = nil
	if trial != s.Current {
		b.shown = new(trial.Result.Trial)
	}
	b.unpick()
	b.pinned, b.chosen, b.details, b.step, b.below, b.pages = false, false, false, 0, 0, [tabs]pager{}
}

// Typing reports whether the log's filter is being typed, so letters are text.
func (b *Board) Typing() bool { return b.filter.Typing }

// label returns the text of a tab: name and count. Level 0 is the longest, 3 only the digit.
func (v *view) label(t tab, level int) string {
	long := [tabs]string{"Overview", "Steps", "Contenders", "Checks", "Log", "Events"}[t]
	brief := [tabs]string{"View", "Steps", "Cont", "Check", "Log", "Ev"}[t]
	name := [4]string{long, long, brief, ""}[level]
	count := ""
	switch t {
	case steps:
		if v.trial != nil && len(v.trial.Steps) > 0 {
			count = itoa(len(v.trial.Steps))
			if n := len(v.s.Run.Profile.Steps); n > 0 && v.s.Run.Search == "" {
				count += "/" + itoa(n)
			}
		}
	case contenders:
		if n := len(v.s.Run.Profile.Contenders); n > 0 {
			count = itoa(n)
		}
	case checks:
		if v.trial != nil && len(v.trial.Result.Checks) > 0 {
			count = units.Count(int64(len(v.trial.Result.Checks)))
		}
	case events:
		if n := len(v.s.Diary); n > 0 && level == 0 {
			count = units.Count(int64(n))
		}
	}
	text := strings.TrimSpace(itoa(int(t)+1) + " " + name)
	if count != "" && level <= 1 {
		text += " " + count
	}
	if t == checks && v.trial != nil && level <= 2 {
		if _, failed, _ := v.trial.Checks(); failed > 0 {
			text += " " + v.l.Glyph.Cross + itoa(failed)
		}
	}
	return text
}

func (v *view) tabLine(w, y int) string {
	texts := make([]string, tabs)
	for level := range 4 {
		total := 0
		for t := range tabs {
			l := level
			if level == 3 && t == v.b.tab {
				l = 0
			}
			texts[t] = v.label(t, l)
			total += ui.Width(texts[t]) + 2
		}
		if total <= w {
			break
		}
	}
	line, ends := ui.Tabs(v.l, texts, int(v.b.tab))
	v.b.heads = v.b.heads[:0]
	x := 0
	for i, end := range ends {
		v.b.heads = append(v.b.heads, hit{x, y, end - x, 1, func() { v.b.turn(tab(i)) }})
		x = end
	}
	return line
}

func (b *Board) turn(t tab) {
	b.tab = (t%tabs + tabs) % tabs
	b.filter.Typing = false
}
