package setup

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench/units"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func stateText(st State) string {
	return [...]string{
		Unknown: "", Ready: "ready", Stale: "built before", Build: "needs build", Pull: "needs pull",
		Cannot: "cannot run here",
	}[st.Kind]
}

func (s *Screen) drawList(l *ui.Look, w, h, tick int) []string {
	rows := s.list.rows(s)
	head := units.Plural(len(s.selected()), "contender") + " selected"
	switch {
	case s.list.typing:
		head = "filter: "
		head = l.Key.S(head) + draw(l, s.list.filter, max(4, min(40, w-len(head)-2)))
	case s.list.filter.Value() != "":
		head += ", filter: " + l.Outside(s.list.filter.Value(), 60)
	}
	out := []string{l.Between(" "+head, l.Faint.S(s.listNote(l, tick))+" ", w)}
	from, room := s.list.window(h)
	for i := from; i < len(rows) && i < from+room; i++ {
		out = append(out, s.drawRow(l, rows[i], w, i == s.list.at))
	}
	if len(rows) == 0 && s.facts.listed {
		out = append(out, l.Faint.S("  no match: esc clears the filter"))
	} else if len(rows) == 0 {
		out = append(out, l.Faint.S("  loading contenders"+l.ASCIIOnly("…")))
	}
	out = append(out, make([]string, max(0, 1+room-len(out)))...)
	if h >= detailFrom {
		out = append(out, l.Border.S(strings.Repeat(l.Glyph.Horizontal, max(0, w))), " "+s.rowDetail(l, w-2))
	}
	return out
}

// detailFrom is the height from which the list has two lines with details of the row.
const detailFrom = 12

// window returns the part of the rows to show in h lines, with the cursor in the middle.
func (l *list) window(h int) (from, room int) {
	room = max(1, h-1)
	if h >= detailFrom {
		room -= 2
	}
	return max(0, min(l.at-room/2, len(l.all)-room)), room
}

func (s *Screen) listNote(l *ui.Look, tick int) string {
	switch {
	case s.facts.contendersErr != "":
		return l.ASCIIOnly(s.facts.contendersErr)
	case s.facts.statesErr != "":
		return l.ASCIIOnly("states: " + s.facts.statesErr)
	case s.facts.states == nil:
		return l.Spin(tick) + " looking for images"
	}
	return "of " + units.Plural(len(s.facts.contenders), "contender")
}

func (s *Screen) drawRow(l *ui.Look, r row, w int, focused bool) string {
	tick, name, indent := l.Glyph.Off, r.sel.Contender, " "
	switch {
	case s.chosen(r) && r.heading:
		tick = "[-]" // its variants have the ticks
	case s.chosen(r):
		tick = l.Glyph.On
	}
	if r.variant {
		name, indent = r.sel.Variant, "     "
	}
	nameW := 22
	if w < 60 {
		nameW = 16
	}
	line := indent + tick + " " + l.Fit(l.Outside(name, 80), nameW-len(indent)) + " "
	switch {
	case r.unknown:
		line += l.Bad.S("unknown contender")
	case r.heading:
		line += l.Faint.S(l.ASCIIOnly(s.about(r)))
	case r.variant:
		line += s.drawState(l, r, 16) + " " + l.Faint.S(l.Outside(r.title, 200))
	default:
		line += s.drawState(l, r, 16) + " " + l.Faint.S(l.Outside(s.about(r), 200))
	}
	if focused {
		return l.Select.S(l.Fit(ansi.Strip(line), w))
	}
	return l.Fit(line, w)
}

// about returns language, framework and tags of a contender.
func (s *Screen) about(r row) string {
	framework := strings.TrimSpace(r.svc.Framework + " " + r.svc.Version)
	parts := []string{
		ui.Outside(r.svc.Language, 40), ui.Outside(framework, 60), ui.Outside(strings.Join(r.svc.Tags, " "), 80),
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return strings.Join(parts, " · ")
}

func (s *Screen) drawState(l *ui.Look, r row, w int) string {
	st := s.state(r.sel)
	text, paint := stateText(st), l.Text
	switch st.Kind {
	case Ready:
		text, paint = "ready", l.Good
		if s.inContainers() && !r.svc.Builtin {
			text = "image ready"
		}
	case Cannot:
		paint = l.Bad
	case Unknown:
		text, paint = l.Glyph.Missing, l.Faint
	}
	if r.svc.Unverified != "" && st.Kind != Cannot {
		text += ", unverified"
		if st.Kind == Unknown || ui.Width(text) > w {
			text = "unverified"
		}
		paint = l.Warn
	}
	return paint.S(l.Fit(text, w))
}

func (s *Screen) rowDetail(l *ui.Look, w int) string {
	if s.list.at >= len(s.list.all) {
		return ""
	}
	r := s.list.all[s.list.at]
	if r.unknown {
		return l.Bad.S(l.Cut(l.ASCIIOnly(ui.Outside(r.sel.String(), 80)+" names an unknown contender"), w))
	}
	st := s.state(r.sel)
	var text string
	var paint ui.Paint
	switch {
	case r.heading:
		text = cmp.Or(ui.Outside(r.title, 200), r.sel.Contender) + ": " +
			units.Plural(len(r.svc.Variants), "variant") + ", the first is the default"
	case st.Kind == Cannot:
		text, paint = "cannot run here: "+ui.Outside(st.Why, 300), l.Bad
	case r.svc.Unverified != "":
		text, paint = "unverified: "+ui.Outside(r.svc.Unverified, 300), l.Warn
	case st.Why != "":
		text = stateText(st) + ": " + ui.Outside(st.Why, 300)
	default:
		text = cmp.Or(ui.Outside(r.svc.Title, 200), r.sel.String()) +
			"; serves " + ui.Outside(strings.Join(r.svc.Endpoints, " "), 200)
	}
	return paint.S(l.Cut(l.ASCIIOnly(text), w))
}
