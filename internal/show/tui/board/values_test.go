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
	ui "github.com/locbench/locbench/internal/show/tui/old"
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
	for _, want := range []string{"req/s at peak↓", "p99↑", "errors↑", "CPU/req↑", " memory↑", cost + "↑", ""} {
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

func TestPager(t *testing.T) {
	entry := func(i int) []string { return slices.Repeat([]string{itoa(i)}, 1+i%2) } // 0 1 1 2 3 3 4 5 5
	for _, c := range []struct {
		grows bool
		moves []int
		want  string
	}{
		{false, nil, "0 1 1 2"}, {false, []int{1}, "1 1 2 3"}, {false, []int{100}, "4 5 5"}, {false, []int{100, -1}, "3 3 4 5"}, {false, []int{-3}, "0 1 1 2"},
		{true, nil, "4 5 5"}, {true, []int{-1}, "3 3 4 5"}, {true, []int{-100}, "0 1 1 2"}, {true, []int{-1, 1}, "4 5 5"},
	} {
		var p pager
		got := p.show(6, 4, c.grows, entry)
		for _, d := range c.moves {
			p.move(d)
			got = p.show(6, 4, c.grows, entry)
		}
		testenv.Equal(t, strings.Join(got, " "), c.want, "grows", c.grows, c.moves, got)
	}
	var p pager
	got := p.show(1, 2, true, func(int) []string { return []string{"a", "b", "c"} })
	testenv.Check(t, len(got) == 2, "an entry that is too long: %v", got)
}

func TestWarningWords(t *testing.T) {
	usage := func(throttled, used int64) *bench.Usage {
		return &bench.Usage{Throttling: &bench.Throttling{Periods: throttled * 2, Throttled: throttled}, Memory: &bench.Memory{Used: used}}
	}
	load := func(failed int64, warnings ...bench.Warning) bench.Load {
		return bench.Load{Succeeded: 1000 - failed, Failed: map[bench.ErrorKind]int64{"5xx": failed}, Warnings: warnings}
	}
	for want, r := range map[string]bench.StepResult{
		"":                         {Load: load(0), Before: usage(0, 0), After: usage(0, 10)},
		"quota 50%":                {Load: load(0, bench.Warning{Text: "anything"}), Before: usage(0, 0), After: usage(10, 10)},
		"memory 96%":               {Load: load(0), Before: usage(0, 0), After: usage(0, 96)},
		"errors 2.1%":              {Load: load(21)},
		"client-bound":             {Load: load(0, bench.Warning{Kind: bench.WarnClientBound}, bench.Warning{Kind: bench.WarnClientMaybeBound})},
		"died, errors 0.3%":        {Load: load(3), Ending: bench.EndedByDeath},
		"skipped":                  {Load: load(0), Ending: bench.EndedBySkip},
		"aborted, missed":          {Load: load(0), Ending: bench.EndedEarly, Thresholds: []bench.ThresholdResult{{}}},
		"aborted":                  {Load: load(0), Ending: bench.EndedEarly},
		"still warming up":         {Load: load(0), Drift: &bench.Drift{Throughput: &bench.Trend{Change: .2}}},
		"errors 2.1%, unstable":    {Load: load(21), Drift: &bench.Drift{CPU: &bench.Trend{Change: .2}}},
		"paused":                   {Load: load(0), Warnings: bench.Warnings{{Kind: bench.WarnRunPaused}}},
		"warning":                  {Load: load(0), Warnings: bench.Warnings{{Kind: bench.WarnReopened}}},
		"errors 20%, dropped 5.0%": {Load: bench.Load{Succeeded: 8, Failed: map[bench.ErrorKind]int64{"5xx": 2}, Scheduled: 200, Dropped: 10}},
	} {
		t.Run(want, func(t *testing.T) { testenv.Equal(t, join(warningWords(&r, bench.Limits{Memory: 100})), want) })
	}
}

// The details of each step name its load engine, where it is known.
func TestDetailNamesTheLoadEngine(t *testing.T) {
	s := published(t, "locations")
	trial := s.Trials[0]
	v := &view{b: New(), l: ui.NewLook(ui.LookOptions{}), s: s, trial: trial}
	for i, step := range trial.Steps {
		loop, want := "", ""
		switch i % 3 {
		case 1:
			loop, want = "io_uring", ", load engine fast"
		case 2:
			loop, want = "vegeta", ", load engine vegeta"
		}
		step.Result.Load.Loop = loop
		detail := strings.Join(strings.Fields(strings.Join(v.detail(step, 200), " ")), " ")
		testenv.Check(t, strings.Contains(detail, want) && (want != "" || !strings.Contains(detail, "load engine")),
			"loop %q: %q is not in\n%s", loop, want, detail)
	}
}
