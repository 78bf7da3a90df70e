package ui

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/locbench/locbench/internal/testenv"
)

// luminance is the relative luminance of a color, and contrast the ratio of two, both as in WCAG
// 2.2.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		if x := float64(v) / 0xffff; x > 0.04045 {
			return math.Pow((x+0.055)/1.055, 2.4)
		} else {
			return x / 12.92
		}
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast: on usual backgrounds, text has a contrast of 4.5 and lines of charts one of 3.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		light       bool
		backgrounds []string
	}{{false, []string{"#000000", "#1e1e1e"}}, {true, []string{"#ffffff", "#fdf6e3"}}} {
		theme := NewTheme(ThemeOptions{Light: c.light})
		needed := map[Paint]float64{theme.Faint: 4.5, theme.Title: 4.5, theme.Key: 4.5, theme.Good: 4.5, theme.Warn: 4.5, theme.Bad: 4.5, theme.Border: 3}
		for _, p := range theme.Series {
			needed[p] = 3
		}
		for _, background := range c.backgrounds {
			for p, least := range needed {
				var r, g, b uint8
				for _, form := range []string{"\x1b[38;2;%d;%d;%dm", "\x1b[1;38;2;%d;%d;%dm"} {
					if n, _ := fmt.Sscanf(p.On, form, &r, &g, &b); n == 3 {
						break
					}
				}
				got := contrast(color.RGBA{r, g, b, 255}, lipgloss.Color(background))
				testenv.Check(t, got >= least, "%q on %s has a contrast of %.2f, less than %.1f", p.On, background, got, least)
			}
		}
	}
}
