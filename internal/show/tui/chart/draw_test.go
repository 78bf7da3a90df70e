package chart

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSizes draws at every small size, in every look.
func TestSizes(t *testing.T) {
	for _, o := range looks() {
		l := ui.NewTheme(o)
		axis, charts := sample(l)
		for w := -1; w < 45; w++ {
			for h := -1; h < 9; h++ {
				for _, c := range charts {
					exact(t, l, c.Draw(l, axis, w, h), w, h)
				}
			}
			exact(t, l, axis.Draw(l, w), w, 3)
		}
	}
}

// plainDraw draws points without colors, rules or names.
func plainDraw(points []Point, w, h int) []string {
	l := ui.NewTheme(ui.ThemeOptions{NoColor: true})
	lines := Chart{Series: []Series{{Points: points}}}.Draw(l, Axis{From: 0, To: 100}, w, h)
	return lines[1:]
}

// TestMaximum: a single high value among many is visible, at its height.
func TestMaximum(t *testing.T) {
	points := make([]Point, 100_000)
	for i := range points {
		points[i] = Point{float64(i) / 1000, 1}
	}
	points[50_500].Y = 100
	top := plainDraw(points, 20, 6)[0]
	testenv.Equal(t, strings.Count(top, " "), 19, "the top row", top)
	points[50_500].Y = 1
	if top := plainDraw(append(points, Point{100, 100}), 20, 6)[0]; strings.TrimLeft(top, " ") == "" || !strings.HasPrefix(top, strings.Repeat(" ", 19)) {
		t.Errorf("the top row %q does not show the maximum in the last column", top)
	}
}

func TestGapBreaksTheLine(t *testing.T) {
	column := func(points []Point) string {
		var b strings.Builder
		for _, line := range plainDraw(points, 20, 6) {
			b.WriteString(string([]rune(line)[10]))
		}
		return strings.TrimSpace(b.String())
	}
	got := column([]Point{{10, 5}, {20, 5}, {80, 5}, {90, 5}})
	testenv.Check(t, got != "", "points are not joined")
	for _, gap := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		testenv.Equal(t, column([]Point{{10, 5}, {20, 5}, {50, gap}, {80, 5}, {90, 5}}), "", gap)
	}
}

func TestSinglePoints(t *testing.T) {
	for _, points := range [][]Point{{{50, 3}}, {{50, 0}}, {{0, 1}}, {{100, 1}}, {{20, 1}, {30, math.NaN()}, {50, 1}}} {
		testenv.Contains(t, strings.Join(plainDraw(points, 20, 6), ""), "●")
	}
}

// TestEveryLineHasItsMark: every line has its mark, so it is recognized without colors.
func TestEveryLineHasItsMark(t *testing.T) {
	for _, o := range looks() {
		l := ui.NewTheme(o)
		axis, charts := sample(l)
		for _, w := range []int{30, 60, 80, 200} {
			lines := charts[1].Draw(l, axis, w, 9)
			all := strings.Join(lines[1:], "")
			for i := range 3 {
				testenv.Contains(t, all, l.Glyph.Marks[i])
			}
		}
	}
}

// TestGround: zeros and negative values are drawn at the bottom.
func TestGround(t *testing.T) {
	for _, y := range []float64{0, -5} {
		testenv.Contains(t, plainDraw([]Point{{0, y}, {100, y}}, 20, 6)[4], "! ")
	}
}

func TestRules(t *testing.T) {
	l := ui.NewTheme(ui.ThemeOptions{NoColor: true})
	draw := func(limit float64) string {
		c := Chart{Title: "memory", Series: []Series{{Points: []Point{{0, 10}, {100, 10}}}}, Rules: []Rule{{Y: limit, Name: "limit"}}}
		return strings.Join(c.Draw(l, Axis{From: 0, To: 100}, 40, 9), "\n")
	}
	testenv.Contains(t, draw(16), "⠤ ⠤ ⠤", "limit", "!↑")
	testenv.Contains(t, draw(5000), "!⠤ ⠤", "limit ↑")
}

func TestBandsKeepTheLargest(t *testing.T) {
	l := ui.NewTheme(ui.ThemeOptions{ASCII: true, NoColor: true})
	c := Chart{BandName: "throttled", Bands: []Band{{0, 50, 0.1}, {20, 30, 1}, {0, 50, 0.2}, {90, 90, 0.5}, {200, 300, 1}, {60, 70, math.NaN()}}}
	lines := c.Draw(l, Axis{From: 0, To: 100}, 20, 6)
	got, want := ansi.Strip(lines[5]), "....##....        : "
	testenv.Check(t, got == want, "bands %q, want %q", got, want)
}

