// Package compare is the page of two runs, or of the contenders of one: what 'locbench compare' prints.
package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// Compare is the page.
type Compare struct {
	source ui.Source
	dirs   [2]string // the old one first
	read   sides
	text   ui.Scroll
	size   ui.Size
	theme  *ui.Theme
}

// sides is what came of comparing two runs, or each pair of contenders of one.
type sides struct {
	runs    [2]*analysis.Run // nil until they are read
	unread  []string         // what could not be read, as sentences
	results []compare.Result
	err     error // instead of results
}

// New makes the page of the runs in the folders a and b, the older first. If both are the same, it
// compares the contenders of that run.
func New(a, b string, source ui.Source) *Compare {
	return &Compare{source: source, dirs: [2]string{a, b}, text: ui.NewScroll()}
}

// Init implements ui.Page.
func (c *Compare) Init() tea.Cmd {
	source, dirs := c.source, c.dirs
	return func() tea.Msg { return load(source, dirs) }
}

// load reads and compares both sides.
func load(source ui.Source, dirs [2]string) (s sides) {
	for i, dir := range dirs {
		if i > 0 && dir == dirs[0] {
			s.runs[1] = s.runs[0]
			break
		}
		run, trials, err := source.Load(dir)
		switch {
		case err != nil && len(trials) == 0:
			s.err = errors.Join(s.err, fmt.Errorf("%s: %w", dir, err))
		case err != nil:
			s.unread = append(s.unread, dir+": "+err.Error())
		}
		s.runs[i] = analysis.Of(run, trials)
	}
	if s.err != nil {
		return s
	}
	options := compare.Options{Floor: source.Floor(s.runs[0].Run, s.runs[1].Run, dirs[:]...)}
	with := func(a, b string) {
		r, err := compare.Compare(compare.Set{Run: s.runs[0], Contender: a}, compare.Set{Run: s.runs[1], Contender: b}, options)
		s.results, s.err = append(s.results, r), errors.Join(s.err, err)
	}
	if dirs[0] != dirs[1] {
		with("", "")
		return s
	}
	all := s.runs[0].Ordered()
	for i, a := range all {
		for _, b := range all[i+1:] {
			with(a.Label, b.Label)
		}
	}
	if len(all) < 2 {
		s.err = errors.New("the run has results of one contender only")
	}
	return s
}

// Title implements ui.Page.
func (c *Compare) Title() string { return "compare" }

// Typing implements ui.Page.
func (c *Compare) Typing() bool { return false }

// SetSize implements ui.Page.
func (c *Compare) SetSize(size ui.Size, theme *ui.Theme) {
	c.size, c.theme = size, theme
	c.fill()
}

// Update implements ui.Page.
func (c *Compare) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ui.StopMsg:
		return ui.Cmd(ui.QuitMsg{})
	case sides:
		c.read = msg
		c.fill()
	case tea.KeyPressMsg:
		switch k := ui.KeyOf(msg); {
		case k == ui.Esc || k == ui.Leave:
			return ui.Cmd(ui.BackMsg{})
		case k == ui.Copy && len(c.read.results) > 0 && c.read.err == nil:
			others := c.dirs[1:]
			if c.dirs[0] == c.dirs[1] { // two contenders of it
				one := c.read.results[0].Contenders[0]
				others = []string{one.Old, one.New}
			}
			command, err := ui.CompareCommand(c.dirs[0], others...)
			return ui.Cmd(ui.Copied(command, err, "command"))
		}
		c.text.Update(msg)
	}
	return nil
}

// Keys implements ui.Page.
func (c *Compare) Keys() ui.Keys {
	scroll, others := ui.ScrollKeys(), []key.Binding{ui.Hint("", ui.Esc, ui.Leave), ui.Hint("copy command", ui.Copy)}
	return ui.Keys{Short: append(scroll[:1:1], others...), Groups: []ui.Group{{Title: "compare", Keys: append(scroll, others...)}}}
}

// outside makes a line from outside safe to show.
func outside(s string) string { return ui.Outside(s, 2000) }

// View implements ui.Page.
func (c *Compare) View() string {
	t, right := c.theme, ""
	if len(c.read.results) > 0 && c.read.err == nil {
		right = t.Good.S(t.Glyph.Check+" comparable") + " "
		if slices.ContainsFunc(c.read.results, func(r compare.Result) bool {
			return slices.ContainsFunc(r.Contenders, func(one compare.Contender) bool { return !one.Comparable })
		}) {
			right = t.Bad.S(t.Glyph.Cross+" not comparable") + " "
		}
	}
	return ui.Ends(" "+t.Title.S("compare"), right, c.size.Width) + "\n" + c.text.Draw(t, c.size.Width, c.size.Height-1)
}

// fill sets the text: the verdicts, the sides, and what 'locbench compare' prints.
func (c *Compare) fill() {
	if c.theme == nil {
		return
	}
	c.text.SetText(c.size, func(w int) []string {
		switch {
		case c.read.err != nil:
			return c.theme.Problem("cannot compare: "+outside(c.read.err.Error()),
				"choose others in past runs: space marks a run, c compares it with another", w)
		case len(c.read.results) == 0:
			return ui.Wrap("reading "+outside(c.dirs[0])+" and "+outside(c.dirs[1])+" …", w)
		}
		return c.compared(w)
	})
}

func (c *Compare) compared(w int) (lines []string) {
	t, said := c.theme, map[string]bool{}
	for _, r := range c.read.results {
		for _, one := range r.Contenders {
			verdict, tone := one.Headline()
			if said[verdict] { // as with another pair
				continue
			}
			said[verdict] = true
			for _, line := range ui.Wrap(outside(verdict), w) {
				lines = append(lines, t.Strong.S(t.Tone(tone, line)))
			}
		}
	}
	for i, name := range []string{"old", "new"} { // as 'locbench compare' has them
		if c.dirs[0] != c.dirs[1] {
			about := c.read.runs[i].Run.Started.Format("2 Jan 15:04") + "   " + c.dirs[i]
			lines = append(lines, ui.Hang(t.Mark(i)+" "+name+"  ", outside(about), w, ui.Paint{})...)
		}
	}
	for _, note := range c.read.unread {
		lines = append(lines, ui.Hang(t.Warn.S("!")+" ", outside(note), w, t.Warn)...)
	}
	for _, r := range c.read.results {
		lines = append(lines, "")
		for _, line := range r.Lines(w, func(tone table.Tone, s string) string { return t.Tone(tone, outside(s)) }) {
			lines = append(lines, strings.Split(ansi.Hardwrap(line, w, true), "\n")...) // a long path
		}
	}
	return lines
}
