package setup

import (
	"cmp"
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
		view, tops := ui.Stack(w, h, ui.Text(2, s.header(w)), s.formBlock(w, h-2), s.help(w), s.last(w),
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
		view, _ := ui.Stack(w, h, append([]ui.Block{ui.Text(1, "")}, s.panels(w)...)...)
		return view
	}
	command := append([]string{s.rule("the same as a command", "y: copy", w)}, s.command(w, 3)...)
	view, outer := ui.Stack(w, h, ui.Text(1, s.header(w)),
		ui.Block{Priority: 3, Least: 10, Most: ui.Rest, Draw: ui.Beside(left, right, min(w/2, 78))}, ui.Text(2, command...))
	s.top = outer[1] + inner[1]
	return view
}

// rule is a line with a title, one cell from the left.
func (s *Setup) rule(title, right string, w int) string {
	return " " + s.theme.Rule(s.theme.Title.S(title), s.theme.Faint.S(right), w-2)
}

// header says where this is and whether the run can start.
func (s *Setup) header(w int) string {
	t, f := s.theme, &s.form
	where := t.Title.S(" locbench › set up")
	if n := f.changes(); n > 0 {
		where += t.Warn.S("  *" + strconv.Itoa(n) + " changed")
	}
	ready := []string{t.Good.S(t.Glyph.Check + " ready: " + s.extent())}
	ready = append(ready, t.Good.S(t.Glyph.Check+" ready"))
	wrong := 0
	for _, p := range f.problems() {
		if p.bad {
			wrong++
		}
	}
	switch {
	case !f.loaded && f.profiles == nil:
		ready = []string{t.Faint.S("reading the profile")}
	case wrong > 0:
		ready = []string{t.Bad.S(t.Glyph.Cross + " " + units.Plural(wrong, "problem"))}
	}
	for _, text := range ready {
		if fit.Width(where)+fit.Width(text)+3 <= w {
			return ui.Ends(where, text+" ", w)
		}
	}
	return ui.Ends("", ready[len(ready)-1]+" ", w)
}

// extent says how much will run.
func (s *Setup) extent() string {
	p := s.form.plan
	out := units.Plural(len(p.Contenders), "contender")
	if p.Rounds > 1 {
		out += " × " + units.Plural(p.Rounds, "round")
	}
	return out + ", " + units.Plural(len(p.Steps), "step") + ", ~" + units.Approx(s.form.total())
}

// formBlock is the form with its button. Of too many lines those around the focus are shown; the
// button and what stands before it stay.
func (s *Setup) formBlock(w, most int) ui.Block {
	var all, end lines
	for _, field := range s.form.shown() {
		s.addField(&all, &end, field, w)
	}
	n := len(all.text) + len(end.text)
	return ui.Block{Priority: 1, Least: min(n, max(1, most)), Most: n, Draw: func(_, h int) string {
		end := lines{end.text[max(0, len(end.text)-h):], end.of[max(0, len(end.of)-h):]}
		shown := s.window(all, h-len(end.text))
		shown.text, shown.of = append(shown.text, end.text...), append(shown.of, end.of...)
		s.clickable = shown.of
		return strings.Join(shown.text, "\n")
	}}
}

// window returns the part of the form around the focus, in h lines.
func (s *Setup) window(all lines, h int) (shown lines) {
	n := len(all.text)
	if h <= 0 {
		return shown
	}
	if n <= h {
		return lines{slices.Clone(all.text), slices.Clone(all.of)}
	}
	room := max(1, h-1)
	first, last := slices.Index(all.of, s.at), n-1
	if first < 0 {
		first = n - 1
	} else {
		for last > first && all.of[last] != s.at {
			last--
		}
	}
	s.from = ui.Window(ui.Window(s.from, last, n, room), first, n, room)
	shown.add("", "")
	shown.text, shown.of = slices.Clone(all.text[s.from:s.from+room]), slices.Clone(all.of[s.from:s.from+room])
	if h == 1 {
		return shown
	}
	count := func(of []string) (n int) {
		for i, name := range of {
			if name != "" && (i == 0 || of[i-1] != name) {
				n++
			}
		}
		return n
	}
	var more []string
	if above := count(all.of[:s.from]); above > 0 {
		more = append(more, "↑ "+strconv.Itoa(above)+" more")
	}
	if below := count(all.of[s.from+room:]); below > 0 {
		more = append(more, "↓ "+strconv.Itoa(below)+" more")
	}
	shown.add("", s.theme.Faint.S("  "+strings.Join(more, "  ")))
	return shown
}

