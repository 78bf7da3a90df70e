package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/machine"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/text/secret"
)

const labelWidth = 15

// View implements ui.Screen.
func (s *Screen) View(f ui.Frame) []string {
	l, w, h := f.Look, f.Width, f.Height
	switch {
	case s.mode == contenders && !wide(w, h):
		return l.Screen(s.drawList(l, w, h, f.Tick), w, h)
	case s.mode == diagnosis:
		return l.Screen(s.drawDiagnosis(l, w, h, f.Tick), w, h)
	}
	lay := s.layout(l, w, h)
	left := []string{s.header(l, lay.left)}
	for _, field := range lay.shown[lay.from:min(len(lay.shown), lay.from+lay.room)] {
		left = append(left, s.drawField(l, field, lay.left, f.Tick))
	}
	left = append(left, make([]string, max(0, lay.bottomAt-len(left)))...)
	left = l.Screen(append(left, lay.bottom...), lay.left, h)
	if wide(w, h) {
		left = ui.SideBySide(1, left, s.panes(l, w-lay.left-1, h, f.Tick))
	}
	switch s.mode {
	case choosing:
		label, _ := s.focus.about()
		left = ui.Overlay(l, left, w, h, label, s.drawOptions(l, w))
	case saving:
		left = ui.Overlay(l, left, w, h, "save as a new profile", s.drawSave(l, w, f.Tick))
	}
	return l.Screen(left, w, h)
}

func wide(w, h int) bool { return w >= 110 && h >= 30 }

// layout is the place of everything on the screen, for drawing and for the mouse.
type layout struct {
	left     int // width of the left pane
	shown    []id
	from     int // first field shown
	room     int // lines for fields
	bottom   []string
	bottomAt int // line
}

func (s *Screen) layout(l *ui.Look, w, h int) layout {
	lay := layout{left: w, shown: s.shown()}
	if wide(w, h) {
		lay.left = min(w/2, 100)
	}
	least := min(len(lay.shown), max(1, min(h/2, 6)))
	lay.bottom = s.bottom(l, lay.left, h-1-len(lay.shown), h-1-least)
	lay.room = max(1, h-1-len(lay.bottom))
	lay.bottomAt = h - len(lay.bottom)
	if wide(w, h) { // not at the far end of a tall screen
		lay.bottomAt = min(lay.bottomAt, 2+len(lay.shown))
	}
	lay.from = ui.Window(s.from, slices.Index(lay.shown, s.focus), len(lay.shown), lay.room)
	return lay
}

func (s *Screen) scrollTo() {
	s.from = s.layout(s.plain, s.width, s.height).from
}

func (s *Screen) header(l *ui.Look, w int) string {
	note := ""
	switch n := s.changes(); {
	case !s.loaded && s.baseErr == "":
		note = "loading profile" + l.ASCIIOnly("…")
	case n > 0:
		note = fmt.Sprintf("%d changed; U resets all", n)
	}
	return l.Between(l.Title.S(" locbench")+l.Faint.S("  set up a benchmark"), l.Faint.S(note)+" ", w)
}

func (s *Screen) drawField(l *ui.Look, f id, w, tick int) string {
	focused := f == s.focus && s.mode != contenders
	name, _ := f.about()
	mark, button, label := "  ", "[ Start ]", l.Fit(name, labelWidth-3)
	if focused {
		mark, button, label = l.Accent.S(l.Glyph.Cursor)+" ", l.Select.S(button), l.Accent.S(label)
	}
	if f == fieldStart {
		note := ""
		if slices.ContainsFunc(s.problems(), func(p problem) bool { return p.bad }) {
			note = l.Bad.S("fix problems below")
		} else if s.planned {
			note = l.Faint.S("about " + units.Approx(s.total()))
		}
		return l.Fit(mark+strings.Repeat(" ", labelWidth-2)+button+"  "+note, w)
	}
	star := " "
	if s.changed(f) {
		star = l.Warn.S("*")
	}
	room := w - labelWidth
	note := s.note(l, f, tick)
	value := s.drawValue(l, f, focused, room)
	if focused && s.mode == editing {
		if s.wrong[f] == "" {
			note = ""
		}
		value = draw(l, s.input, max(8, min(room-1, room-min(ui.Width(note)+2, room/2))))
	}
	if nw := room - ui.Width(value) - 3; note != "" && nw > 6 {
		value = l.Between(value, l.Cut(note, nw)+" ", room)
	}
	return l.Fit(mark+label+star+value, w)
}

