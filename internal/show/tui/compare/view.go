package compare

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// textBytes is the most bytes of a line from outside that are shown.
const textBytes = 2000

func outside(s string) string { return ui.Outside(s, textBytes) }

// sideNames are the names of the sides, as 'locbench compare' has them.
var sideNames = [...]string{"old", "new"}

// View implements ui.Page.
func (c *Compare) View() string {
	w, h := c.size.Width, c.size.Height-1
	body := ""
	switch {
	case c.read.err != nil:
		problem := ui.Problem{Head: "cannot compare: " + outside(c.read.err.Error()),
			Rows: []ui.ProblemRow{{Name: ui.Remedy, Text: "choose others in past runs: space marks a run, c compares it with another"}}}
		body = strings.Join(problem.Lines(c.theme, w), "\n")
	case c.shown() == nil:
		body = strings.Join(ui.Wrap(" reading "+outside(c.read.dirs[0])+" and "+outside(c.read.dirs[1])+" …", w), "\n")
	default:
		body = c.text.Draw(c.theme, w, h)
	}
	return c.title() + "\n" + body
}

// title names the page, and says of what is shown as much as there is room for.
func (c *Compare) title() string {
	w, t, left := c.size.Width, c.theme, " "+c.theme.Title.S("compare")
	one := c.shown()
	if one == nil {
		return left
	}
	right := t.Good.S(t.Glyph.Check+" comparable") + " "
	if !one.Comparable {
		right = t.Bad.S(t.Glyph.Cross+" not comparable") + " "
	}
	add := func(is bool, part string) {
		if is && fit.Width(left)+fit.Width(part)+fit.Width(right)+5 <= w {
			right = part + "   " + right
		}
	}
	which, n := "contender", len(c.read.results)
	if c.read.one() {
		which = "pair"
	}
	add(n > 1, fmt.Sprintf("%s %d of %d", which, c.at+1, n))
	return ui.Ends(left, right, w)
}

// fill sets the text: the verdict, the sides, and what 'locbench compare' prints.
func (c *Compare) fill() {
	one := c.shown()
	if one == nil || c.theme == nil {
		return
	}
	t, w, margin := c.theme, c.size.Width-2, " "
	if c.size.Class == ui.Column {
		w, margin = c.size.Width, ""
	}
	verdict, tone := one.Headline()
	var lines []string
	for _, line := range ui.Wrap(outside(verdict), w) {
		lines = append(lines, t.Strong.S(t.Tone(tone, line)))
	}
	for i, name := range sideNames {
		about := []string{one.Old, one.New}[i]
		if !c.read.one() {
			about = c.read.runs[i].Run.Started.Format("2 Jan 15:04")
		}
		lines = append(lines, ui.Hang(t.Mark(i)+" "+name+"  ", outside(about+"   "+c.read.dirs[i]), w, ui.Paint{})...)
	}
	for _, note := range c.read.unread {
		lines = append(lines, ui.Hang(t.Warn.S("!")+" ", outside(note), w, t.Warn)...)
	}
	lines = append(lines, "")
	for _, line := range c.read.results[c.at].Lines(w, func(tone table.Tone, s string) string { return t.Tone(tone, outside(s)) }) {
		lines = append(lines, strings.Split(ansi.Hardwrap(line, w, true), "\n")...) // a long path
	}
	for i := range lines {
		lines[i] = margin + lines[i]
	}
	c.text.SetContentLines(lines)
}
