package setup

import (
	"strings"

	"locbench/internal/tui/look"
	"locbench/internal/units"
)

func stateText(st State) string {
	return [...]string{Unknown: "", Ready: "ready", Stale: "built before", Build: "needs a build", Pull: "needs a pull", Cannot: "cannot run here"}[st.Kind]
}

// drawList is the list in w by h cells.
func (s *Screen) drawList(l *look.Look, w, h, tick int) []string {
	rows := s.list.rows(s)
	head := units.Plural(len(s.selected()), "contender") + " chosen"
	switch {
	case s.list.typing:
		head = "filter: "
		head = l.Key.S(head) + draw(l, s.list.filter, max(4, min(40, w-len(head)-2)))
	case s.list.filter.Value() != "":
		head += ", filter: " + l.ASCIIOnly(look.Outside(s.list.filter.Value(), 60))
	}
	out := []string{l.Between(" "+head, l.Faint.S(s.listNote(l, tick))+" ", w)}
	from, room := s.list.window(h)
	for i := from; i < len(rows) && i < from+room; i++ {
		out = append(out, s.drawRow(l, rows[i], w, i == s.list.at))
	}
	if len(rows) == 0 {
		none := "none meets the filter: esc takes it away"
		if !s.facts.listed {
			none = "asking for the contenders" + l.ASCIIOnly("…")
		}
		out = append(out, l.Faint.S("  "+none))
	}
	for len(out) < 1+room {
		out = append(out, "")
	}
	if h >= detailFrom {
		out = append(out, l.Border.S(strings.Repeat(l.Glyph.Horizontal, max(0, w))), " "+s.rowDetail(l, w-2))
	}
	return out
}

// detailFrom is the height from which the list has two lines that say more of the row under the
// cursor.
const detailFrom = 12

// window is the part of the rows that is shown in h lines, with the cursor in the middle, so that
// what comes is seen.
func (l *list) window(h int) (from, room int) {
	room = max(1, h-1)
	if h >= detailFrom {
		room -= 2
	}
	return max(0, min(l.at-room/2, len(l.all)-room)), room
}

func (s *Screen) listNote(l *look.Look, tick int) string {
	switch {
	case s.facts.contendersErr != "":
		return l.ASCIIOnly(s.facts.contendersErr)
	case s.facts.statesErr != "":
		return l.ASCIIOnly("states: " + s.facts.statesErr)
	case s.facts.states == nil:
		return spinner(l, tick) + " looking for images"
	}
	return "of " + units.Plural(len(s.facts.contenders), "contender")
}

func spinner(l *look.Look, tick int) string { return l.Glyph.Spinner[tick%len(l.Glyph.Spinner)] }
