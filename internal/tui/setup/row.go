package setup

import (
	"cmp"
	"strings"

	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// drawRow is a line of the list of contenders.
func (s *Screen) drawRow(l *look.Look, r row, w int, focused bool) string {
	tick := l.Glyph.Off
	if s.chosen(r) {
		tick = l.Glyph.On
	}
	name, note := r.sel.Contender, r.title
	indent := " "
	switch {
	case r.variant:
		name, indent = r.sel.Variant, "     "
	case r.heading && !s.chosen(r):
		tick = "[ ]"
	case r.heading:
		tick = "[-]" // its variants have the ticks
	}
	nameW := 22
	if w < 60 {
		nameW = 16
	}
	line := indent + tick + " " + l.Fit(l.ASCIIOnly(look.Outside(name, 80)), nameW-len(indent)) + " "
	switch {
	case r.unknown:
		line += l.Bad.S("no such contender")
	case r.heading:
		line += l.Faint.S(l.ASCIIOnly(s.about(r)))
	default:
		line += s.drawState(l, r, 16) + " "
		if !r.variant {
			note = s.about(r)
		}
		line += l.Faint.S(l.ASCIIOnly(look.Outside(note, 200)))
	}
	if focused {
		return l.Select.S(l.Fit(plainText(line), w))
	}
	return l.Fit(line, w)
}

// about is what a contender is written in.
func (s *Screen) about(r row) string {
	parts := []string{look.Outside(r.svc.Language, 40), look.Outside(strings.TrimSpace(r.svc.Framework+" "+r.svc.Version), 60)}
	if len(r.svc.Tags) > 0 {
		parts = append(parts, look.Outside(strings.Join(r.svc.Tags, " "), 80))
	}
	return strings.Join(parts, " · ")
}

func (s *Screen) drawState(l *look.Look, r row, w int) string {
	st := s.state(r.sel)
	text, paint := stateText(st), l.Text
	switch st.Kind {
	case Ready:
		text, paint = "ready", l.Good
		if s.inContainers() && !r.svc.Builtin {
			text = "image there"
		}
	case Cannot:
		paint = l.Bad
	case Unknown:
		text, paint = l.Glyph.Missing, l.Faint
	}
	if more := text + ", verified"; isVerified(st) && st.Kind != Cannot && look.Width(more) <= w {
		text = more
	}
	if r.svc.Unverified != "" {
		text = strings.TrimPrefix(text+", unverified", l.Glyph.Missing+", ")
		if look.Width(text) > w { // the more important word
			text = "unverified"
			if st.Kind == Cannot {
				text = "cannot run here"
			}
		}
		if st.Kind != Cannot {
			paint = l.Warn
		}
	}
	return paint.S(l.Fit(text, w))
}

// rowDetail says more of the row under the cursor.
func (s *Screen) rowDetail(l *look.Look, w int) string {
	if s.list.at >= len(s.list.all) {
		return ""
	}
	r := s.list.all[s.list.at]
	if r.unknown {
		return l.Bad.S(l.Cut(l.ASCIIOnly(look.Outside(r.sel.String(), 80)+" names no contender that is here"), w))
	}
	st := s.state(r.sel)
	switch {
	case r.heading:
		return l.Cut(l.ASCIIOnly(cmp.Or(look.Outside(r.title, 200), r.sel.Contender)+": "+units.Plural(len(r.svc.Variants), "variant")+", the first is the default"), w)
	case st.Kind == Cannot:
		return l.Bad.S(l.Cut(l.ASCIIOnly("cannot run here: "+look.Outside(st.Why, 300)), w))
	case r.svc.Unverified != "":
		return l.Warn.S(l.Cut(l.ASCIIOnly("unverified: "+look.Outside(r.svc.Unverified, 300)), w))
	case st.Why != "":
		return l.Cut(l.ASCIIOnly(stateText(st)+": "+look.Outside(st.Why, 300)+verifiedNote(st)), w)
	}
	return l.Cut(l.ASCIIOnly(cmp.Or(look.Outside(r.svc.Title, 200), r.sel.String())+verifiedNote(st)+"; serves "+look.Outside(strings.Join(r.svc.Endpoints, " "), 200)), w)
}

func isVerified(st State) bool { return strings.HasPrefix(st.Verified, "verified") }

// verifiedNote is what is known of contract and checks, behind something else.
func verifiedNote(st State) string {
	if st.Verified == "" {
		return "; not verified yet"
	}
	return "; " + look.Outside(st.Verified, 100)
}

// plainText is s without the colours that this package has put into it.
func plainText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b {
			for i < len(s) && s[i] != 'm' {
				i++
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
