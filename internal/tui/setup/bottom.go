package setup

import (
	"fmt"
	"slices"
	"strings"

	"locbench/internal/machine"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// bottom is what stands below the fields: help of the focused one, the size of the run, what is
// wrong with the ways out, the command line. It takes want lines if it can make do with them, and
// never more than most.
func (s *Screen) bottom(l *look.Look, w, want, most int) []string {
	if most <= 0 {
		return nil
	}
	line := l.Border.S(strings.Repeat(l.Glyph.Horizontal, max(0, w)))
	command := s.drawCommand(l, w)
	estimate := " " + l.Strong.S(l.Cut(l.ASCIIOnly(s.estimate(w-2)), w-2))
	help := s.drawHelp(l, w, 3)
	problems := s.drawProblems(l, w)
	room := min(most, max(want, 6))
	// What matters most comes first: trouble, then the command line, the size, the help.
	out := func() []string {
		if len(help) == 0 {
			return slices.Concat([]string{estimate}, problems, command)
		}
		return slices.Concat(help, []string{line, estimate}, problems, command)
	}
	if len(out()) > room && len(command) > 1 {
		command = command[:1]
		command[0] = " " + l.Cut(l.Faint.S("$ ")+l.ASCIIOnly(look.Outside(s.choice.shown(), 4000)), w-2)
	}
	if over := len(out()) - room; over > 0 && len(help) > 1 {
		help = s.drawHelp(l, w, max(1, len(help)-over))
	}
	if over := len(out()) - max(room, min(most, 9)); over > 0 && len(problems) > 1 {
		n, all := max(1, len(problems)-over), s.problems()
		problems = problems[:n]
		problems[n-1] = " " + l.Bad.S(l.Cut(units.Plural(len(all), "trouble")+" in all: d shows them", w-2))
		if n == 1 {
			problems[0] = s.drawProblem(l, all[0], 1, w)[0]
		}
	}
	all := out()
	if len(all) > most { // a very small terminal
		all = slices.Concat(problems, []string{estimate}, command)
		all = all[:min(len(all), most)]
	}
	return all
}

func (s *Screen) drawHelp(l *look.Look, w, n int) (out []string) {
	for _, line := range l.Wrap(l.ASCIIOnly(forms[s.focus].help), w-2, n) {
		out = append(out, " "+l.Faint.S(line))
	}
	return out
}

// drawCommand is the command line that does the same.
func (s *Screen) drawCommand(l *look.Look, w int) (out []string) {
	for i, line := range l.Wrap(l.ASCIIOnly(look.Outside(s.choice.shown(), 4000)), w-4, 3) {
		out = append(out, " "+l.Faint.S([]string{"$ ", "  "}[min(i, 1)])+line)
	}
	return out
}

func (s *Screen) drawProblems(l *look.Look, w int) (out []string) {
	n := 1
	for _, p := range s.problems() {
		out = append(out, s.drawProblem(l, p, n, w)...)
		n += len(p.offers)
	}
	return out
}

// drawProblem is a problem and its ways out, the first of which has the key n.
func (s *Screen) drawProblem(l *look.Look, p problem, n, w int) []string {
	mark, paint := "! ", l.Warn
	if p.bad {
		mark, paint = l.Glyph.Cross+" ", l.Bad
	}
	lines := l.Wrap(mark+l.ASCIIOnly(p.text), w-2, 2)
	for i := range lines {
		lines[i] = " " + paint.S(lines[i])
	}
	for i, o := range p.offers {
		if n+i > 9 {
			break
		}
		way := l.Key.S(fmt.Sprintf("%d", n+i)) + " " + l.ASCIIOnly(o.text)
		if last := len(lines) - 1; look.Width(lines[last])+2+look.Width(way)+1 <= w {
			lines[last] += "  " + way
		} else {
			lines = append(lines, l.Cut("   "+way, w-1))
		}
	}
	return lines
}

// drawFindings is everything that is wrong, and what this machine can do.
func (s *Screen) drawFindings(l *look.Look, w, h, tick int) []string {
	body := s.drawProblems(l, w)
	if len(body) > 0 {
		body = append(body, "")
	}
	body = append(body, s.doctor(l, w, tick, true)...)
	s.scroll = max(0, min(s.scroll, len(body)-(h-1)))
	head := l.Between(l.Title.S(" this machine"), l.Faint.S(fmt.Sprintf("lines %d to %d of %d ", min(len(body), s.scroll+1), min(len(body), s.scroll+h-1), len(body))), w)
	return append([]string{head}, body[s.scroll:min(len(body), s.scroll+h-1)]...)
}

// doctor is what the machine says of itself; with fixes and what brings what is missing.
func (s *Screen) doctor(l *look.Look, w, tick int, fixes bool) (out []string) {
	if !s.facts.machineOK {
		return []string{" " + l.Faint.S(spinner(l, tick)+" asking this machine")}
	}
	for _, f := range s.facts.machine.Findings {
		mark, paint := l.Glyph.Check, l.Good
		switch f.Status {
		case machine.Warn:
			mark, paint = "!", l.Warn
		case machine.Missing:
			mark, paint = l.Glyph.Cross, l.Bad
		}
		name := l.Fit(l.ASCIIOnly(look.Outside(f.Name, 30)), 15)
		value := l.Wrap(l.ASCIIOnly(look.Outside(f.Value, 500)), max(10, w-21), 0)
		for i, line := range value {
			if i > 0 {
				mark, name = "", strings.Repeat(" ", 15)
			}
			out = append(out, " "+paint.S(l.Fit(mark, 3))+name+" "+line)
		}
		if fixes && f.Fix != "" {
			for i, line := range l.Wrap(l.ASCIIOnly(look.Outside(f.Fix, 500)), max(10, w-24), 0) {
				arrow := []string{l.Glyph.Right, " "}[min(i, 1)]
				out = append(out, strings.Repeat(" ", 20)+l.Faint.S(arrow+" "+line))
			}
		}
	}
	return out
}
