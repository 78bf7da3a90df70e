package ui

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/fit"
)

// Class is one of three sizes of a terminal, for what a page draws in another way.
type Class int

// The classes.
const (
	Column  Class = iota // one column: a value on each line
	Compact              // from 80×24
	Full                 // from 100×28
)

// Size is the room of a page.
type Size struct {
	Width, Height int
	Class         Class
}

// SizeOf returns the size of a page in a terminal, whose last line is the program's.
func SizeOf(width, height int) Size {
	s := Size{width, max(0, height-1), Column}
	switch {
	case width >= 100 && height >= 28:
		s.Class = Full
	case width >= 80 && height >= 24:
		s.Class = Compact
	}
	return s
}

// Rest is the Most of a block that takes all lines that are left.
const Rest = 1 << 20

// Block is a part of a page, which is shown whole or not at all.
type Block struct {
	Priority int // 1 stays longest
	Least    int // lines; a block of no lines is absent
	Most     int // lines up to which it grows; 0: it does not
	Draw     func(w, h int) string
}

// Text is a block of finished lines.
func Text(priority int, lines ...string) Block {
	return Block{priority, len(lines), 0, func(int, int) string { return strings.Join(lines, "\n") }}
}

// Stack draws blocks one below the other, in exactly w by h cells. Blocks come in by priority, as
// long as they fit; the lines that remain go to those that grow, one by one. What fits in h lines
// also fits in more. The first is shown even if it does not fit.
func Stack(w, h int, blocks ...Block) string {
	heights := share(h, blocks)
	lines := make([]string, 0, h)
	for i, b := range blocks {
		if heights[i] > 0 {
			lines = append(lines, Exact(strings.Split(b.Draw(w, heights[i]), "\n"), w, heights[i])...)
		}
	}
	for len(lines) < h {
		lines = append(lines, strings.Repeat(" ", max(0, w)))
	}
	return strings.Join(lines, "\n")
}

// share returns the lines of each block.
func share(h int, blocks []Block) []int {
	heights, order := make([]int, len(blocks)), []int{}
	for i, b := range blocks {
		if b.Least > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return blocks[a].Priority - blocks[b].Priority })
	shown := 0
	for _, i := range order {
		if blocks[i].Least > h && shown > 0 {
			break // not the next: it would vanish again from a larger terminal
		}
		heights[i] = min(blocks[i].Least, h)
		h -= heights[i]
		shown++
	}
	order = order[:shown]
	for grown := true; grown && h > 0; {
		grown = false
		for _, i := range order {
			if h > 0 && heights[i] < blocks[i].Most {
				heights[i]++
				h--
				grown = true
			}
		}
	}
	return heights
}

// NextTo returns a drawing with b to the right of a, which gets wa of w cells, with two between
// them. Both get h lines.
func NextTo(a, b func(w, h int) string, wa int) func(w, h int) string {
	return func(w, h int) string {
		left := Exact(strings.Split(a(wa, h), "\n"), wa, h)
		right := Exact(strings.Split(b(w-wa-2, h), "\n"), w-wa-2, h)
		for i := range left {
			left[i] += "  " + right[i]
		}
		return strings.Join(left, "\n")
	}
}

// Window returns the first of n lines to show in h lines, such that line at is in sight. It is from
// if possible, else the nearest.
func Window(from, at, n, h int) int {
	if h <= 0 {
		return 0
	}
	from = max(min(from, at), at-h+1)
	return max(0, min(from, n-h))
}

// Box frames lines under a title, at most w cells wide, and as wide as needed.
func (t *Theme) Box(title string, lines []string, w int) []string {
	inner := fit.Width(title) + 4
	for _, line := range lines {
		inner = max(inner, fit.Width(line)+2)
	}
	inner = max(1, min(inner, w-2))
	g := t.Glyph
	title = fit.Cut(title, max(0, inner-4))
	top := t.Border.S(g.TopLeft+g.Horizontal+" ") + t.Title.S(title)
	out := []string{top + t.Border.S(" "+strings.Repeat(g.Horizontal, max(0, inner-3-fit.Width(title)))+g.TopRight)}
	for _, line := range Exact(lines, inner-2, len(lines)) {
		out = append(out, t.Border.S(g.Vertical)+" "+line+" "+t.Border.S(g.Vertical))
	}
	return append(out, t.Border.S(g.BottomLeft+strings.Repeat(g.Horizontal, inner)+g.BottomRight))
}
