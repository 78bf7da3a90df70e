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
		ofSteps := m.CSV.Name != ""
		testenv.Check(t, (!ofSteps || m.Of != nil) && (m.Live == nil || m.Live.Of != nil), "%s is exported and has no value", m.ID)
		got, ok := ByConditionName(m.ConditionName)
		testenv.Check(t, ok == (m.ConditionName != "") && (!ok || got.ID == m.ID), "%q is the condition name of %q", m.ConditionName, got.ID)
		testenv.Check(t, (m.Definition.Text == "") == (m.Definition.Term == "") && (m.ID != P50 || m.Definition.Text != ""),
			"%s has half of a definition, or none", m.ID)
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
			need := needs[p]
			testenv.Check(t, m.ID != "" && m.Head != "" && (need == nil || need(m.Measure)), "place %d: %q lacks a field", p, m.ID)
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
		step, all := m.Over(c.Steps[0]), m.Contender(c)
		testenv.Check(t, step.Estimate == test.want && all.Estimate == test.want, "%s: step %+v, contender %+v", name, step, all)
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

func needStep(seconds int64) bench.StepResult {
	at := time.Unix(1000, 0)
	read := func(at time.Time, n int64) *bench.HostReading {
		return &bench.HostReading{Needs: map[string]*bench.NeedUsage{"my-db": {
			At: at, Source: "cgroup v2", CPU: time.Duration(n) * 100 * time.Millisecond,
			Throttling: &bench.Throttling{Periods: 10 * n, Throttled: 4 * n}, Memory: &bench.Memory{Used: 64 << 20},
			Pressure: &bench.Pressure{Source: "cgroup v2", IO: &bench.Stall{Some: time.Duration(n) * 600 * time.Millisecond}},
			Network:  &bench.Network{Source: "x", Received: n << 20, Sent: n << 21},
			Disk:     &bench.Disk{Source: "io.stat", Read: 0, Written: n * 12 << 20, Writes: n * 310},
		}}}
	}
	return bench.StepResult{Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 500 * seconds}, Elapsed: time.Duration(seconds) * time.Second}, HostBefore: read(at, 3),
		HostAfter: read(at.Add(time.Duration(seconds)*time.Second), 3+seconds)}
}

// The measures of a need are those of the step: tables have a number for a second, exports the
// numbers of the whole step.
func TestOfNeed(t *testing.T) {
	s := needStep(2)
	words := ""
	for _, m := range OfNeed("my-db") {
		again := Get(m.ID)
		testenv.Check(t, again.Name == m.Name, "%s is not found: %q", m.ID, again.Name)
		if m.Of != nil {
			v, ok := m.Of(s)
			testenv.Check(t, ok, "%s is not known", m.ID)
			words += m.Name + " " + m.Unit.Text(v) + "\n"
			_, ok = m.Of(bench.StepResult{})
			testenv.Check(t, !ok, "%s of nothing is known", m.ID)
		}
	}
	testenv.Equal(t, words, `my-db CPU time per request 200 µs
my-db CPU time 200 ms
my-db CPUs in use 0.10 CPUs
my-db throttled periods 40.0%
my-db memory 64 MiB
my-db waiting for disk 60.0%
my-db read from disk 0 B/s
my-db written to disk 12 MiB/s
my-db disk operations 310/s
my-db received 1 MiB/s
my-db sent 2 MiB/s
`, "measures")
	exported := map[string]float64{}
	for _, m := range ExportedOfNeed("my-db") {
		exported[m.CSV.Name], _ = m.InStep(s)
	}
	testenv.Check(t, exported["need_my_db_written_bytes"] == 24<<20 && exported["need_my_db_disk_operations"] == 620 &&
		exported["need_my_db_cpu_ns"] == 2e8 && exported["need_my_db_wait_io_ratio"] == .6, "%v", exported)
	testenv.Equal(t, NeedWords("my-db", s, needStep(4)), "my-db: 200 µs CPU time per request, 0.10 CPUs in use, 40.0% throttled periods, "+
		"64 MiB memory, 60.0% waiting for disk, 12 MiB/s written to disk, 310/s disk operations, 1 MiB/s received, 2 MiB/s sent", "words")
	testenv.Equal(t, NeedWords("cache", s), "", "of another need")
	testenv.Equal(t, len(Needs([]stats.Step{{Results: []bench.StepResult{s, {}}}})), 1, "needs")
	for _, id := range []ID{"", "need:", "need:db", "need:db:", "db:cpu"} {
		testenv.Equal(t, string(Get(id).ID), "", string(id))
	}
}

// Columns and charts have letters and digits of the name; each need has measures, its group and its condition.
func TestNeedNames(t *testing.T) {
	const name = "az:AZ 09_é/"
	all := OfNeed(name)
	testenv.Equal(t, all[0].CSV.Name, "need_az_AZ_09____cpu_per_request_ns", "column")
	testenv.Equal(t, all[0].Chart.ID, "need-az_AZ_09___-cpu", "chart")
	testenv.Check(t, all[2].Chart == nil, "CPU time has a chart")
	testenv.Equal(t, CPUOfNeed(name).ID, all[0].ID, "CPU time per request")
	testenv.Equal(t, CPUOfNeed(name).Key(), name+" cpu", "key")
	testenv.Equal(t, Get(Throughput).Key(), "throughput", "key")
	g := GroupOfNeed(name)
	testenv.Check(t, g.Name == "Need "+name && len(g.IDs) == len(all) && Get("need:"+name+":none").ID == "", "%+v", g)
}

// Without requests, periods or time between two readings nothing is known.
func TestNeedsOfNothing(t *testing.T) {
	s := needStep(2)
	s.Load.Succeeded = 0
	at := s.HostBefore.Needs["my-db"].Throttling
	s.HostAfter.Needs["my-db"].Throttling = at
	known := func(s bench.StepResult, id ID) bool { _, ok := Get("need:my-db:" + id).Of(s); return ok }
	testenv.Check(t, !known(s, NeedCPURequest) && !known(s, NeedThrottled) && known(s, NeedInUse), "of no requests, no periods")
	s.HostAfter.Needs["my-db"].At = s.HostBefore.Needs["my-db"].At
	testenv.Check(t, !known(s, NeedInUse), "of no time")
}

// The cost of a need is that of the CPU time it used, whatever its limits.
func TestNeedCost(t *testing.T) {
	c := stats.Rounds(bench.Run{Profile: bench.Profile{PriceVCPUHr: .036}}, []bench.TrialResult{{
		State: bench.TrialComplete, Steps: []bench.StepResult{withCPU(needStep(2)), withCPU(needStep(4))},
	}})
	r := Get("need:my-db:cost").Contender(c)
	testenv.Check(t, r.Known && r.Value > 1.99 && r.Value < 2.01, "%+v", r) // 200 µs × 1e9 / 3600 s × $0.036
}

func withCPU(s bench.StepResult) bench.StepResult {
	s.Before, s.After = &bench.Usage{}, &bench.Usage{CPU: time.Second}
	return s
}
