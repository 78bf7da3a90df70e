package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/secret"
)

// line is a line of the form, with the name of its field.
type line struct{ text, field string }

// View implements ui.Page.
func (s *Setup) View() string {
	w, h := s.size.Width, s.size.Height
	if s.over != nil {
		return s.over.view(s.theme, w, h)
	}
	if s.size.Class != ui.Full {
		var last []string
		if runs := (panels{&s.form, s.theme, 1000}).runs(); s.size.Class == ui.Compact && len(runs) > 0 {
			last = []string{rule(s.theme, "last run", "b: all", w), " " + ui.Words(runs[0][0], w-2)}
		}
		view, tops := ui.Stack(w, h, ui.Text(2, s.header(w)), s.formBlock(w, h-2), s.help(w), ui.Text(6, last...),
			ui.Text(3, s.command(w, 1)...))
		s.top = tops[1]
		return view
	}
	var inner []int
	left := func(w, h int) (view string) {
		view, inner = ui.Stack(w, h, ui.Text(2, ""), s.formBlock(w, h-1), ui.Text(3, ""), s.help(w))
		return view
	}
	right := func(w, h int) string {
		view, _ := ui.Stack(w, h, panels{&s.form, s.theme, w - 4}.blocks(h)...)
		return view
	}
	command := append([]string{rule(s.theme, "the same as a command", "y: copy", w)}, s.command(w, 3)...)
	view, outer := ui.Stack(w, h, ui.Text(1, s.header(w)),
		ui.Block{Priority: 3, Least: 10, Most: ui.Rest, Draw: ui.NextTo(left, right, s.left())}, ui.Text(2, command...))
	s.top = outer[1] + inner[1]
	return view
}

// left is the width of the form.
func (s *Setup) left() int {
	if s.size.Class == ui.Full {
		return min(s.size.Width/2, 78)
	}
	return s.size.Width
}

// rule is a line with a title, one cell from the left.
func rule(t *ui.Theme, title, right string, w int) string {
	return " " + t.Rule(t.Title.S(title), t.Faint.S(right), w-2)
}

// header says where this is and whether the run can start.
func (s *Setup) header(w int) string {
	t, f := s.theme, &s.form
	where := t.Title.S(" locbench › set up")
	if n := f.changes(); n > 0 {
		where += t.Warn.S(fmt.Sprintf("  *%d changed", n))
	}
	ready := t.Good.S(t.Glyph.Check + " ready: " + f.extent())
	bad := 0
	for _, p := range f.problems() {
		if p.bad {
			bad++
		}
	}
	switch {
	case !f.loaded && f.profiles == nil:
		ready = t.Faint.S("reading the profile")
	case bad > 0:
		ready = t.Bad.S(t.Glyph.Cross + " " + units.Plural(bad, "problem"))
	case s.size.Class == ui.Column:
		ready = t.Good.S(t.Glyph.Check + " ready")
	}
	if fit.Width(where)+fit.Width(ready)+3 > w {
		where = ""
	}
	return ui.Ends(where, ready+" ", w)
}

// formBlock is the form with its button. Of too many lines those around the focus are shown; the
// button and the warning before it stay.
func (s *Setup) formBlock(w, most int) ui.Block {
	var all []line
	n, problems := 1, s.form.problems()
	end := 0 // the first line that stays
	for _, field := range s.form.shown() {
		if field.Name == fieldStart {
			end = len(all)
			all = s.addWarning(all, w)
		}
		all, n = s.addField(all, field, problems, n, w)
	}
	return ui.Block{Priority: 1, Least: min(len(all), max(1, most)), Most: len(all), Draw: func(_, h int) string {
		last := all[max(end, len(all)-h):]
		s.inSight = append(s.window(all[:end], h-len(last)), last...)
		var text []string
		for _, l := range s.inSight {
			text = append(text, l.text)
		}
		return strings.Join(text, "\n")
	}}
}

// window returns the part of the form around the focus, in h lines.
func (s *Setup) window(all []line, h int) []line {
	n, room := len(all), max(1, h-1)
	switch {
	case h <= 0:
		return nil
	case n <= h:
		return slices.Clip(all)
	}
	first, last := n-1, n-1 // where the button has the focus
	if i := slices.IndexFunc(all, func(l line) bool { return l.field == s.at }); i >= 0 {
		for first, last = i, i; last+1 < n && all[last+1].field == s.at; last++ {
		}
	}
	s.from = ui.Window(ui.Window(s.from, last, n, room), first, n, room)
	shown := slices.Clip(all[s.from : s.from+room])
	if h > 1 {
		text := fmt.Sprintf("  lines %d to %d of %d", s.from+1, s.from+room, n)
		shown = append(shown, line{s.theme.Faint.S(text), ""})
	}
	return shown
}

// labelWidth has room for the longest label.
const labelWidth = 13

