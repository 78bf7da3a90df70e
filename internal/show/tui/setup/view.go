package setup

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/secret"
)

// line is a line of the form, with the name of its field.
type line struct{ text, field string }

// View implements ui.Page.
func (s *Setup) View() string {
	w, h := s.size.Width, s.size.Height
	if s.size.Class != ui.Full {
		return ui.Stack(w, h, ui.Text(2, s.header(w)), s.formBlock(w), ui.Text(1, s.button(w)), s.help(w), ui.Text(3, s.command(w, 1)...))
	}
	left := func(w, h int) string {
		return ui.Stack(w, h, ui.Text(2, ""), s.formBlock(w), ui.Text(3, ""), ui.Text(1, s.button(w)), ui.Text(4, ""), s.help(w))
	}
	right := func(w, h int) string {
		return ui.Stack(w, h, ui.Text(1, ""), ui.Text(1, s.steps(w, 16)...), ui.Text(2, s.contenders(w, 16)...))
	}
	command := append([]string{rule(s.theme, "the same as a command", "y: copy", w)}, s.command(w, 3)...)
	return ui.Stack(w, h, ui.Text(1, s.header(w)),
		ui.Block{Priority: 3, Least: 10, Most: ui.Rest, Draw: ui.NextTo(left, right, min(w/2, 78))}, ui.Text(2, command...))
}

// rule is a line with a title, one cell from the left.
func rule(t *ui.Theme, title, right string, w int) string {
	return " " + t.Rule(t.Title.S(title), t.Faint.S(right), w-2)
}

// header says where this is and whether the run can start.
func (s *Setup) header(w int) string {
	t, f := s.theme, &s.form
	where, changed := t.Title.S(" locbench › set up"), 0
	for _, at := range f.shown() {
		if f.changed(at) {
			changed++
		}
	}
	if changed > 0 {
		where += t.Warn.S(fmt.Sprintf("  *%d changed", changed))
	}
	ready := t.Good.S(t.Glyph.Check + " ready: " + f.extent())
	switch {
	case f.profiles == nil:
		ready = t.Faint.S("reading the profile")
	case f.err != nil:
		ready = t.Bad.S(t.Glyph.Cross + " a mistake")
	case s.size.Class == ui.Column:
		ready = t.Good.S(t.Glyph.Check + " ready")
	}
	if fit.Width(where)+fit.Width(ready)+3 > w {
		where = ""
	}
	return ui.Ends(where, ready+" ", w)
}

// formBlock is the form without its button. Of too many lines those around the focus are shown.
func (s *Setup) formBlock(w int) ui.Block {
	s.lines = nil
	for _, at := range s.form.shown() {
		if at.name != fieldStart {
			s.addField(at, w)
		}
	}
	var texts []string
	first, last := 0, 0
	for i, l := range s.lines {
		texts = append(texts, l.text)
		if l.field == s.at && s.lines[first].field != s.at {
			first = i
		}
		if l.field == s.at {
			last = i
		}
	}
	n := len(texts)
	return ui.Block{Priority: 1, Least: min(n, max(1, s.size.Height-2)), Most: n, Draw: func(w, h int) string {
		s.scroll.SetContentLines(texts)
		room := h
		if h < n && h > 3 {
			room-- // for the line that says where this is
		}
		if s.at == fieldStart {
			first, last = n-1, n-1
		}
		from := ui.Window(ui.Window(s.scroll.YOffset(), last, n, room), first, n, room)
		s.scroll.SetHeight(room)
		s.scroll.SetYOffset(from)
		return s.scroll.Draw(s.theme, w, h)
	}}
}

// labelWidth has room for the longest label.
const labelWidth = 13

// addField adds the lines of a field. The first of a group has its name.
func (s *Setup) addField(at field, w int) {
	t, f := s.theme, &s.form
	group := strings.ToUpper(at.group)
	if n := len(s.lines); n > 0 && f.field(s.lines[n-1].field).group == at.group {
		group = ""
	}
	margin, cursor := "", "  "
	switch {
	case s.size.Class == ui.Compact:
		margin = " " + t.Title.S(fit.Left(group, 8))
	case s.size.Class == ui.Full && group != "":
		if len(s.lines) > 0 {
			s.lines = append(s.lines, line{})
		}
		s.lines = append(s.lines, line{" " + t.Title.S(group), ""})
	}
	label, star := fit.Left(at.label, labelWidth), " "
	if at.name == s.at {
		cursor, label = t.Accent.S(t.Glyph.Cursor)+" ", t.Accent.S(label)
	}
	if f.changed(at) {
		star = t.Warn.S("*")
	}
	head := margin + cursor + label + star
	s.lines = append(s.lines, line{head + s.value(at, w-fit.Width(head)), at.name})
	if where, text := f.mistake(); where == at.name && text != "" {
		for _, text := range s.problem(text, strings.Repeat(" ", fit.Width(margin)+4), w) {
			s.lines = append(s.lines, line{text, at.name})
		}
	}
}

func (s *Setup) problem(text, indent string, w int) []string {
	return ui.Hang(indent+s.theme.Bad.S(s.theme.Glyph.Cross)+" ", text, w-1, s.theme.Bad)
}

