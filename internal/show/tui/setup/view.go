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

// lines are the lines of the form, each with the name of its field.
type lines struct{ text, of []string }

func (l *lines) add(field string, text ...string) {
	for _, line := range text {
		l.text, l.of = append(l.text, line), append(l.of, field)
	}
}

// View implements ui.Page.
func (s *Setup) View() string {
	w, h := s.size.Width, s.size.Height
	if s.over != nil {
		return s.over.view(s.theme, w, h)
	}
	if s.size.Class != ui.Full {
		var last []string
		if runs := (panels{&s.form, s.theme, 1000}).runs(); s.size.Class == ui.Compact && len(runs) > 0 {
			last = []string{rule(s.theme, "last run", "b: all", w), " " + cutWords(runs[0], w-2)}
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
	var all, end lines
	n, problems := 1, s.form.problems()
	for _, field := range s.form.shown() {
		into := &all
		if field.Name == fieldStart {
			into = &end
			s.addWarning(into, w)
		}
		n = s.addField(into, field, problems, n, w)
	}
	size := len(all.text) + len(end.text)
	return ui.Block{Priority: 1, Least: min(size, max(1, most)), Most: size, Draw: func(_, h int) string {
		shown, over := s.window(all, h-len(end.text)), max(0, len(end.text)-h)
		shown.text, shown.of = append(shown.text, end.text[over:]...), append(shown.of, end.of[over:]...)
		s.clickable = shown.of
		return strings.Join(shown.text, "\n")
	}}
}

// window returns the part of the form around the focus, in h lines.
func (s *Setup) window(all lines, h int) (shown lines) {
	n := len(all.text)
	switch {
	case h <= 0:
		return shown
	case n <= h:
		return all
	}
	room := max(1, h-1)
	first, last := slices.Index(all.of, s.at), n-1
	if first < 0 {
		first = n - 1 // the button has the focus
	}
	for last > first && all.of[last] != s.at {
		last--
	}
	s.from = ui.Window(ui.Window(s.from, last, n, room), first, n, room)
	shown = lines{slices.Clone(all.text[s.from : s.from+room]), slices.Clone(all.of[s.from : s.from+room])}
	if h > 1 {
		shown.add("", s.theme.Faint.S(fmt.Sprintf("  lines %d to %d of %d", s.from+1, s.from+room, n)))
	}
	return shown
}

// labelWidth has room for the longest label.
const labelWidth = 13

// addField adds the lines of a field with its problems, whose fixes have keys from n on, and returns
// the key of the next fix. The first field of a group has its name.
func (s *Setup) addField(all *lines, field Field, problems []problem, n, w int) int {
	t, f := s.theme, &s.form
	group := strings.ToUpper(field.Group)
	if n := len(all.of); group != "" && n > 0 && f.field(all.of[n-1]).Group == field.Group {
		group = ""
	}
	margin, cursor := "", "  "
	switch {
	case s.size.Class == ui.Compact:
		margin = " " + t.Title.S(fit.Left(group, 8))
	case s.size.Class == ui.Full && group != "":
		if len(all.text) > 0 {
			all.add("", "")
		}
		all.add("", " "+t.Title.S(group))
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
	all.add(field.Name, head+s.value(field, w-fit.Width(head)))
	for _, p := range problems {
		if p.field == field.Name {
			all.add(field.Name, s.problemLines(p, n, strings.Repeat(" ", fit.Width(margin)+4), w)...)
			n += len(p.fixes)
		}
	}
	return n
}

// value is the value of a field in w cells, and at the right what it means here, as far as there is
// room.
func (s *Setup) value(field Field, w int) string {
	t, f := s.theme, &s.form
	wrong := f.wrong[field.Name] != ""
	value := cmp.Or(field.Get(f), field.Empty, "none")
	switch {
	case field.Name == fieldElastic:
		value = secret.Masker{}.Text(value)
	case !f.loaded && field.Name != fieldProfile:
		value = units.Missing
	}
	value = cutWords(ui.Outside(value, 500), w-1)
	switch {
	case field.Name == fieldStart:
		return t.Faint.S(value)
	case wrong:
		return t.Bad.S(value)
	case field.Name == s.at && (field.Choices != nil || field.Unit > 0) && fit.Width(value)+5 <= w:
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
func (s *Setup) addWarning(all *lines, w int) {
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
		all.add("", "")
	}
	if text != "" {
		margin := map[ui.Class]int{ui.Compact: 11}[s.size.Class]
		all.add("", strings.Repeat(" ", max(2, margin))+s.theme.Warn.S("! "+cutWords(text+" (m)", w-max(2, margin)-3)))
	}
}

// command is the command that does the same, in at most n lines.
func (s *Setup) command(w, n int) (out []string) {
	lines := ui.Hang(s.theme.Faint.S(" $ "), ui.Outside(s.form.choice.shown(), 4000), w-1, ui.Paint{})
	if len(lines) > n {
		lines[n-1] = cutWords(lines[n-1]+" …", w-1)
	}
	return lines[:min(n, len(lines))]
}

// help is the meaning of the field in focus.
func (s *Setup) help(w int) ui.Block {
	field := s.form.field(s.at)
	return ui.Text(5, append([]string{rule(s.theme, field.Label, "", w)}, ui.Hang(" ", field.Help, w-1, ui.Paint{})...)...)
}

// cutWords shortens a text to w cells between two words.
func cutWords(s string, w int) string {
	if fit.Width(s) <= w {
		return s
	}
	return fit.Cut(fit.Wrap(s, w-2)[0]+" …", w)
}

// click moves the focus to a field, or opens the one in focus.
func (s *Setup) click(msg tea.MouseClickMsg) tea.Cmd {
	line := msg.Y - s.top
	if msg.Button != tea.MouseLeft || msg.X >= s.left() || line < 0 || line >= len(s.clickable) ||
		s.clickable[line] == "" {
		return nil
	}
	before := s.at
	if s.at = s.clickable[line]; s.at == before || s.at == fieldStart {
		return s.open()
	}
	return nil
}
