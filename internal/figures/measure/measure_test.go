package measure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// Names are unique, and each place finds the fields that it needs.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All() {
		for _, name := range []string{"id " + string(m.ID), "column " + m.CSV.Name, "condition " + m.ConditionName} {
			testenv.Check(t, !seen[name] || name == "column " || name == "condition ", "duplicate %s", name)
			seen[name] = true
		}
		testenv.Check(t, m.Name != "" && m.Head != "" && (m.Of != nil || m.whole != nil),
			"%s has no name, heading or value", m.ID)
		if ofSteps := m.CSV.Name != ""; ofSteps && m.Of == nil || m.Live != nil && m.Live.Of == nil {
			t.Errorf("%s is exported and has no value", m.ID)
		}
		if got, ok := ByConditionName(m.ConditionName); ok != (m.ConditionName != "") || ok && got.ID != m.ID {
			t.Errorf("%q is the condition name of %q", m.ConditionName, got.ID)
		}
		if (m.Definition.Text == "") != (m.Definition.Term == "") || m.ID == P50 && m.Definition.Text == "" {
			t.Errorf("%s has half of a definition, or none", m.ID)
		}
	}
	needs := map[Place]func(Measure) bool{
		Compared: func(m Measure) bool {
			return m.Comparison != nil && m.Comparison.Title != "" && m.Comparison.Head != ""
		},
		Ranked:       func(m Measure) bool { return m.Comparison != nil && !m.Comparison.Apart },
		ReportCharts: func(m Measure) bool { return m.Chart != nil && m.Of != nil },
	}
	for _, p := range []Place{TextSteps, TextLive, ScreenSteps} {
		needs[p] = func(m Measure) bool { return m.Of != nil }
	}
	for p := range views {
		for _, m := range View(p) {
			if need := needs[p]; m.ID == "" || m.Head == "" || need != nil && !need(m.Measure) {
				t.Errorf("place %d: %q lacks a field", p, m.ID)
			}
		}
	}
	var grouped []ID
	for _, g := range Groups() {
		grouped = append(grouped, g.IDs...)
	}
	for _, m := range All() {
		i := slices.Index(grouped, m.ID)
		testenv.Check(t, i >= 0 && !slices.Contains(grouped[i+1:], m.ID), "%s is in no group, or in two", m.ID)
	}
	if _, ok := ByConditionName("best"); ok || Get("best").ID != "" || len(Tested()) != len(View(Compared))-2 {
		t.Error("a measure that is not in the table, or a verdict about one that only explains others")
	}
}

// result returns a step of 10 s with 5 s of CPU time, a quarter of its periods throttled. What is
// n times as much is n-th of three rounds.
func result(index int, n int64) bench.StepResult {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	usage := func(n int64, cpu time.Duration) *bench.Usage {
		peak := n << 23
		return &bench.Usage{
			At: at, CPU: cpu, Throttling: &bench.Throttling{Periods: 100 * n, Throttled: 25 * n,
				Time: time.Duration(n) * time.Second},
			Memory:   &bench.Memory{Used: n << 20, Peak: n << 21, PeakIsSample: n == 3, StepPeak: &peak},
			Switches: &bench.Switches{Voluntary: 3000 * n, Involuntary: 200 * n},
			ThreadTime: &bench.ThreadTime{Served: bench.Duration(cpu * 2 / 5), Compiled: bench.Duration(cpu / 10),
				Collected: bench.Duration(cpu / 5), Runtime: bench.Duration(cpu / 20)},
		}
	}
	s := bench.StepResult{
		Index: index, Step: bench.Step{Connections: 1 + index}, Before: usage(0, time.Second),
		After: usage(n, 6*time.Second),
		Load: bench.Load{Elapsed: 10 * time.Second, Wall: 10 * time.Second, Outcomes: bench.Outcomes{Succeeded: 1000 * n, Checked: 300, Failed: map[bench.ErrorKind]int64{bench.ErrReset: 99, bench.ErrWrong: 1}}, Counts: bench.Counts{Sent: 1100 * n, Drain: 1, DrainMax: time.Duration(n) * time.Minute, Reconnects: 2 * n, SentAgain: n},
			InFlight: 1.5, FirstResponse: time.Duration(n) * time.Second},
	}
	ms := time.Duration(n) * time.Millisecond
	s.Load.Latency = bench.Latencies{Count: 1000 * n, P50: ms, P75: 2 * ms, P90: 3 * ms, P95: 4 * ms, P99: 5 * ms,
		P999: 6 * ms, Mean: 7 * ms, Max: 8 * ms}
	return s
}