// addField adds the lines of a field with its problems to the form, or those of the button to its end.
func (s *Setup) addField(all, end *lines, field Field, w int) {
	t, f := s.theme, &s.form
	indent, group := "  ", ""
	if s.size.Class != ui.Column {
		group = strings.ToUpper(field.Group)
	}
	if len(all.of) > 0 && f.field(all.of[len(all.of)-1]).Group == field.Group {
		group = ""
	}
	switch {
	case s.size.Class == ui.Compact:
		indent = " " + t.Title.S(fit.Left(group, 8)) + indent
	case s.size.Class == ui.Full && group != "":
		if len(all.text) > 0 {
			all.add("", "")
		}
		all.add("", " "+t.Title.S(group))
	}
	focused := field.Name == s.at
	if focused {
		indent = indent[:len(indent)-2] + t.Accent.S(t.Glyph.Cursor) + " "
	}
	if field.Name == fieldStart {
		s.addStart(end, indent, focused, w)
		all = end
	} else {
		label, star := fit.Left(field.Label, labelWidth), " "
		if focused {
			label = t.Accent.S(label)
		}
		if f.changed(field) {
			star = t.Warn.S("*")
		}
		head := indent + label + star
		all.add(field.Name, head+s.value(field, focused, w-fit.Width(head)))
	}
	n := 1
	for _, p := range f.problems() {
		if p.field == field.Name || field.Name == fieldStart && !s.isShown(p.field) {
			all.add(field.Name, s.problemLines(p, n, strings.Repeat(" ", fit.Width(indent)+2), w)...)
		}
		n += len(p.fixes)
	}
}

// labelWidth has room for the longest label.
const labelWidth = 13

func (s *Setup) addStart(end *lines, indent string, focused bool, w int) {
	t, f := s.theme, &s.form
	if s.size.Class == ui.Full {
		end.add("", "")
	}
	if text, margin := s.warning(), fit.Width(indent); text != "" {
		end.add("", strings.Repeat(" ", margin)+t.Warn.S("! "+cutWords(text, w-margin-3)))
	}
	const button = "[ Start ]"
	line := indent + button
	if focused {
		line = indent + t.Select.S(button)
	}
	note := ""
	if f.planned {
		note = "~" + units.Approx(f.total())
		switch builds := f.builds(); {
		case f.facts.states == nil:
		case builds == "":
			note += ", nothing to build"
		default:
			note += ", " + builds
		}
	}
	line += strings.Repeat(" ", labelWidth+1-len(button))
	end.add(fieldStart, line+t.Faint.S(cutWords(note, w-fit.Width(line))))
}

func (s *Setup) isShown(name string) bool {
	return slices.ContainsFunc(s.form.shown(), func(f Field) bool { return f.Name == name })
}

