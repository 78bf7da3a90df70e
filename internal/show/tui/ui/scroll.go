package ui

import (
	"fmt"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
)

// Scroll is lines of which the keys show others where there is no room for all.
type Scroll struct{ viewport.Model }

// NewScroll returns one without lines.
func NewScroll() Scroll { return Scroll{viewport.New()} }

// Update moves the lines; moved is false for other messages.
func (s *Scroll) Update(msg tea.Msg) (moved bool) {
	press, _ := msg.(tea.KeyPressMsg)
	by, moved := Moves(KeyOf(press), s.Height())
	s.SetYOffset(s.YOffset() + by)
	return moved
}

// Where says which lines are in sight: "lines 1 to 20 of 45"; "" if all are.
func (s *Scroll) Where() string {
	from, all, h := s.YOffset(), s.TotalLineCount(), s.Height()
	if all <= h {
		return ""
	}
	return fmt.Sprintf("lines %d to %d of %d", from+1, from+h, all)
}

// Draw draws the lines in sight; the last line says which, unless all are.
func (s *Scroll) Draw(t *Theme, w, h int) string {
	more := s.TotalLineCount() > h && h > 3
	if more {
		h--
	}
	s.SetWidth(w)
	s.SetHeight(h)
	s.SetYOffset(s.YOffset()) // there may be less to scroll now
	if more {
		return s.View() + "\n " + t.Faint.S(s.Where())
	}
	return s.View()
}