// The golden file has, of each measure, the values of a step, of a step over three rounds, and of a
// contender; in parentheses what is not known; then the value in its chart, and as text.
func TestMeasures(t *testing.T) {
	trial := func(round int, steps ...bench.StepResult) bench.TrialResult {
		startUp := time.Duration(round) * time.Second
		return bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: round}, State: bench.TrialComplete,
			Steps:   steps,
			StartUp: &startUp}
	}
	rounds := []bench.TrialResult{
		trial(1, result(0, 1), result(1, 3)), trial(2, result(0, 2), result(1, 3)),
		trial(3, result(0, 3), result(1, 3)),
	}
	full := stats.Summarize(bench.Run{Profile: bench.Profile{MaxErrors: .5, MaxUnexpected: .5}}, rounds)[0]
	full.PeakTime = stats.NewValue([]float64{1e9, 2e9, 3.0000005e9})
	for i := range full.Steps { // the quantiles of all rounds
		full.Steps[i].Latency = result(0, 4).Load.Latency
	}
	empty := stats.Summarize(bench.Run{}, []bench.TrialResult{{Steps: []bench.StepResult{{}}}})[0]
	var text strings.Builder
	number := func(v float64, ok bool) string {
		if !ok {
			return fmt.Sprintf("(%.6g)", v) // not known
		}
		return fmt.Sprintf("%.6g", v)
	}
	words := func(r Result) string {
		text := fmt.Sprintf("%s of %d", number(r.Value, r.Known), len(r.Rounds))
		if r.AtLeast {
			text += ", at least"
		}
		if r.Estimate {
			text += ", estimate"
		}
		return text
	}
	idle := result(0, 1)
	idle.Load, idle.After.Throttling = bench.Load{}, idle.Before.Throttling
	for _, m := range All() {
		fmt.Fprintf(&text, "%s (%s, quantile %v)\n", m.ID, m.Unit, m.Quantile())
		if m.Of != nil {
			fmt.Fprintf(&text, "  step: %s; idle: %s; nothing: %s\n", number(m.Of(result(0, 1))), number(m.Of(idle)),
				number(m.Of(bench.StepResult{})))
		}
		over := m.Over(full.Steps[0])
		fmt.Fprintf(&text, "  rounds: %s; nothing: %s\n", words(over), words(m.Over(empty.Steps[0])))
		fmt.Fprintf(&text, "  contender: %s; nothing: %s\n", words(m.Contender(full)), words(m.Contender(empty)))
		if m.Chart != nil {
			fmt.Fprintf(&text, "  chart: %.6g %s\n", m.Axis(over.Value+.6), m.Chart.Unit)
		}
		if m.Live != nil {
			fmt.Fprintf(&text, "  live: %s; nothing: %s\n", number(m.Live.Of(*result(0, 1).After)),
				number(m.Live.Of(bench.Usage{})))
		}
		value := m.Contender(full).Value
		fmt.Fprintf(&text, "  text: %s, %s; zero: %s\n", m.Unit.Cell(value), m.Unit.Text(value), m.Unit.Cell(0))
	}
	testenv.Golden(t, "testdata/measures.txt", text.String())
}

// The error rate of a step and of a contender is an estimate where unexpected bodies were found
// in a sample.
func TestErrorRate(t *testing.T) {
	for name, test := range map[string]struct {
		checked, wrong int64
		want           bool
	}{
		"a sample":      {114, 3, true},
		"all compared":  {1000, 3, false},
		"all right":     {114, 0, false},
		"none compared": {0, 0, false},
	} {
		r := bench.StepResult{Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 1000 - test.wrong, Checked: test.checked, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: test.wrong}}}}
		c := stats.Summarize(bench.Run{}, []bench.TrialResult{{State: bench.TrialComplete, Steps: []bench.StepResult{r}}})[0]
		m := Get(ErrorRate)
		if step, all := m.Over(c.Steps[0]), m.Contender(c); step.Estimate != test.want || all.Estimate != test.want {
			t.Errorf("%s: step %+v, contender %+v", name, step, all)
		}
	}
}

// What is not known, an estimate, or only a bound is shown as such.
func TestText(t *testing.T) {
	m := Get(MemoryPeak)
	for want, r := range map[string]Result{
		"–": {}, "≥ 1 MiB": {Known: true, Value: 1 << 20, AtLeast: true, Estimate: true}, "~1 MiB": {Known: true, Value: 1 << 20, Estimate: true},
		"1 MiB": {Known: true, Value: 1 << 20},
	} {
		testenv.Equal(t, m.Text(r), want, "text")
	}
}

// An optional measure is shown from its bound on.
func TestWorth(t *testing.T) {
	s := Shown{From: .5}
	testenv.Check(t, s.Worth(.5, true) && !s.Worth(.49, true) && !s.Worth(1, false), "worth")
}
