package setup

import tea "charm.land/bubbletea/v2"

func (s *Screen) keyList(msg tea.KeyPressMsg) tea.Cmd {
	l := &s.list
	rows := l.rows(s)
	key := msg.String()
	if l.typing {
		if key != "enter" && key != "esc" {
			return s.typed(msg)
		}
		l.typing = false
		l.filter.Blur()
		if key == "esc" {
			l.unfilter(s)
		}
		return nil
	}
	switch key {
	case "k":
		l.move(-1)
	case "j":
		l.move(1)
	case "home", "g":
		l.at = 0
	case "end", "G", "shift+g":
		l.at = max(0, len(rows)-1)
	case "space", "x":
		if l.at < len(rows) {
			return s.ticked(rows[l.at])
		}
	case "/":
		l.typing = true
		l.filter.CursorEnd()
		return l.filter.Focus()
	case "a":
		return s.change(func() {
			for _, r := range rows {
				if !r.variant && !r.unknown && !s.chosen(r) {
					s.toggle(r)
				}
			}
		})
	case "n":
		return s.change(func() {
			for _, r := range rows {
				if s.chosen(r) {
					s.toggle(r)
				}
			}
		})
	case "u", "backspace", "delete":
		return s.reset(fieldContenders)
	case "enter":
		if len(s.selected()) == 0 {
			return tell("choose at least one contender", true)
		}
		s.leave()
	case "esc", "q":
		if l.filter.Value() != "" {
			l.unfilter(s)
			return nil
		}
		s.leave()
		return s.change(func() { s.choice.Contenders = l.before; l.dirty = true })
	}
	return nil
}

func (l *list) unfilter(s *Screen) {
	l.filter.SetValue("")
	l.dirty = true
	l.rows(s)
}

func (s *Screen) ticked(r row) tea.Cmd {
	cmd := s.change(func() { s.toggle(r) })
	s.list.rows(s)
	return cmd
}
