package runs

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// outside makes a name from outside safe to show.
func outside(s string) string { return strings.TrimSpace(ui.Outside(s, 200)) }

// dated is the form of the start of a run, always of the same width.
const dated = "_2 Jan 15:04"

func when(e *results.Entry) string { return e.Time().Format(dated) }

// nameOf is the profile of a run, or the folder that cannot be read.
func nameOf(e *results.Entry) string {
	if e.Err != nil {
		return outside(filepath.Base(e.Dir))
	}
	return outside(e.Profile)
}

// contenders names as many contenders as fit, one at least: "a, b, +2".
func contenders(e *results.Entry, w int) string {
	for n := len(e.Contenders); n > 0; n-- {
		text := outside(strings.Join(e.Contenders[:n], ", "))
		if rest := len(e.Contenders) - n; rest > 0 {
			text += fmt.Sprintf(", +%d", rest)
		}
		if fit.Width(text) <= w || n == 1 {
			return fit.Cut(text, w)
		}
	}
	return ""
}

// fill sets the rows of the list. The first line of a run says when, what and how it ended, the
// second the options or a note, and what has changed.
func (r *Runs) fill() {
	var t table.Table
	names, wide := 0, 0 // widths of the name of the profile, and of the contenders next to it
	for _, e := range r.list.shown {
		names = max(names, min(fit.Width(nameOf(e)), 14))
	}
	switch r.size.Class {
	case ui.Full:
		wide = 25 + min(20, max(0, r.size.Width-120)/4)
	case ui.Compact:
		names, wide = 20, -2 // it has the contenders too
	}
	room := r.size.Width - 22 - names - wide // of cursor, mark and time, and the gaps
	if r.size.Class == ui.Column {
		room = r.size.Width - 12
	}
	t.Columns = make([]table.Column, 4)
	for i := range t.Columns {
		t.Columns[i].Left = true
	}
	for _, e := range r.list.shown {
		mark := "  "
		if e.Dir == r.list.marked {
			mark = "◉ "
		}
		sign, text := r.ending(e)
		since, differs := "", ""
		if k := r.known[e.Dir]; k != nil {
			since, differs = outside(k.since), outside(k.differs)
		}
		at, name, end := mark+when(e), ui.Words(nameOf(e), names), sign+" "+ui.Words(text, room-2)
		since = r.theme.Faint.S("  " + ui.Words(since, room-2))
		switch r.size.Class {
		case ui.Full:
			t.Add(at, name, contenders(e, wide), end)
			t.Add("", "", ui.Words(differs, wide), since)
		case ui.Compact:
			t.Add(at, name, end)
			t.Add("", contenders(e, names), since)
		default:
			n := len(at) - len("15:04")
			t.Add(at[:n-1], sign+" "+ui.Words(nameOf(e)+" "+contenders(e, 20), room-2))
			t.Add("  "+at[n:], ui.Words(text, room))
		}
	}
	t.Columns = t.Columns[:2+int(r.size.Class)]
	r.grid.Set(t)
}

// ending says how a run ended: a sign, since color alone is not enough, and a sentence.
func (r *Runs) ending(e *results.Entry) (sign, text string) {
	t, k := r.theme, r.known[e.Dir]
	progress := fmt.Sprintf("%s, %d of %s", stateOf(e), e.Complete, units.Plural(e.Trials, "trial"))
	verdict, failures := fit.Ellipsis, ""
	if k != nil {
		verdict, _, _ = strings.Cut(outside(k.said.Verdict), ". ")
		verdict = strings.TrimSuffix(verdict, ".")
		if k.said.Failed && len(e.Contenders) > 1 {
			failures = outside(k.said.Failures) + "; "
		}
	}
	switch {
	case e.Err != nil:
		return t.Bad.S(t.Glyph.Cross), outside(e.Err.Error())
	case e.Live:
		return t.Title.S(t.Glyph.Run), progress
	case len(e.Failed) > 0, k != nil && k.said.Failed && !resumable(e):
		return t.Bad.S(t.Glyph.Cross), failures + verdict
	case resumable(e):
		return t.Warn.S(t.Glyph.Skip), progress + "; " + verdict
	}
	return t.Good.S(t.Glyph.Check), verdict
}
