package board

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

func TestOrderOfContenders(t *testing.T) {
	value := func(x float64) stats.Value { return stats.Value{Values: []float64{x}, Median: x} }
	contender := func(label string, rate, cpu float64, memory int64) stats.Contender {
		used := bench.StepResult{Load: bench.Load{Succeeded: 1}, Before: &bench.Usage{}, After: &bench.Usage{CPU: time.Duration(cpu)}}
		return stats.Contender{Label: label, MemoryPeak: memory, Steps: []stats.Step{{Throughput: value(rate), Results: []bench.StepResult{used}}}}
	}
	plan := []stats.Contender{{Label: "none", Peak: -1}, contender("b", 10, 3, 50), contender("a", 30, 2, 0), contender("c", 20, 3, 40)}
	for o, want := range []string{"none b a c", "a c b none", "none b a c", "none b a c", "a b c none", "c b none a", "none b a c"} {
		var got []string
		for _, c := range (&view{b: &Board{order: order(o)}}).ordered(plan) {
			got = append(got, c.Label)
		}
		testenv.Equal(t, strings.Join(got, " "), want, "order", o)
	}
	testenv.Check(t, plan[0].Label == "none" && plan[2].Label == "a", "the plan itself was changed")
}

func TestOrderKey(t *testing.T) {
	s, b := at(t, "limits", 1, never), New()
	shown := measure.View(measure.ScreenContenders)
	cost := shown[slices.IndexFunc(shown, func(m measure.Shown) bool { return m.ID == measure.Cost })].Head
	press(t, b, s, "3")
	for _, want := range []string{"peak req/s↓", "p99↑", "errors↑", "CPU/req↑", "peak memory↑", cost + "↑", ""} {
		press(t, b, s, "o")
		view := ansi.Strip(strings.Join(b.View(ui.Frame{Width: 160, Height: 40, Look: ui.NewLook(ui.LookOptions{}), Now: s.Last}, s, ""), "\n"))
		line := ""
		for _, l := range strings.Split(view, "\n") {
			if strings.HasPrefix(l, "contender ") {
				line = l
			}
		}
		if !strings.Contains(line, want) || strings.Count(line, "↑")+strings.Count(line, "↓") != min(1, len(want)) {
			t.Errorf("no %q in the header %q", want, line)
		}
	}
}