// value is the value of a field in w cells, and at the right the profile's, if there is room.
func (s *Setup) value(at field, w int) string {
	t, f := s.theme, &s.form
	empty := cmp.Or(map[string]string{"cpu-set": "all"}[at.name], "none")
	if at.need != "" {
		empty = "default"
	}
	value := cmp.Or(f.value(at), empty)
	if !f.loaded && at.name != fieldProfile {
		value = units.Missing
	}
	value = ui.Words(ui.Outside(secret.Masker{}.Keyed(value), 500), w-1)
	if at.name == s.at && len(f.choices(at)) > 0 && fit.Width(value)+5 <= w {
		value = t.Key.S("‹ ") + value + t.Key.S(" ›")
	}
	note := ""
	switch {
	case at.name == fieldProfile:
		note = ui.Outside(f.base.Title, 200)
	case at.name == fieldContenders:
		note = f.unreadable
	case at.name == "rounds" && f.value(at) == "" && f.plan.Rounds > 0:
		note = units.Plural(f.plan.Rounds, "round")
	case f.changed(at) && f.preset(at) != "":
		note = "profile: " + ui.Outside(secret.Masker{}.Keyed(f.preset(at)), 60)
	}
	if s.size.Class != ui.Column && note != "" && fit.Width(value)+fit.Width(note)+2 <= w {
		return ui.Ends(value, t.Faint.S(note)+" ", w)
	}
	return value
}

// button is the last line of the form: with the assumed time, or a mistake in the whole.
func (s *Setup) button(w int) string {
	t := s.theme
	margin := map[ui.Class]int{ui.Compact: 9}[s.size.Class]
	cursor, label := "  ", fit.Left("[ Start ]", labelWidth)
	if s.at == fieldStart {
		cursor, label = t.Accent.S(t.Glyph.Cursor)+" ", t.Accent.S(label)
	}
	head, words := strings.Repeat(" ", margin)+cursor+label+" ", ""
	switch where, text := s.form.mistake(); {
	case text != "" && where == fieldStart:
		words = t.Bad.S(ui.Words(text, w-fit.Width(head)-1))
	case text == "" && s.form.loaded:
		words = t.Faint.S(s.form.took())
	}
	return head + words
}

// command is the command that does the same, in at most n lines.
func (s *Setup) command(w, n int) (out []string) {
	lines := ui.Hang(s.theme.Faint.S(" $ "), ui.Outside(s.form.choice.shown(), 4000), w-1, ui.Paint{})
	if len(lines) > n {
		lines[n-1] = ui.Words(lines[n-1]+" …", w-1)
	}
	return lines[:min(n, len(lines))]
}

// help is the meaning of the field in focus, or the whole of the mistake in all.
func (s *Setup) help(w int) ui.Block {
	at := s.form.field(s.at)
	lines := append([]string{rule(s.theme, at.label, "", w)}, ui.Hang(" ", at.help, w-1, ui.Paint{})...)
	if where, text := s.form.mistake(); text != "" && where == fieldStart {
		lines = append(lines[:1], s.problem(text, " ", w)...)
	}
	return ui.Text(5, lines...)
}

// panel is at most some lines under a title, and an empty one. Those beyond them are counted.
func (s *Setup) panel(title, right string, lines []string, w, most int) (out []string) {
	if len(lines) == 0 {
		return nil
	}
	if n := len(lines); n > most {
		lines = append(lines[:most-1:most-1], s.theme.Faint.S(fmt.Sprintf("… %d more lines", n-most+1)))
	}
	out = append(out, rule(s.theme, title, right, w))
	for _, line := range lines {
		out = append(out, "   "+line)
	}
	return append(out, "")
}

// steps are the steps of a trial, each with its time. A repeated step is one line.
func (s *Setup) steps(w, most int) []string {
	var lines []string
	steps, times, wide := s.form.plan.Steps, 0, 0
	for _, step := range steps {
		wide = min(max(wide, fit.Width(ui.Outside(step.Title(), 70))), w-16)
	}
	for i, step := range steps {
		if times++; i+1 < len(steps) && steps[i+1] == step {
			continue
		}
		took := units.Length(step.Duration)
		if times > 1 {
			took = fmt.Sprintf("%d × %s", times, took)
		}
		times = 0
		lines = append(lines, fit.Exact(ui.Outside(step.Title(), 70), wide)+"  "+s.theme.Faint.S(took))
	}
	return s.panel("steps of a trial", units.Length(s.form.plan.LoadDuration()), lines, w, most)
}

// contenders are the selected ones, with what they are.
func (s *Setup) contenders(w, most int) (out []string) {
	if s.form.choice.Set.Given(fieldTarget) {
		return nil
	}
	var lines []string
	selected, all, wide := s.form.selected(), s.form.contenders(), 0
	for _, sel := range selected {
		wide = min(max(wide, fit.Width(ui.Outside(sel.String(), 40))), w/2)
	}
	for i, sel := range selected {
		name := fit.Exact(ui.Outside(sel.String(), 40), wide)
		lines = append(lines, name+"  "+s.theme.Faint.S(ui.Words(all[i].about, w-wide-6)))
	}
	right := fmt.Sprintf("%d selected of %d; enter: list", len(selected), len(all))
	return s.panel("contenders", right, lines, w, most)
}
