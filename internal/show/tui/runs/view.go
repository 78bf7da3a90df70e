package runs

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// View implements ui.Page.
func (r *Runs) View() string {
	w, h := r.size.Width, r.size.Height-1
	if len(r.list.shown) == 0 {
		return r.title() + "\n\n" + strings.Join(ui.Wrap(r.nothing(), w), "\n")
	}
	runs, between := 4, ui.Block{}
	if r.size.Class == ui.Full {
		runs, between = 5, ui.Text(5, "")
	}
	list, preview := r.grid.Block(r.theme, 1, runs), r.preview(w)
	if list.Least+preview.Least <= h { // then it is whole before there are more runs
		list.Most = max(list.Least, min(list.Most, h-preview.Most-between.Least))
	}
	var marked ui.Block
	if e := r.list.find(r.list.marked); e != nil {
		marked = ui.Text(4, fit.Cut(fmt.Sprintf(" ◉ marked: %s %s. c compares it with the run under the cursor.",
			strings.TrimSpace(when(e)), nameOf(e)), w))
	}
	view := ui.Stack(w, h, list, between, preview, marked)
	return r.title() + "\n" + view // the title has the rows that were drawn
}

func (r *Runs) title() string {
	w, roots := r.size.Width, outside(r.options.Roots)
	left, right := " "+r.theme.Title.S("past runs"), " /: no filter "
	switch from, to, n := r.grid.Range(); {
	case !r.listed:
	case to < n || from > 1:
		left += fmt.Sprintf("   %d to %d of %d", from, to, n)
	default:
		left += fmt.Sprintf("   %d", n)
	}
	if r.list.left > 0 {
		left += fmt.Sprintf(", %s more not listed", units.Count(int64(r.list.left)))
	}
	if r.size.Class != ui.Column && roots != "" {
		left += " in " + ui.Words(roots, w/4)
	}
	if words := r.filter.View(w / 4); r.Typing() {
		right = " " + r.theme.Key.S("/") + words + " "
		left = fit.Cut(left, max(0, w-fit.Width(right)))
	} else if words != "" {
		right = " /: " + words + " "
	}
	if fit.Width(left)+fit.Width(right) > w {
		right = ""
	}
	return ui.Ends(left, right, w)
}

// nothing says why there is no run.
func (r *Runs) nothing() string {
	switch roots := outside(r.options.Roots); {
	case !r.listed:
		return " looking for runs in " + roots + " …"
	case len(r.list.entries) > 0:
		return " No match; esc clears the filter."
	default:
		return " No runs in " + roots + " yet. Runs write their results there; 'locbench tui DIR' looks in another folder."
	}
}

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

// textBytes is the most bytes of a sentence from outside that are shown.
const textBytes = 1000

// preview is what is known of the run under the cursor, in a box w cells wide.
func (r *Runs) preview(w int) ui.Block {
	const least, frame = 6, 4 // lines; cells of the box
	e, lines := r.current(), r.lines(w-frame)
	title := nameOf(e) + "  " + strings.TrimSpace(when(e))
	if dir := outside(e.Dir); fit.Width(title)+fit.Width(dir)+10 < w {
		title += "  " + dir
	}
	return ui.Block{Priority: 3, Least: min(least, len(lines)) + 2, Most: len(lines) + 2, Draw: func(_, h int) string {
		shown := lines
		if h -= 2; h > 0 && len(lines) > h {
			shown = append(lines[:h-1:h-1], r.theme.Faint.S(units.Plural(len(lines)-h+1, "more line")+": enter"))
		}
		return strings.Join(r.theme.Box(title, ui.Exact(shown, w-frame, h), w), "\n")
	}}
}

// lines are the preview in w cells: what differs from other runs of the profile, how the run ended,
// and what was run.
func (r *Runs) lines(w int) (lines []string) {
	t, e := r.theme, r.current()
	k := r.known[e.Dir]
	switch {
	case e.Err != nil:
		return t.Problem("not readable: "+ui.Outside(e.Err.Error(), textBytes), "correct or delete the folder, then f5", w)
	case k == nil:
		return []string{t.Faint.S("reading …")}
	case k.err != nil:
		lines = ui.Hang(t.Bad.S(t.Glyph.Cross)+" ", "not all could be read: "+ui.Outside(k.err.Error(), textBytes), w, t.Bad)
	}
	if k.differs != "" {
		lines = append(lines, ui.Wrap("differs from the profile: "+ui.Outside(k.differs, textBytes), w)...)
	}
	text, verdict := plain.Page(k.run, k.said, w, false)
	lines = append(lines, t.Said(text, verdict, k.said.Tone, w)...)
	return append(lines, conditions(e, k, w)...)
}

// conditions are what was run, and where.
func conditions(e *results.Entry, k *known, w int) []string {
	run, text := k.run.Run, k.said.About
	add := func(known bool, part string) {
		if known {
			text += " · " + part
		}
	}
	add(run.Profile.Runtime != "", string(run.Profile.Runtime))
	for _, n := range run.Needs {
		add(true, n.Label()+" "+string(n.From))
	}
	add(run.Machine.CPUs > 0, "on "+units.CPUs(float64(run.Machine.CPUs)))
	add(run.Machine.Load1 != "", "load "+run.Machine.Load1+" before")
	add(e.Ended.After(e.Started), "took "+units.Approx(e.Ended.Sub(e.Started)))
	add(e.Resumed > 0, "resumed "+units.Plural(e.Resumed, "time"))
	return ui.Wrap(ui.Outside(text, textBytes), w)
}