// value is the value of a field in w cells, and at the right what it means here, as far as there is
// room.
func (s *Setup) value(field Field, focused bool, w int) string {
	t, f := s.theme, &s.form
	if focused && s.editing {
		s.input.SetWidth(max(1, w-2))
		return s.input.View()
	}
	value := cmp.Or(field.Get(f), field.Empty, "none")
	if field.Name == fieldElastic {
		value = secret.Masker{}.Text(value)
	}
	value = cutWords(ui.Outside(value, 500), w-1)
	text := value
	switch {
	case f.wrong[field.Name] != "":
		text = t.Bad.S(value)
	case !f.loaded && field.Name != fieldProfile:
		value, text = "–", t.Faint.S("–")
	case focused && (field.Choices != nil || field.Unit > 0) && fit.Width(value)+5 <= w:
		text = t.Key.S("‹ ") + value + t.Key.S(" ›")
	}
	var notes []string
	if f.wrong[field.Name] == "" {
		if field.Note != nil {
			notes = append(notes, ui.Outside(field.Note(f), 200))
		}
		if preset := f.preset(field); f.changed(field) && preset != "" && field.Name != fieldContenders {
			notes = append(notes, "profile: "+ui.Outside(preset, 60))
		}
		notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	}
	for len(notes) > 0 && s.size.Class != ui.Column {
		note := strings.Join(notes, "; ")
		if fit.Width(text)+fit.Width(note)+2 <= w {
			return ui.Ends(text, t.Faint.S(note)+" ", w)
		}
		notes = notes[:len(notes)-1]
	}
	return text
}

// problemLines returns a problem and its fixes, the first of which has the key n.
func (s *Setup) problemLines(p problem, n int, indent string, w int) (out []string) {
	t := s.theme
	mark, paint := t.Warn.S("! "), t.Warn
	if p.bad {
		mark, paint = t.Bad.S(t.Glyph.Cross+" "), t.Bad
	}
	out = ui.Hang(indent+mark, p.text, w-1, paint)
	for i, fix := range p.fixes {
		if n+i > 9 {
			break
		}
		part := t.Key.S(strconv.Itoa(n+i)) + " " + fix.text
		if last := len(out) - 1; i > 0 && fit.Width(out[last])+2+fit.Width(part) < w {
			out[last] += "  " + part
		} else {
			out = append(out, ui.Hang(indent+"  "+t.Key.S(strconv.Itoa(n+i))+" ", fix.text, w-1, ui.Paint{})...)
		}
	}
	return out
}

// warning is what the checks of the machine say against a run now.
func (s *Setup) warning() string {
	var names []string
	value := ""
	for _, c := range s.form.facts.machine.Warnings {
		if c.Status != machine.OK {
			names = append(names, ui.Outside(c.Name, 30))
			value = ui.Outside(c.Value, 200)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + ": " + value + " (m)"
	}
	return "this machine: " + strings.Join(names, ", ") + " (m)"
}

// command is the command that does the same, in at most n lines.
func (s *Setup) command(w, n int) (out []string) {
	all := ui.Wrap(ui.Outside(s.form.choice.shown(), 4000), w-4)
	for i, line := range all[:min(n, len(all))] {
		if i == n-1 && n < len(all) {
			line = cutWords(line+" "+all[n], w-4)
		}
		out = append(out, s.theme.Faint.S([]string{" $ ", "   "}[min(i, 1)])+line)
	}
	return out
}

// help is the meaning of the field in focus.
func (s *Setup) help(w int) ui.Block {
	field := s.form.field(s.at)
	return ui.Text(5, append([]string{s.rule(field.Label, "", w)}, ui.Hang(" ", field.Help, w-1, ui.Paint{})...)...)
}

// cutWords shortens a text to w cells between two words.
func cutWords(s string, w int) string {
	if fit.Width(s) <= w {
		return s
	}
	line := fit.Wrap(s, w-2)[0]
	return fit.Cut(line+" …", w)
}

// click moves the focus to a field, or opens the one in focus.
func (s *Setup) click(msg tea.MouseClickMsg) (cmd tea.Cmd) {
	line := msg.Y - s.top
	if msg.Button != tea.MouseLeft || line < 0 || line >= len(s.clickable) || s.clickable[line] == "" ||
		s.size.Class == ui.Full && msg.X >= min(s.size.Width/2, 78) {
		return nil
	}
	name := s.clickable[line]
	if s.editing {
		if name == s.at {
			return nil
		}
		s.editing = false
		cmd = s.change(func() {})
	}
	again := name == s.at || name == fieldStart
	if s.at = name; again {
		return s.open()
	}
	return cmd
}