func (s *Screen) drawValue(l *ui.Look, f id, focused bool, room int) string {
	value := s.value(f)
	if f == fieldElastic {
		value = secret.Masker{}.Text(value)
	}
	value = l.Outside(value, 500)
	if s.wrong[f] != "" {
		value = l.Bad.S(l.Cut(cmp.Or(value, "(missing)"), room))
	} else if !s.loaded && f != fieldProfile && !s.changed(f) {
		value = l.Faint.S(l.Glyph.Missing)
	} else if value == "" {
		value = l.Faint.S("none")
	}
	if f == fieldContenders || s.options(f) == nil {
		return l.Cut(value, max(10, room-2))
	}
	if focused {
		return l.Key.S("< ") + value + l.Key.S(" >")
	}
	return value
}

// note returns the text next to a value: the mistake, the profile's value, or its meaning here.
func (s *Screen) note(l *ui.Look, f id, tick int) string {
	if what := s.wrong[f]; what != "" {
		return l.Bad.S(l.Glyph.Cross + " " + l.ASCIIOnly(what))
	}
	means := s.meaning(l, f, tick)
	if s.changed(f) && f != fieldContenders && f != fieldDump && f != fieldCities {
		preset := "profile: " + cmp.Or(ui.Outside(s.preset(f), 60), "none")
		if means != "" {
			preset += "; " + means
		}
		means = preset
	}
	return l.Faint.S(l.ASCIIOnly(means))
}

// meaning returns what a value means on this machine.
func (s *Screen) meaning(l *ui.Look, f id, tick int) string {
	known, engine := s.facts.machineOK, s.facts.machine.Engine
	cpus, memory, _ := s.has()
	switch f {
	case fieldProfile:
		return ui.Outside(s.base.Title, 100)
	case fieldContenders:
		if !s.facts.listed {
			return l.Spin(tick)
		}
		return s.stateSummary(l, tick)
	case fieldCPUs, fieldCPUSet:
		if known && cpus > 0 {
			return units.Plural(cpus, "CPU") + " here"
		}
	case fieldMemory:
		if known && memory > 0 {
			return units.Bytes(memory) + " here"
		}
	case fieldConnections:
		if s.planned {
			return units.Plural(len(s.plan.Steps), "step")
		}
	case fieldDuration:
		if s.planned {
			return units.Length(s.plan.LoadDuration()) + " load per trial"
		}
	case fieldRounds:
		if s.planned && s.value(f) == "" {
			return units.Plural(s.plan.Rounds, "round")
		}
	case fieldInterleave:
		switch {
		case s.planned && s.plan.Interleave > 0 && len(s.plan.Contenders) < 2:
			return "needs two contenders"
		case s.planned && s.plan.Interleave > 0:
			return units.Plural(len(s.plan.Contenders), "contender") + " at the same time"
		case s.planned && s.notInterleaved != nil && s.notInterleaved.Reason != bench.PlainChosen:
			return "one after the other: " + ui.Outside(s.notInterleaved.Text, 200)
		}
	case fieldRuntime:
		switch {
		case !known:
			return l.Spin(tick) + " looking for Docker"
		case s.runtime().Traits().OnHost:
			return ""
		case engine.Err != nil && s.runtime().Traits().Auto:
			return "no Docker: processes"
		case engine.Err == nil:
			return "Docker " + ui.Outside(engine.Version, 40) + " available"
		}
	case fieldStore:
		kind := s.storeKind()
		if chosen := (bench.StoreSpec{Kind: kind}).Chosen(); kind != "" && chosen != kind {
			return string(chosen)
		}
	case fieldElastic:
		a, asked := s.facts.elastic[s.elasticURL()]
		switch {
		case asked && !a.done:
			return l.Spin(tick) + " checking"
		case asked && a.err == "":
			return "Elasticsearch " + ui.Outside(a.Version, 40) + ", " + units.Count(a.Cities) + " cities"
		}
	}
	return ""
}

func (s *Screen) stateSummary(l *ui.Look, tick int) string {
	out := units.Plural(len(s.selected()), "contender")
	if s.facts.states == nil {
		return out + " " + l.Spin(tick)
	}
	count := map[Kind]int{}
	for _, sel := range s.selected() {
		count[s.state(sel).Kind]++
	}
	needs := [...]string{"cannot run", "to build", "to build again", "to pull"}
	for i, k := range []Kind{Cannot, Build, Stale, Pull} {
		if count[k] > 0 {
			out += fmt.Sprintf(", %d %s", count[k], needs[i])
		}
	}
	return out
}