// addField adds the lines of a field with its problems, whose fixes have keys from n on, and
// returns the key of the next fix. The first field of a group has its name.
func (s *Setup) addField(all []line, field Field, problems []problem, n, w int) (more []line, next int) {
	t, f := s.theme, &s.form
	group := strings.ToUpper(field.Group)
	if n := len(all); group != "" && n > 0 && f.field(all[n-1].field).Group == field.Group {
		group = ""
	}
	margin, cursor := "", "  "
	switch {
	case s.size.Class == ui.Compact:
		margin = " " + t.Title.S(fit.Left(group, 8))
	case s.size.Class == ui.Full && group != "":
		if len(all) > 0 {
			all = append(all, line{})
		}
		all = append(all, line{" " + t.Title.S(group), ""})
	}
	label, star := fit.Left(field.Label, labelWidth), " "
	if field.Name == fieldStart {
		label = fit.Left("[ Start ]", labelWidth)
	}
	if field.Name == s.at {
		cursor, label = t.Accent.S(t.Glyph.Cursor)+" ", t.Accent.S(label)
	}
	if f.changed(field) {
		star = t.Warn.S("*")
	}
	head := margin + cursor + label + star
	all = append(all, line{head + s.value(field, w-fit.Width(head)), field.Name})
	for _, p := range problems {
		if p.field == field.Name {
			for _, text := range s.problemLines(p, n, strings.Repeat(" ", fit.Width(margin)+4), w) {
				all = append(all, line{text, field.Name})
			}
			n += len(p.fixes)
		}
	}
	return all, n
}

// value is the value of a field in w cells, and at the right what it means here, as far as there is
// room.
func (s *Setup) value(field Field, w int) string {
	t, f := s.theme, &s.form
	wrong := f.wrong[field.Name] != ""
	value := cmp.Or(field.Get(f), field.Empty, "none")
	switch {
	case field.Secret:
		value = secret.Masker{}.Keyed(value)
	case !f.loaded && field.Name != fieldProfile:
		value = units.Missing
	}
	value = ui.Words(ui.Outside(value, 500), w-1)
	switch {
	case field.Name == fieldStart:
		return t.Faint.S(value)
	case wrong:
		return t.Bad.S(value)
	case field.Name == s.at && (field.Choices != nil && field.Name != fieldNeeds || field.Unit > 0) && fit.Width(value)+5 <= w:
		value = t.Key.S("‹ ") + value + t.Key.S(" ›")
	}
	var notes []string
	if field.Note != nil && f.planned {
		notes = append(notes, ui.Outside(field.Note(f), 200))
	}
	if preset := f.preset(field); f.changed(field) && preset != "" && field.Name != fieldContenders {
		notes = append(notes, "profile: "+ui.Outside(preset, 60))
	}
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	for ; len(notes) > 0 && s.size.Class != ui.Column; notes = notes[:len(notes)-1] {
		if note := strings.Join(notes, "; "); fit.Width(value)+fit.Width(note)+2 <= w {
			return ui.Ends(value, t.Faint.S(note)+" ", w)
		}
	}
	return value
}

// problemLines returns a problem and its fixes, the first of which has the key n.
func (s *Setup) problemLines(p problem, n int, indent string, w int) []string {
	mark, paint := "! ", s.theme.Warn
	if p.bad {
		mark, paint = s.theme.Glyph.Cross+" ", s.theme.Bad
	}
	out := ui.Hang(indent+paint.S(mark), p.text, w-1, paint)
	for i, fix := range p.fixes[:min(len(p.fixes), max(0, 10-n))] {
		out = append(out, ui.Hang(indent+"  "+s.theme.Key.S(strconv.Itoa(n+i))+" ", fix.text, w-1, ui.Paint{})...)
	}
	return out
}

// addWarning adds what the checks of the machine say against a run now.
func (s *Setup) addWarning(all []line, w int) []line {
	var names []string
	text := ""
	for _, c := range s.form.facts.machine.Warnings {
		if c.Status != machine.OK {
			names = append(names, ui.Outside(c.Name, 30))
			text = names[0] + ": " + ui.Outside(c.Value, 200)
		}
	}
	if len(names) > 1 {
		text = "this machine: " + strings.Join(names, ", ")
	}
	if s.size.Class == ui.Full {
		all = append(all, line{})
	}
	if text != "" {
		margin := map[ui.Class]int{ui.Column: 2, ui.Compact: 11, ui.Full: 2}[s.size.Class]
		text = s.theme.Warn.S("! " + ui.Words(text+" (m)", w-margin-3))
		all = append(all, line{strings.Repeat(" ", margin) + text, ""})
	}
	return all
}

// command is the command that does the same, in at most n lines.
func (s *Setup) command(w, n int) (out []string) {
	lines := ui.Hang(s.theme.Faint.S(" $ "), ui.Outside(s.form.choice.shown(), 4000), w-1, ui.Paint{})
	if len(lines) > n {
		lines[n-1] = ui.Words(lines[n-1]+" …", w-1)
	}
	return lines[:min(n, len(lines))]
}

// help is the meaning of the field in focus.
func (s *Setup) help(w int) ui.Block {
	field := s.form.field(s.at)
	return ui.Text(5, append([]string{rule(s.theme, field.Label, "", w)}, ui.Hang(" ", field.Help, w-1, ui.Paint{})...)...)
}

// click moves the focus to a field, or opens the one in focus.
func (s *Setup) click(msg tea.MouseClickMsg) tea.Cmd {
	at := msg.Y - s.top
	if msg.Button != tea.MouseLeft || msg.X >= s.left() || at < 0 || at >= len(s.inSight) || s.inSight[at].field == "" {
		return nil
	}
	before := s.at
	if s.at = s.inSight[at].field; s.at == before || s.at == fieldStart {
		return s.open()
	}
	return nil
}
