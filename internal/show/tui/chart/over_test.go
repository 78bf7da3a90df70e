package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// overOf returns a chart of lines that end at these values, at 1, 4, 16 and 64 connections.
func overOf(ends ...float64) Over {
	o := Over{Chart: Chart{Title: "throughput"}, LogX: true, NameX: "connections"}
	for i, end := range ends {
		s := Series{Name: fmt.Sprint("line", i), Mark: i}
		for k, x := range []float64{1, 4, 16, 64} {
			s.Points = append(s.Points, Point{x, end * float64(k+1) / 4})
		}
		o.Series = append(o.Series, s)
	}
	return o
}

func drawOver(o Over, w, h int) []string {
	return strings.Split(ansi.Strip(strings.Join(o.Draw(ui.NewTheme(ui.ThemeOptions{NoColor: true}), w, h), "\n")), "\n")
}

// The name of each line is at its end, on a separate row, in the order of their values.
func TestOver_Names(t *testing.T) {
	for _, ends := range [][]float64{
		{100, 50, 1}, {100, 99, 98, 97}, {3, 2, 1, 100}, {1, 1, 1, 1}, {100, 100, 100, 0}, {100, 0, 0, 0},
	} {
		lines := drawOver(overOf(ends...), 60, 8)
		at := map[string]int{}
		for y, line := range lines {
			if i := strings.Index(line, "line"); i >= 0 {
				at[line[i:i+5]] = y
			}
		}
		testenv.Check(t, len(at) == len(ends), "%v: names are missing:\n%s", ends, strings.Join(lines, "\n"))
		for i := range ends {
			for k := range ends {
				a, b := at[fmt.Sprint("line", i)], at[fmt.Sprint("line", k)]
				testenv.Check(t, ends[i] <= ends[k] || a < b, "%v: line %d is not above line %d:\n%s", ends, i, k,
					strings.Join(lines, "\n"))
			}
		}
	}
	narrow := strings.Join(drawOver(overOf(1, 2), 26, 8), "\n")
	testenv.Check(t, !strings.Contains(narrow, "line"), "names leave no room for the lines:\n%s", narrow)
	low := strings.Join(drawOver(overOf(1, 2, 3, 4, 5), 60, 6), "\n")
	testenv.Check(t, !strings.Contains(low, "line"), "some of the names:\n%s", low)
}

// Points have equal distances on a log scale, each with its number below.
func TestOver_Labels(t *testing.T) {
	lines := drawOver(overOf(100), 70, 8)
	testenv.Equal(t, strings.Fields(lines[7]), []string{"1", "4", "16", "64"}, "the name has no room")
	long := overOf(100)
	long.Series[0].Name = "a long name of a contender"
	lines = drawOver(long, 90, 8)
	testenv.Equal(t, strings.Fields(lines[7]), []string{"1", "4", "16", "64", "connections"})
	o := Over{Chart: Chart{Series: []Series{{Points: []Point{{0, 1}, {20_000, 2}}}}}, NameX: "req/s"}
	lines = drawOver(o, 70, 8)
	testenv.Equal(t, strings.Fields(lines[7]), []string{"0", "5,000", "10,000", "15,000", "20,000"})
}

func FuzzOver(f *testing.F) {
	f.Add(1., 1e300, math.Inf(1), math.NaN(), "name", 70, 9, true)
	f.Add(-1., 0., 5e-324, 64., "世界\x1b[2J", 40, 5, false)
	f.Fuzz(func(t *testing.T, a, b, c, d float64, name string, w, h int, log bool) {
		w, h = w%300, h%60
		l := ui.NewTheme(ui.ThemeOptions{ASCII: log})
		o := Over{Chart: Chart{Title: name, Log: log, Rules: []Rule{{Y: c, Name: name}}, Note: name}, LogX: log, NameX: name}
		o.Series = []Series{{Name: name, Points: []Point{{a, b}, {c, d}}}, {Name: name, Points: []Point{{b, a}}}, {Name: name}}
		exact(t, l, o.Draw(l, w, h), w, h)
	})
}
