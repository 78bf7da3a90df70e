package chart

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/fit"
)

func latencies(list ...time.Duration) bench.Latencies {
	h := hdr.New()
	for _, d := range list {
		h.Record(d)
	}
	return h.Latencies()
}

func TestTwoHumpsOfLatencies(t *testing.T) {
	var list []time.Duration
	for i := range 1000 {
		d := time.Millisecond
		if i%10 == 0 {
			d = 80 * time.Millisecond // throttled, say
		}
		list = append(list, d)
	}
	lines := NewHistogram(latencies(list...)).Draw(ui.NewTheme(ui.ThemeOptions{NoColor: true}), 80, 12)
	view := ansi.Strip(strings.Join(lines, "\n"))
	under := func(mark string, at int) string {
		before, _, ok := strings.Cut(ansi.Strip(lines[11]), mark)
		testenv.Check(t, ok, "no %q:\n%s", mark, view)
		column := ""
		for _, line := range lines[:10] {
			x := fit.Width(before) + at
			column += ansi.Cut(ansi.Strip(line), x, x+1)
		}
		return strings.TrimSpace(column)
	}
	testenv.Equal(t, under("↑p50", 0), strings.Repeat("█", 10), view)
	// The mark of a quantile at the right end ends at its column.
	testenv.Equal(t, under("p99↑", 3), "▁█", view)
	testenv.Equal(t, under("p99↑", 0), "", view)
	testenv.Contains(t, view, " 90%┤", "╵1 ms")
}

func TestSharesAreOfAllRequests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 8; n < 400; n += 13 {
		var list []time.Duration
		for range 1 + rng.IntN(300) {
			list = append(list, time.Duration(math.Exp(rng.Float64()*27)))
		}
		h := testenv.Must(hdr.Decode(latencies(list...)))(t)
		scale := cellsOf(h.Bars(), n)
		shares, top, each := scale.shares(h.Bars())
		sum := 0.0
		for i := 0; i < n; i += each {
			sum += shares[i]
			testenv.Check(t, shares[i] >= 0 && shares[i] <= top,
				"%d cells: share %g, the largest is %g", n, shares[i], top)
		}
		testenv.Check(t, math.Abs(sum-1) <= 1e-9, "%d cells: the shares come to %g", n, sum)
	}
}

// A results file may pair any quantiles with a readable histogram.
func TestHistogramOfAnyLatencies(t *testing.T) {
	hour := latencies(time.Hour, time.Hour)
	sizes := [][2]int{{80, 23}, {1, 1}, {200, 49}, {20, 12}, {16, 6}, {80, 5}}
	for i, q := range []bench.Latencies{
		latencies(0), latencies(1), latencies(0, math.MaxInt64), hour, latencies(time.Millisecond, time.Second),
		{Count: 3, HDR: "not base64"},
	} {
		for n, odd := range []time.Duration{math.MinInt64, math.MaxInt64} {
			q.P50, q.P90, q.P99, q.P999 = odd, -odd, odd/2, odd
			size := sizes[(i+n)%len(sizes)]
			l := ui.NewTheme(ui.ThemeOptions{ASCII: n == 0})
			exact(t, l, NewHistogram(q).Draw(l, size[0], size[1]), size[0], size[1])
		}
	}
}

func TestBlocksInASCII(t *testing.T) {
	l := ui.NewTheme(ui.ThemeOptions{ASCII: true})
	for full, want := range map[float64]string{0: "  ", 0.001: ". ", 0.2: ". ", 0.4: ": ", 0.5: "# ", 0.6: "#.", 1: "##", 7: "##", math.NaN(): "  "} {
		testenv.Equal(t, block(l, full, 0, 2)+block(l, full, 1, 2), want, "a bar of", full)
	}
}
