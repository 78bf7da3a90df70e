// Package compare is the screen that compares two runs, or two contenders of one run: other
// differences, their results with verdicts, and the steps. The comparison itself (verdicts.go,
// steps.go, differences.go) is separate from the drawing. The screen reads folders only through its
// Source, which package screens implements.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	compared "github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// Source reads results folders. It blocks: it is called in commands.
type Source interface {
	Load(dir string) (bench.Run, []bench.TrialResult, error)
	// Floor returns the noise floor of the machine of both runs, nil where it is not known.
	Floor(a, b bench.Run, dirs ...string) *compared.Floor
}

// tab is a page of the screen.
type tab int

const (
	results tab = iota
	steps
	charts
	contenders
	differences
	tabs
)

var tabNames = [tabs]string{"results", "steps", "charts", "contenders", "differences"}

// run is one of the two sides.
type run struct {
	dir   string
	of    *analysis.Run
	tiers map[string]int // tier of each contender by label, from 1; none with too few rounds
	note  string         // error of reading a part of it
}

// pairing is a choice of a contender on either side; -1 for none.
type pairing struct{ a, b int }

// Screen compares two results folders. It implements ui.Screen.
type Screen struct {
	source  Source
	dirs    [2]string
	loading bool
	err     error
	a, b    run
	rows    []pairing // every contender of either side
	heads   []Values  // headline results of the rows
	floor   *compared.Floor
	row     int
	chosen  pairing
	tab     tab
	scroll  int
	most    int // lines that can be scrolled, as last drawn
	page    int
	ends    []int // ends of the names of the tabs, in cells, as last drawn
	tabLine int
	set     *comparison // of the chosen pairing
}

type comparison struct {
	a, b   analysis.Contender
	head   Values
	steps  []StepPair
	differ []compared.Difference
	settle string // what settles inconclusive measures soonest
}

// New makes the comparison of the runs in the folders a and b. If both are the same, it compares
// the contenders of that run.
func New(a, b string, source Source) *Screen {
	return &Screen{source: source, dirs: [2]string{a, b}}
}

type loaded struct {
	screen *Screen
	a, b   run
	floor  *compared.Floor
	err    error
}

// Init implements ui.Screen.
func (s *Screen) Init() tea.Cmd {
	s.loading = true
	src, dirs := s.source, s.dirs
	return func() tea.Msg {
		a, err := load(src, dirs[0])
		b := a
		if dirs[1] != dirs[0] {
			var other error
			b, other = load(src, dirs[1])
			err = errors.Join(err, other)
		}
		if err != nil {
			return loaded{screen: s, a: a, b: b, err: err}
		}
		floor := src.Floor(a.of.Run, b.of.Run, dirs[:]...)
		a.tiers, b.tiers = tiersOf(a, floor), tiersOf(b, floor)
		return loaded{s, a, b, floor, nil}
	}
}

func load(src Source, dir string) (run, error) {
	r, trials, err := src.Load(dir)
	out := run{dir: dir, of: analysis.Of(r, trials)}
	if len(trials) == 0 {
		return out, fmt.Errorf("%s: %w", dir, cmp.Or(err, errors.New("no trial started")))
	}
	if err != nil {
		out.note = err.Error()
	}
	return out, nil
}

// Title implements ui.Screen.
func (s *Screen) Title() string { return "compare" }

// Busy implements ui.Screen.
func (s *Screen) Busy() bool { return s.loading }

// Typing implements ui.Screen.
func (s *Screen) Typing() bool { return false }

// Keys implements ui.Screen.
func (s *Screen) Keys() []ui.Key {
	back := ui.Key{Name: "esc", Help: "back"}
	if s.set == nil {
		return []ui.Key{back}
	}
	return []ui.Key{
		{Name: "tab", Help: "page", Long: "next page; 1-5 go to a page"},
		{Name: "↑/↓", Help: "contender", Long: "next contender on both sides"},
		{Name: "a/b", Help: "side A, B", Long: "next contender on side A or B (A, B: previous)"},
		{Name: "x", Help: "swap", Long: "swap the sides"},
		back,
		{Name: "pgup/pgdn", Help: "scroll", Long: "scroll the page"},
	}
}

// Update implements ui.Screen.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case loaded:
		if msg.screen == s {
			s.loading, s.a, s.b, s.floor, s.err = false, msg.a, msg.b, msg.floor, msg.err
			s.begin()
		}
	case tea.KeyPressMsg:
		return s.key(msg.String())
	case tea.MouseWheelMsg:
		s.move(3 * ui.Wheel(msg))
	case tea.MouseClickMsg:
		i := slices.IndexFunc(s.ends, func(end int) bool { return msg.X < end })
		if msg.Button == tea.MouseLeft && s.set != nil && msg.Y == s.tabLine && msg.X >= 0 && i >= 0 {
			s.turn(tab(i))
		}
	}
	return nil
}

