package ui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/locbench/locbench/internal/bench/units"
)

// Paint colors text with escape sequences around it. The zero value has no effect.
type Paint struct{ On, Off string }

// S returns s in this color.
func (p Paint) S(s string) string {
	if p.On == "" || s == "" {
		return s
	}
	return p.On + s + p.Off
}

// Each paints every line, in place.
func (p Paint) Each(lines []string) []string {
	for i, line := range lines {
		lines[i] = p.S(line)
	}
	return lines
}

func newPaint(s lipgloss.Style) Paint {
	const probe = "\x00"
	on, off, _ := strings.Cut(s.Render(probe), probe)
	return Paint{on, off}
}

// LookOptions configure a look.
type LookOptions struct {
	Light   bool // the terminal's background is light
	ASCII   bool // use only ASCII
	NoColor bool // no color at all; bold, faint and reverse stay
}

// Look is a theme and its glyphs. It never changes, so it may be shared. Color is never the only
// carrier of meaning: errors are also called errors, and each line of a chart has its own mark.
type Look struct {
	LookOptions
	Glyph Glyphs

	Text, Title, Good, Warn, Bad, Border Paint

	Faint  Paint    // secondary text
	Strong Paint    // important text
	Accent Paint    // the focused element
	Select Paint    // the selected line: reverse, so it is visible without colors too
	Key    Paint    // names of keys
	Series [6]Paint // lines of charts, in order; color-blind users can distinguish them too
}

// Glyphs are the characters that have an ASCII substitute.
type Glyphs struct {
	Horizontal, Vertical, TopLeft, TopRight, BottomLeft, BottomRight string
	Cursor, Bullet, Check, Cross, Skip, Pause, Run                   string
	Up, Down, Left, Right, Missing, Times, Dot, AtLeast, Micro       string

	Ellipsis        string    // one cell
	On, Off         string    // a box, ticked or not
	Full, Empty     string    // cells of a bar
	Blocks, Spinner []string  // parts of a cell, from the lowest; steps
	Marks           [6]string // points of the lines of a chart, and in its legend
}

// NewLook makes a look.
func NewLook(o LookOptions) *Look {
	l := &Look{LookOptions: o, Glyph: unicodeGlyphs}
	if o.ASCII {
		l.Glyph = asciiGlyphs
	}
	style := lipgloss.NewStyle
	paint := func(dark, light string) lipgloss.Style {
		switch {
		case o.NoColor:
			return style()
		case o.Light:
			return style().Foreground(lipgloss.Color(light))
		}
		return style().Foreground(lipgloss.Color(dark))
	}
	l.Faint = newPaint(paint("#8a8f98", "#6a6f78"))
	if o.NoColor {
		l.Faint = newPaint(style().Faint(true))
	}
	l.Strong = newPaint(style().Bold(true))
	l.Title = newPaint(paint("#8ab4f8", "#1a56c4").Bold(true))
	l.Accent = l.Title
	l.Good = newPaint(paint("#5fd38d", "#13773d"))
	l.Warn = newPaint(paint("#f5c451", "#8a5a00"))
	l.Bad = newPaint(paint("#ff7b72", "#c0261f").Bold(true))
	l.Select = newPaint(style().Reverse(true))
	l.Key = newPaint(paint("#8ab4f8", "#1a56c4"))
	l.Border = newPaint(paint("#545b66", "#a9afb8"))
	// Okabe and Ito's colors, adapted to the background.
	for i, c := range [6][2]string{
		{"#56b4e9", "#0060a0"}, {"#e69f00", "#a06000"}, {"#cc79a7", "#a03070"},
		{"#2fbf91", "#007a55"}, {"#f0e442", "#7a7000"}, {"#e8793a", "#b04400"},
	} {
		l.Series[i] = newPaint(paint(c[0], c[1]))
	}
	return l
}

// Spin returns the spinner's character at a tick.
func (l *Look) Spin(tick int) string { return l.Glyph.Spinner[max(0, tick)%len(l.Glyph.Spinner)] }

var unicodeGlyphs = Glyphs{
	Ellipsis: "…", Horizontal: "─", Vertical: "│", TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
	Cursor: "▸", Bullet: "•", Check: "✓", Cross: "✗", Skip: "○", Pause: "‖", Run: "▶",
	Up: "↑", Down: "↓", Left: "←", Right: "→", On: "[x]", Off: "[ ]", Full: "█", Empty: "░",
	Blocks:  []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
	Marks:   [6]string{"●", "■", "▲", "◆", "○", "□"},
	Missing: units.Missing, Times: "×", Dot: "·", AtLeast: "≥", Micro: "µ",
}

var asciiGlyphs = Glyphs{
	Ellipsis: "~", Horizontal: "-", Vertical: "|", TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	Cursor: ">", Bullet: "*", Check: "ok", Cross: "X", Skip: "-", Pause: "=", Run: ">",
	Up: "^", Down: "v", Left: "<", Right: ">", On: "[x]", Off: "[ ]", Full: "#", Empty: ".",
	Blocks:  []string{".", ":", "#"},
	Spinner: []string{"|", "/", "-", "\\"},
	Marks:   [6]string{"o", "x", "+", "*", "#", "@"},
	Missing: "-", Times: "x", Dot: ".", AtLeast: ">=", Micro: "u",
}