func TestLegendShowsThatItIsCut(t *testing.T) {
	l := ui.NewTheme(ui.ThemeOptions{NoColor: true})
	_, charts := sample(l)
	for w, want := range map[int]string{60: "● p50  ■ p90  ▲ p99", 40: "● p50  ■ p90 …"} {
		title := ansi.Strip(charts[1].Draw(l, Axis{To: 1}, w, 3)[0])
		testenv.Check(t, strings.HasSuffix(title, "┈ "+want), "%d cells: %q, want %q at its end", w, title, want)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		v      float64
		binary bool
		want   float64
	}{
		{1, false, 1}, {1.01, false, 1.2}, {9, false, 10}, {13765, false, 15000}, {0.3, false, 0.3}, {8.5, true, 12}, {12, true, 12}, {12.5, true, 16},
	} {
		got := niceTop(c.v, c.binary)
		testenv.Check(t, math.Abs(got-c.want) <= 1e-9*c.want, "top above %v is %v, want %v", c.v, got, c.want)
	}
	for _, c := range []struct{ v, down, up float64 }{{0.159, 0.1, 0.2}, {1, 1, 1}, {379, 200, 500}, {6, 5, 10}} {
		if d, u := oneTwoFive(c.v, false), oneTwoFive(c.v, true); math.Abs(d-c.down) > 1e-9*d || math.Abs(u-c.up) > 1e-9*u {
			t.Errorf("%v is between %v and %v, want %v and %v", c.v, d, u, c.down, c.up)
		}
	}
	for _, c := range []struct {
		s    scale
		rows int
		want []float64
	}{
		{scale{top: 15000}, 4, []float64{15000, 0}},
		{scale{top: 15000}, 8, []float64{15000, 0, 7500}},
		{scale{top: 15000}, 15, []float64{15000, 0, 3750, 7500, 11250}},
		{scale{top: 2}, 15, []float64{2, 0, 0.5, 1, 1.5}},
		{logScale(1, 1e4), 5, []float64{1e4, 1, 1, 1000}},
		{logScale(1, 10), 8, []float64{10, 1, 1, 10, 2, 5}},
	} {
		testenv.Equal(t, c.s.ticks(c.rows), c.want, "ticks of", c.s, c.rows)
	}
	for _, c := range []struct {
		chart       Chart
		bottom, top float64
	}{
		{Chart{Log: true}, 0.1, 1},
		{Chart{Log: true, Series: []Series{{Points: []Point{{0, 30}, {1, 4000}, {2, -1}}}}}, 20, 5000},
		{Chart{Series: []Series{{Points: []Point{{0, 29}}}}}, 0, 30},
	} {
		s := c.chart.scale(thin(c.chart.Series, Axis{To: 10}, 20, c.chart.Log))
		testenv.Check(t, math.Abs(s.bottom-c.bottom) <= 1e-9*c.bottom && math.Abs(s.top-c.top) <= 1e-9*c.top,
			"scale of %+v is from %v to %v, want %v to %v", c.chart, s.bottom, s.top, c.bottom, c.top)
	}
	s := logScale(1e-3, 1e3)
	for v, want := range map[float64]float64{1e-3: 0, 1: 0.5, 1e3: 1, 1e9: 1, 0: 0} {
		got := s.pos(v)
		testenv.Check(t, math.Abs(got-want) <= 1e-9, "%v is at %v of the log scale, want %v", v, got, want)
	}
}

// TestStepOutOfSight: the name of a step that began before the axis is at its left end.
func TestNamesOfTheAxis(t *testing.T) {
	l := ui.NewTheme(ui.ThemeOptions{ASCII: true, NoColor: true})
	a := Axis{From: 100, To: 160, Bounds: []Bound{{0, "one"}, {50, "two"}, {130, "three"}, {170, "four"}}}
	got, want := ansi.Strip(a.Draw(l, 40)[1]), "                    |three              "
	testenv.Check(t, got == want, "names %q, want %q", got, want)
	a.Bounds, a.Flags = nil, []Flag{{159, "newest note"}}
	got, want = ansi.Strip(a.Draw(l, 40)[1]), "                            newest notev"
	testenv.Check(t, got == want, "flag %q, want %q", got, want)
}

// TestAllocations: a frame of the live view must not allocate by the cell or by the point.
func TestAllocations(t *testing.T) {
	l := ui.NewTheme(ui.ThemeOptions{})
	axis, charts := sample(l)
	for _, c := range charts {
		n := testing.AllocsPerRun(10, func() { c.Draw(l, axis, 200, 40) })
		testenv.Check(t, n <= 80, "%s: %v allocations a draw", c.Title, n)
	}
}

// sample returns charts like those of the live view: three steps, with a gap after the second.
func sample(l *ui.Theme) (Axis, []Chart) {
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

func looks() map[string]ui.ThemeOptions {
	return map[string]ui.ThemeOptions{
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
			l := ui.NewTheme(looks()[c.look])
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

// golden compares lines with a file, in which a bar at the end of each line shows its width.
func golden(t *testing.T, name string, l *ui.Theme, lines []string, w int) {
	t.Helper()
	exact(t, l, lines, w, len(lines))
	got := strings.ReplaceAll(strings.Join(lines, "¶\n")+"¶\n", "\x1b", "␛")
	testenv.Golden(t, filepath.Join("testdata", name+".txt"), got)
}

func TestTimes(t *testing.T) {
	for want, s := range map[string]float64{"0:00": -0.5, "1:01": 61, "-1:01": -61, "1:00:01": 3601, "1e+09": 1e9} {
		testenv.Equal(t, clock(s), want)
	}
	line := Axis{From: 0, To: 3, Gutter: Gutter}.Draw(ui.NewTheme(ui.ThemeOptions{NoColor: true}), 80)[0]
	testenv.Contains(t, line, "0:00", "0:01", "0:02")
}
