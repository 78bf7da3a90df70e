package board

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

func latencies(list ...time.Duration) bench.Latencies {
	h := hdr.New()
	for _, d := range list {
		h.Record(d)
	}
	return h.Latencies()
}

// finished returns a state with one finished step with these latencies.
func finished(t *testing.T, q bench.Latencies) *fold.State {
	t.Helper()
	s := at(t, "limits", 1, isA[bench.StepEnded])
	return on(s, bench.StepEnded{Result: bench.StepResult{Step: bench.Step{Name: "4 connections", Connections: 4, Duration: time.Second},
		Load: bench.Load{Elapsed: time.Second, Sent: q.Count, Succeeded: q.Count, Bytes: 1024 * q.Count, Latency: q}}})
}

// bar returns the height of the bar above a mark, in eighths of a line.
func bar(t *testing.T, view, mark string) int {
	t.Helper()
	x, y := find(t, view, mark)
	n := 0
	for _, line := range strings.Split(view, "\n")[:y-1] {
		if i := strings.Index("▁▂▃▄▅▆▇█", ansi.Cut(line, x, x+1)); i >= 0 && ansi.Cut(line, x, x+1) != " " && ansi.Cut(line, x, x+1) != "" {
			n += i/3 + 1
		}
	}
	return n
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
	s := finished(t, latencies(list...))
	b := New()
	press(t, b, s, "2", "enter")
	view := text(b, s, 80, 30)
	low, high := bar(t, view, "↑p50"), bar(t, view, "p99↑")
	if high != 0 { // the mark of a quantile at the right end ends at its column
		t.Errorf("p99↑ begins under a bar of %d eighths:\n%s", high, view)
	}
	x, y := find(t, view, "p99↑")
	lines := strings.Split(view, "\n")
	testenv.Equal(t, ansi.Cut(lines[y-2], x+3, x+4), "█", view)
	testenv.Check(t, low >= 40, "nine requests in ten make a bar of only %d eighths:\n%s", low, view)
	testenv.Contains(t, view, "bars: share of 1,000", "90%┤", "1 ms", "mean 8.90 ms",
		"1000 KiB: 1 KiB each, 1000 KiB/s")
}

func TestSharesAreOfAllRequests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 8; n < 400; n += 13 {
		var list []time.Duration
		for range 1 + rng.IntN(300) {
			list = append(list, time.Duration(math.Exp(rng.Float64()*27)))
		}
		h := testenv.Must(hdr.Decode(latencies(list...)))(t)
		scale := spreadScale(h.Bars(), n)
		shares, top, each := scale.shares(h.Bars())
		sum := 0.0
		for i := 0; i < n; i += each {
			sum += shares[i]
			if shares[i] < 0 || shares[i] > top {
				t.Errorf("%d cells: share %g, the largest is %g", n, shares[i], top)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%d cells: the shares come to %g", n, sum)
		}
	}
}

// A results file may pair any quantiles with a readable histogram.
func TestSpreadOfAnyLatencies(t *testing.T) {
	hour := latencies(time.Hour, time.Hour)
	sizes := []tuitest.Size{{Width: 80, Height: 23}, {Width: 1, Height: 1}, {Width: 200, Height: 49}, {Width: 20, Height: 12}}
	for i, q := range []bench.Latencies{latencies(0), latencies(1), latencies(0, math.MaxInt64), hour, latencies(time.Millisecond, time.Second), {Count: 3, HDR: "not base64"}} {
		for n, odd := range []time.Duration{math.MinInt64, math.MaxInt64} {
			q.P50, q.P90, q.P99, q.P999 = odd, -odd, odd/2, odd
			size := sizes[(i+n)%len(sizes)]
			everything(t, finished(t, q), size.Width, size.Height)
		}
	}
}

func TestDetailsOfAStep(t *testing.T) {
	s, b := at(t, "limits", 1, never), New()
	shows(t, b, s, "2 home", "!esc: all steps", "!p75")
	shows(t, b, s, "enter", "step 1: ", "p75", "bars: share of")
	shows(t, b, s, "down", "latencies  step 2: ")
	press(t, b, s, "esc")
	view := text(b, s, 80, 23)
	testenv.Contains(t, view, "!esc: all steps")
	_, mine := b.Update(tuitest.Key("esc"), s)
	testenv.Check(t, !mine, "a second esc is not the board's own")
	// One click selects a step, a second one opens its details.
	x, y := find(t, view, "1 connection ")
	for _, want := range []bool{false, true} {
		b.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}, s)
		if view = text(b, s, 80, 23); strings.Contains(view, "esc: all steps") != want {
			t.Errorf("closer after a click is not %t:\n%s", want, view)
		}
	}
}

func TestRunningStepShowsTheSpreadOfTheOneBefore(t *testing.T) {
	s, b := middle(t), New()
	press(t, b, s, "2")
	testenv.Contains(t, text(b, s, 120, 39), "step 3: 64 connections", "latencies  step 2: 8 connections")
	press(t, b, s, "enter")
	testenv.Contains(t, text(b, s, 120, 39), "!latencies")
}

func TestBlocksInASCII(t *testing.T) {
	v := &view{l: ui.NewLook(ui.LookOptions{ASCII: true})}
	for full, want := range map[float64]string{0: "  ", 0.001: ". ", 0.2: ". ", 0.4: ": ", 0.5: "# ", 0.6: "#.", 1: "##", 7: "##", math.NaN(): "  "} {
		testenv.Equal(t, v.block(full, 0, 2)+v.block(full, 1, 2), want, "a bar of", full)
	}
}