// begin lists the contenders of both sides and selects the first pair that can be compared.
func (s *Screen) begin() {
	s.rows, s.heads, s.row, s.set = nil, nil, 0, nil
	if s.err != nil {
		return
	}
	place := func(r run, label string) int {
		return slices.IndexFunc(r.of.Contenders, func(c analysis.Contender) bool { return c.Label == label })
	}
	for i, c := range s.a.of.Contenders {
		s.rows = append(s.rows, pairing{i, place(s.b, c.Label)})
	}
	for i, c := range s.b.of.Contenders {
		if place(s.a, c.Label) < 0 {
			s.rows = append(s.rows, pairing{-1, i})
		}
	}
	runs := compared.Differences(s.a.of.Run, s.b.of.Run)
	for _, r := range s.rows {
		s.heads = append(s.heads, Headline(at(s.a.of.Contenders, r.a), at(s.b.of.Contenders, r.b), runs, s.floor))
	}
	both := func(p pairing) bool {
		return at(s.a.of.Contenders, p.a).Peak >= 0 && at(s.b.of.Contenders, p.b).Peak >= 0
	}
	s.row = max(0, slices.IndexFunc(s.rows, both))
	first := s.rows[s.row]
	if !both(first) { // no contender has results on both sides: take the first with results on each side
		measured := func(c analysis.Contender) bool { return c.Peak >= 0 }
		first = pairing{max(0, slices.IndexFunc(s.a.of.Contenders, measured)),
			max(0, slices.IndexFunc(s.b.of.Contenders, measured))}
	}
	s.choose(first)
	if s.dirs[0] == s.dirs[1] && len(s.b.of.Contenders) > 1 {
		s.choose(pairing{0, 1})
	}
}

// choose computes the comparison of a pair.
func (s *Screen) choose(p pairing) {
	if s.set != nil && s.chosen == p {
		return
	}
	s.chosen, s.scroll = p, 0
	c := &comparison{a: at(s.a.of.Contenders, p.a), b: at(s.b.of.Contenders, p.b)}
	runs := compared.Differences(s.a.of.Run, s.b.of.Run)
	c.head, c.steps = Headline(c.a, c.b, runs, s.floor), StepPairs(c.a, c.b)
	if p.a >= 0 && p.b >= 0 {
		c.settle = compared.Pair(c.a, c.b, runs, compared.Options{Floor: s.floor}).Settle
	}
	c.differ = append(ours(compared.TrialDifferences(c.a.Results, c.b.Results)), Differences(s.a.of.Run, s.b.of.Run)...)
	compared.ByWeight(c.differ)
	broken := slices.ContainsFunc(c.differ, func(d compared.Difference) bool { return d.Weight == compared.Incomparable })
	stepVerdicts(c.steps, c.a, c.b, broken, s.floor)
	s.set = c
}

func at(cs []analysis.Contender, i int) analysis.Contender {
	if i >= 0 && i < len(cs) {
		return cs[i]
	}
	return analysis.Contender{Contender: stats.Contender{Peak: -1}}
}

func (s *Screen) key(name string) tea.Cmd {
	if name == "esc" || name == "q" {
		return ui.Cmd(ui.Back{})
	}
	if s.set == nil {
		return nil
	}
	switch name {
	case "tab", "right", "l":
		s.turn((s.tab + 1) % tabs)
	case "shift+tab", "left", "h":
		s.turn((s.tab + tabs - 1) % tabs)
	case "1", "2", "3", "4", "5":
		s.turn(tab(name[0] - '1'))
	case "up", "k":
		s.next(-1)
	case "down", "j":
		s.next(1)
	case "a", "A":
		s.choose(pairing{around(s.chosen.a, len(s.a.of.Contenders), name == "A"), s.chosen.b})
	case "b", "B":
		s.choose(pairing{s.chosen.a, around(s.chosen.b, len(s.b.of.Contenders), name == "B")})
	case "x":
		s.swap()
	case "pgup":
		s.move(-max(1, s.page-1))
	case "pgdown", "space":
		s.move(max(1, s.page-1))
	case "home", "g":
		s.scroll = 0
	case "end", "G":
		s.move(1 << 30)
	}
	return nil
}

func (s *Screen) turn(t tab) { s.tab, s.scroll = t, 0 }

func (s *Screen) move(by int) { s.scroll = max(0, min(s.scroll+by, s.most-s.page)) }

func (s *Screen) next(by int) {
	s.row = (s.row + by + len(s.rows)) % len(s.rows)
	s.choose(s.rows[s.row])
}

func around(i, n int, back bool) int {
	if n == 0 {
		return -1
	}
	if back {
		return (max(i, 0) + n - 1) % n
	}
	return (i + 1) % n
}

func (s *Screen) swap() {
	p, row := s.chosen, s.rows[s.row]
	s.a, s.b = s.b, s.a
	s.dirs[0], s.dirs[1] = s.dirs[1], s.dirs[0]
	s.begin()
	if i := slices.Index(s.rows, pairing{row.b, row.a}); i >= 0 {
		s.row = i
	}
	s.choose(pairing{p.b, p.a})
}
