package old

import (
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Paint is ui.Paint.
type Paint = ui.Paint

// LookOptions configure a look.
type LookOptions = ui.ThemeOptions

// Look is a theme with the layout of the old screens.
type Look struct{ *ui.Theme }

// NewLook makes a look.
func NewLook(o LookOptions) *Look { return &Look{ui.NewTheme(o)} }

// Spin returns the spinner's character at a tick.
func (l *Look) Spin(tick int) string { return l.Glyph.Spinner[max(0, tick)%len(l.Glyph.Spinner)] }
