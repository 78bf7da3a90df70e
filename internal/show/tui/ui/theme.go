package ui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/locbench/locbench/internal/text/table"
)

// Paint colors text with escape sequences around it. The zero value has no effect. A chart paints
// thousands of cells in a frame: lipgloss.Style would be too slow for them.
type Paint struct{ On, Off string }

// S returns s in this color.
func (p Paint) S(s string) string {
	if p.On == "" || s == "" {
		return s
	}
	return p.On + s + p.Off
}

func newPaint(s lipgloss.Style) Paint {
	const probe = "\x00"
	on, off, _ := strings.Cut(s.Render(probe), probe)
	return Paint{on, off}
}

// ThemeOptions configure a theme.
type ThemeOptions struct {
	Light   bool // the terminal's background is light
	ASCII   bool // use only ASCII
	NoColor bool // no color at all; bold, faint and reverse stay
}

// Theme is the colors and the glyphs of the dashboard. It never changes, so it may be shared. Color
// is never the only carrier of meaning: errors are also called errors, and each line of a chart has
// its own mark.
type Theme struct {
	ThemeOptions
	Glyph Glyphs

	Text, Title, Good, Warn, Bad, Border Paint

	Faint  Paint // secondary text
	Strong Paint // important text
	Accent Paint // the focused element
	Select Paint // the selected line: reverse, so it is visible without colors too
	Key    Paint // names of keys
	// KeyStyle is Key for components.
	KeyStyle lipgloss.Style
	Series   [6]Paint // lines of charts, in order; color-blind users can distinguish them too
}

// Glyphs are the characters that have an ASCII substitute.
type Glyphs struct {
	Horizontal, Vertical, TopLeft, TopRight, BottomLeft, BottomRight string
	Cursor, Check, Cross, Skip, Pause, Run                           string
	Up, Dot                                                          string

	Ellipsis string   // one cell
	Blocks   []string // parts of a cell, from the lowest
	// Marks are the points of the lines of a chart, and in its legend. Twelve contenders differ: the
	// second six have the colors of the first.
	Marks [12]string
}

// NewTheme makes a theme.
func NewTheme(o ThemeOptions) *Theme {
	t := &Theme{ThemeOptions: o, Glyph: unicodeGlyphs}
	if o.ASCII {
		t.Glyph = asciiGlyphs
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
	t.Faint = newPaint(paint("#8a8f98", "#6a6f78"))
	if o.NoColor {
		t.Faint = newPaint(style().Faint(true))
	}
	t.Strong = newPaint(style().Bold(true))
	t.Title = newPaint(paint("#8ab4f8", "#1a56c4").Bold(true))
	t.Accent = t.Title
	t.Good = newPaint(paint("#5fd38d", "#13773d"))
	t.Warn = newPaint(paint("#f5c451", "#8a5a00"))
	t.Bad = newPaint(paint("#ff7b72", "#c0261f").Bold(true))
	t.Select = newPaint(style().Reverse(true))
	t.KeyStyle = paint("#8ab4f8", "#1a56c4")
	t.Key = newPaint(t.KeyStyle)
	t.Border = newPaint(paint("#646b76", "#868d98"))
	// Okabe and Ito's colors, adapted to the background.
	for i, c := range [6][2]string{
		{"#56b4e9", "#0060a0"}, {"#e69f00", "#a06000"}, {"#cc79a7", "#a03070"},
		{"#2fbf91", "#007a55"}, {"#f0e442", "#7a7000"}, {"#e8793a", "#b04400"},
	} {
		t.Series[i] = newPaint(paint(c[0], c[1]))
	}
	return t
}

// Mark returns the painted mark of a contender, a percentile or a side, from 0. It is the same on
// every page.
func (t *Theme) Mark(n int) string { return t.Hue(n).S(t.Glyph.Marks[n%len(t.Glyph.Marks)]) }

// Hue returns the color of the mark n.
func (t *Theme) Hue(n int) Paint { return t.Series[n%len(t.Series)] }

// Tone paints a cell of a table.
func (t *Theme) Tone(tone table.Tone, s string) string {
	return map[table.Tone]Paint{
		table.Faint: t.Faint, table.Good: t.Good, table.Bad: t.Bad, table.Notice: t.Warn, table.Strong: t.Strong,
	}[tone].S(s)
}

var unicodeGlyphs = Glyphs{
	Ellipsis: "…", Horizontal: "─", Vertical: "│", TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
	Cursor: "▸", Check: "✓", Cross: "✗", Skip: "○", Pause: "‖", Run: "▶", Up: "↑", Dot: "·",
	Blocks: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	Marks:  [12]string{"●", "■", "▲", "◆", "○", "□", "△", "◇", "A", "B", "C", "D"},
}

var asciiGlyphs = Glyphs{
	Ellipsis: "~", Horizontal: "-", Vertical: "|", TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	Cursor: ">", Check: "ok", Cross: "X", Skip: "-", Pause: "=", Run: ">", Up: "^", Dot: ".",
	Blocks: []string{".", ":", "#"},
	Marks:  [12]string{"o", "x", "+", "*", "#", "@", "a", "b", "A", "B", "C", "D"},
}