// bottom returns the part below the fields: help of the focused field, the size of the run, the
// problems with their fixes, and the command line. It takes want lines if they suffice, and at most
// most.
func (s *Screen) bottom(l *ui.Look, w, want, most int) []string {
	if most <= 0 {
		return nil
	}
	line := l.Border.S(strings.Repeat(l.Glyph.Horizontal, max(0, w)))
	command := s.drawCommand(l, w)
	estimate := " " + l.Strong.S(l.Cut(l.ASCIIOnly(s.estimate(w-2)), w-2))
	help := s.drawHelp(l, w, 3)
	problems := s.drawProblems(l, w)
	room := min(most, max(want, 6))
	// If room is short, the help is cut first, then the problems.
	out := func() []string {
		if len(help) == 0 {
			return slices.Concat([]string{estimate}, problems, command)
		}
		return slices.Concat(help, []string{line, estimate}, problems, command)
	}
	if len(out()) > room && len(command) > 1 {
		command = command[:1]
		command[0] = " " + l.Cut(l.Faint.S("$ ")+l.Outside(s.choice.shown(), 4000), w-2)
	}
	if over := len(out()) - room; over > 0 && len(help) > 1 {
		help = s.drawHelp(l, w, max(1, len(help)-over))
	}
	if over := len(out()) - max(room, min(most, 9)); over > 0 && len(problems) > 1 {
		n, all := max(1, len(problems)-over), s.problems()
		problems = problems[:n]
		problems[n-1] = " " + l.Bad.S(l.Cut(units.Plural(len(all), "problem")+": d lists them", w-2))
		if n == 1 {
			problems[0] = s.drawProblem(l, all[0], 1, w)[0]
		}
	}
	all := out()
	if len(all) > most { // a very small terminal
		all = slices.Concat(problems, []string{estimate}, command)
	}
	return all[:min(len(all), most)]
}

func (s *Screen) drawHelp(l *ui.Look, w, n int) []string {
	_, help := s.focus.about()
	return ui.Indent(ui.Each(l.Faint, l.Wrap(l.ASCIIOnly(help), w-2, n)))
}

func (s *Screen) drawCommand(l *ui.Look, w int) (out []string) {
	for i, line := range l.Wrap(l.Outside(s.choice.shown(), 4000), w-4, 3) {
		out = append(out, " "+l.Faint.S([]string{"$ ", "  "}[min(i, 1)])+line)
	}
	return out
}

func (s *Screen) drawProblems(l *ui.Look, w int) (out []string) {
	n := 1
	for _, p := range s.problems() {
		out = append(out, s.drawProblem(l, p, n, w)...)
		n += len(p.fixes)
	}
	return out
}

// drawProblem returns a problem and its fixes, the first of which has the key n.
func (s *Screen) drawProblem(l *ui.Look, p problem, n, w int) []string {
	mark, paint := "! ", l.Warn
	if p.bad {
		mark, paint = l.Glyph.Cross+" ", l.Bad
	}
	lines := ui.Indent(ui.Each(paint, l.Wrap(mark+l.ASCIIOnly(p.text), w-2, 2)))
	for i, o := range p.fixes {
		if n+i > 9 {
			break
		}
		text := l.Key.S(fmt.Sprintf("%d", n+i)) + " " + l.ASCIIOnly(o.text)
		if last := len(lines) - 1; ui.Width(lines[last])+2+ui.Width(text)+1 <= w {
			lines[last] += "  " + text
		} else {
			lines = append(lines, l.Cut("   "+text, w-1))
		}
	}
	return lines
}

// drawDiagnosis returns all problems and the machine check.
func (s *Screen) drawDiagnosis(l *ui.Look, w, h, tick int) []string {
	body := s.drawProblems(l, w)
	if len(body) > 0 {
		body = append(body, "")
	}
	body = append(body, s.doctor(l, w, tick, true)...)
	s.scroll = max(0, min(s.scroll, len(body)-(h-1)))
	end := min(len(body), s.scroll+h-1)
	lines := fmt.Sprintf("lines %d to %d of %d ", min(len(body), s.scroll+1), end, len(body))
	return append([]string{l.Between(l.Title.S(" this machine"), l.Faint.S(lines), w)}, body[s.scroll:end]...)
}

// doctor returns the machine check, with its fixes if fixes is set.
func (s *Screen) doctor(l *ui.Look, w, tick int, fixes bool) (out []string) {
	if !s.facts.machineOK {
		return []string{" " + l.Faint.S(l.Spin(tick)+" checking this machine")}
	}
	for _, f := range s.facts.machine.Warnings {
		mark, paint := l.Glyph.Check, l.Good
		switch f.Status {
		case machine.Warn:
			mark, paint = "!", l.Warn
		case machine.Missing:
			mark, paint = l.Glyph.Cross, l.Bad
		}
		name := l.Fit(l.Outside(f.Name, 30), 15)
		for i, line := range l.Wrap(l.Outside(f.Value, 500), max(10, w-21), 0) {
			if i > 0 {
				mark, name = "", strings.Repeat(" ", 15)
			}
			out = append(out, " "+paint.S(l.Fit(mark, 3))+name+" "+line)
		}
		if fixes && f.Fix != "" {
			for i, line := range l.Wrap(l.Outside(f.Fix, 500), max(10, w-24), 0) {
				arrow := []string{l.Glyph.Right, " "}[min(i, 1)]
				out = append(out, strings.Repeat(" ", 20)+l.Faint.S(arrow+" "+line))
			}
		}
	}
	return out
}
