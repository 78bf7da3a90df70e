package chart

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// sample returns charts like those of the live view: three steps, with a gap after the second.
func sample(l *ui.Look) (Axis, []Chart) {
	axis := Axis{
		From: 0, To: 90, Gutter: Gutter,
		Bounds: []Bound{{0, "1 connection"}, {30, "16 connections"}, {62, "256 connections"}},
		Flags:  []Flag{{41, "GC log on"}, {75, "rate 2,000 → 3,000/s"}},
	}
	curve := func(f func(x float64) float64) []Point {
		var out []Point
		for x := 0.5; x < 84; x++ {
			y := f(x)
			if x > 58 && x < 62 {
				y = math.NaN()
			}
			out = append(out, Point{x, y})
		}
		return out
	}
	load := func(x float64) float64 { return 1 + math.Floor(x/30)*3 }
	ms := func(base float64) func(float64) float64 {
		return func(x float64) float64 {
			v := base * load(x) * (1 + 0.3*math.Sin(x))
			if x == 47.5 {
				v *= 20
			}
			return v
		}
	}
	latency := func(v float64) string {
		switch {
		case v < 1:
			return fmt.Sprintf("%.3g µs", v*1e3)
		case v < 1000:
			return fmt.Sprintf("%.3g ms", v)
		}
		return fmt.Sprintf("%.3g s", v/1e3)
	}
	return axis, []Chart{
		{Title: "throughput", Value: "12,345 req/s", Unit: func(v float64) string { return fmt.Sprintf("%.0f", v) },
			Series: []Series{{Name: "req/s", Paint: l.Series[0], Points: curve(func(x float64) float64 { return 1800 * load(x) * (1 + 0.05*math.Sin(x/2)) })}}},
		{Title: "latency", Value: "p99 21.6 ms", Log: true, Unit: latency, Series: []Series{
			{Name: "p50", Paint: l.Series[0], Mark: 0, Points: curve(ms(0.2))},
			{Name: "p90", Paint: l.Series[1], Mark: 1, Points: curve(ms(0.9))},
			{Name: "p99", Paint: l.Series[2], Mark: 2, Points: curve(ms(4))},
		}},
		{Title: "CPU", Value: "1.42 of 1.5 CPUs", Unit: func(v float64) string { return fmt.Sprintf("%.2g", v) },
			Series:   []Series{{Name: "CPUs", Paint: l.Series[3], Points: curve(func(x float64) float64 { return min(1.5, 0.25*load(x)) })}},
			Rules:    []Rule{{1.5, "quota 1.5", l.Warn}},
			Bands:    []Band{{30, 40, 0.1}, {40, 50, 0.35}, {62, 70, 0.7}, {70, 90, 1}},
			BandName: "throttled"},
		{Title: "memory", Value: "10.8 MiB", Binary: true, Unit: func(v float64) string { return fmt.Sprintf("%.3g MiB", v/(1<<20)) },
			Series: []Series{
				{Name: "now", Paint: l.Series[1], Mark: 0, Points: curve(func(x float64) float64 { return (8 + 3*load(x)*math.Abs(math.Sin(x/9))/7) * (1 << 20) })},
				{Name: "high-water mark", Paint: l.Series[4], Mark: 1, Points: curve(func(x float64) float64 { return (8 + 3*load(x)/7) * (1 << 20) })},
			},
			Rules: []Rule{{512 << 20, "limit 512 MiB", l.Bad}}},
		{Title: "errors", Value: "0/s", Series: []Series{{Name: "timeout", Points: []Point{{66, 3}}}}},
	}
}

func looks() map[string]ui.LookOptions {
	return map[string]ui.LookOptions{
		"dark": {}, "light": {Light: true}, "nocolor": {NoColor: true}, "ascii": {ASCII: true}, "ascii-nocolor": {ASCII: true, NoColor: true},
	}
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		look string
		w, h int
	}{
		{"nocolor", 120, 10}, {"nocolor", 58, 5}, {"nocolor", 20, 2}, {"ascii-nocolor", 80, 7}, {"dark", 60, 5},
	} {
		name := fmt.Sprintf("%s-%dx%d", c.look, c.w, c.h)
		t.Run(name, func(t *testing.T) {
			l := ui.NewLook(looks()[c.look])
			axis, charts := sample(l)
			var lines []string
			for _, chart := range charts {
				lines = append(lines, chart.Draw(l, axis, c.w, c.h)...)
			}
			lines = append(lines, axis.Draw(l, c.w)...)
			golden(t, name, l, lines, c.w)
		})
	}
}

func TestStepsGolden(t *testing.T) {
	for _, c := range []struct {
		look string
		w, h int
	}{{"nocolor", 38, 9}, {"ascii-nocolor", 38, 9}, {"nocolor", 16, 5}} {
		name := fmt.Sprintf("steps-%s-%dx%d", c.look, c.w, c.h)
		t.Run(name, func(t *testing.T) {
			l := ui.NewLook(looks()[c.look])
			s := Steps{
				Gutter: 8, Labels: []string{"1", "4", "16", "64", "256", "1,024", "2,048"},
				Chart: Chart{Title: "go-nethttp", Value: "13,765", Unit: func(v float64) string { return fmt.Sprintf("%.0f", v) }, Series: []Series{
					{Name: "round 1", Paint: l.Series[0], Mark: 0, Points: []Point{{0, 4961}, {1, 10598}, {2, 13765}, {3, 12909}, {4, 12100}, {5, 9000}, {6, 7000}}},
					{Name: "round 2", Paint: l.Series[1], Mark: 1, Points: []Point{{0, 5100}, {1, 9800}, {2, math.NaN()}, {3, 13100}}},
				}},
			}
			golden(t, name, l, s.Draw(l, c.w, c.h), c.w)
		})
	}
}

// golden compares lines with a file, in which a bar at the end of each line shows its width.
func golden(t *testing.T, name string, l *ui.Look, lines []string, w int) {
	t.Helper()
	exact(t, l, lines, w, len(lines))
	got := strings.ReplaceAll(strings.Join(lines, "¶\n")+"¶\n", "\x1b", "␛")
	testenv.Golden(t, filepath.Join("testdata", name+".txt"), got)
}

func TestFineTimes(t *testing.T) {
	for want, got := range map[string]string{
		"0:00.5": Minutes(0.5, 1), "0:01.0": Minutes(1, 1), "1:01.50": Minutes(61.5, 2), "-0:00.5": Minutes(-0.5, 1), "0:00.0": Minutes(math.Copysign(0, -1), 1), "1:00.0": Minutes(59.96, 1),
	} {
		t.Run(want, func(t *testing.T) { testenv.Equal(t, got, want) })
	}
	line := Axis{From: 0, To: 3, Gutter: Gutter}.Draw(ui.NewLook(ui.LookOptions{NoColor: true}), 80)[0]
	testenv.Contains(t, line, "0:00.5", "0:01.0")
}
