package report

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
)

// stepsOf returns a trial with one step for each number of connections.
func stepsOf(contender string, round int, load func(i int) bench.Load, connections ...int) bench.TrialResult {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: contender, Round: round}}
	for i, n := range connections {
		trial.Steps = append(trial.Steps, bench.StepResult{Index: i, Step: bench.Step{Connections: n}, Load: load(i)})
	}
	return trial
}

// The thick line is the median of the rounds that finished, the thin ones are the rounds. Quantiles
// are of all responses together, never averaged. There is no interval below six rounds.
func TestMiddle(t *testing.T) {
	latencies := func(ds ...time.Duration) bench.Latencies {
		h := hdr.New()
		for _, d := range ds {
			h.Record(d)
		}
		return h.Latencies()
	}
	var trials []bench.TrialResult
	for round := 1; round <= 6; round++ {
		// Five rounds of one fast response and one round of six slow ones: the median of the
		// medians is fast, the median of all responses is slow.
		l := latencies(time.Millisecond)
		if round == 6 {
			l = latencies(time.Second, time.Second, time.Second, time.Second, time.Second, time.Second)
		}
		trials = append(trials, stepsOf("a", round, func(int) bench.Load {
			return bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: int64(100 * round)}, Latency: l}
		}, 2, 4))
	}
	trials[0].Steps[1].Aborted = "died"
	throughput := chartOf(t, bench.Run{}, trials, "throughput").Lines
	if p := throughput[0].points[0]; p.y != 350 || p.ci == nil || p.ci.Low != 100 || p.ci.High != 600 {
		t.Errorf("throughput at 2 connections: %+v", p)
	}
	p := throughput[0].points[1]
	testenv.Check(t, p.y == 400 && p.ci == nil, "throughput at 4 connections, of the five rounds that finished: %+v", p)
	testenv.Check(t, len(throughput) == 7 && !throughput[0].Faint && throughput[6].Faint && throughput[6].Round == 6, "%+v", throughput)
	p = chartOf(t, bench.Run{}, trials, "p50").Lines[0].points[0]
	testenv.Check(t, math.Abs(p.y-1000) <= 1, "p50 of 5 fast and 6 slow responses is %+v ms", p)
}

// Steps are at their number of connections on a logarithmic axis, or side by side if that is not
// possible. Warm-up steps have no place.
func TestPlaces(t *testing.T) {
	warm := func(n int) bench.Step { return bench.Step{Connections: n, WarmUp: true} }
	conns := func(n int) bench.Step { return bench.Step{Connections: n} }
	for name, c := range map[string]struct {
		steps []bench.Step
		want  []number
		grow  bool
	}{
		"doubling":      {[]bench.Step{warm(1), warm(1), conns(2), conns(4), conns(8)}, []number{2, 4, 8}, true},
		"rates":         {[]bench.Step{{Rate: 100}, {Rate: 1000}}, []number{100, 1000}, true},
		"warm-up later": {[]bench.Step{conns(2), warm(1), conns(4)}, []number{2, 4}, true},
		"one":           {[]bench.Step{conns(2)}, []number{2}, true},
		"alike":         {[]bench.Step{conns(2000), conns(2000)}, []number{0, 1}, false},
		"down":          {[]bench.Step{conns(4), conns(2)}, []number{0, 1}, false},
		"two kinds":     {[]bench.Step{conns(2), {Rate: 100}}, []number{0, 1}, false},
		"no load":       {[]bench.Step{{}, {}}, []number{0, 1}, false},
		"infinite":      {[]bench.Step{{Rate: 1}, {Rate: math.Inf(1)}}, []number{0, 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLayout(analysis.Of(bench.Run{Profile: bench.Profile{Steps: c.steps}}, nil))
			at, grow := l.places()
			var got []number
			for _, tick := range l.ticks(at) {
				got = append(got, tick.At)
			}
			testenv.Equal(t, got, c.want)
			testenv.Equal(t, grow, c.grow)
		})
	}
}

// A time line has steps at their times and gaps between them. A long trial
// has fewer points, with the mean rate and the largest quantiles of their windows.
func TestTimeline(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	second := time.Second
	window := func(i int, n int64, p99 time.Duration) bench.Window {
		return bench.Window{Start: time.Duration(i) * second, Length: second, Succeeded: n, P50: p99 / 2, P99: p99}
	}
	trial := stepsOf("a", 1, func(i int) bench.Load {
		return bench.Load{Started: start.Add(time.Duration(i) * 10 * second), Elapsed: 2 * second,
			Windows: []bench.Window{window(0, 100, 10*time.Millisecond), window(1, 300, 30*time.Millisecond)}}
	}, 2, 4)
	trial.Steps[0].Before = &bench.Usage{At: start, CPU: second, Throttling: &bench.Throttling{Periods: 10}}
	trial.Steps[0].After = &bench.Usage{At: start.Add(2 * second), CPU: 4 * second, Throttling: &bench.Throttling{Periods: 30, Throttled: 5}, Memory: &bench.Memory{Used: 3 << 20}}
	trial.Steps[1].After = &bench.Usage{At: start.Add(-time.Hour)} // a clock that was set
	of := func(id string) (points [][2]float64) {
		for _, p := range chartOf(t, bench.Run{}, []bench.TrialResult{trial}, id).Lines[0].points {
			if !finite(p.y) {
				p.x, p.y = -1, -1
			}
			points = append(points, [2]float64{p.x, p.y})
		}
		return points
	}
	gap := [2]float64{-1, -1}
	for id, want := range map[string][][2]float64{
		"second-throughput": {{.5, 100}, {1.5, 300}, gap, {10.5, 100}, {11.5, 300}, gap},
		"second-p50":        {{.5, 5}, {1.5, 15}, gap, {10.5, 5}, {11.5, 15}, gap},
	} {
		testenv.Equal(t, of(id), want, id)
	}
	l := newLayout(analysis.Of(bench.Run{}, []bench.TrialResult{trial}))
	all, starts, by := l.timeline(l.columns[0], 100)
	testenv.Check(t, by == 1 && len(starts) == 2 && starts[0].At == 0 && starts[1].At == 10, "by %d, starts %v", by, starts)
	m := all[slices.IndexFunc(all, func(m moment) bool { return finite(m.memory) })]
	testenv.Check(t, m.at == 2 && m.cpus == 1.5 && m.throttled == 25 && m.memory == 3, "reading %+v", m)
	all, _, by = l.timeline(l.columns[0], 3)
	testenv.Check(t, by == 2 && all[0].rate == 200 && all[0].p99 == 30 && all[0].at == 1, "by %d: %+v", by, all[0])
}

// withThreads gives the steps of the Kotlin contenders of a run the CPU time of their threads: a share of
// compilers, 1% of collectors, 1% of threads that ended, and the rest serves.
func withThreads(trials []bench.TrialResult, compiled float64) []bench.TrialResult {
	for _, trial := range trials {
		for i := range trial.Steps {
			if s := &trial.Steps[i]; s.Before != nil && s.After != nil && trial.Service.Language == "Kotlin" {
				of := func(share float64) bench.Duration { return bench.Duration(share * float64(s.After.CPU-s.Before.CPU)) }
				s.Before.ThreadTime = &bench.ThreadTime{}
				s.After.ThreadTime = &bench.ThreadTime{Served: of(.98 - compiled), Compiled: of(compiled), Collected: of(.01)}
			}
		}
	}
	return trials
}

// The parts of a bar are the CPU time per request of all tables; contenders whose threads were not
// read have no bar, and without compilers or collectors there is no chart.
func TestByThread(t *testing.T) {
	run, trials := small()
	l := newLayout(analysis.Of(run, withThreads(trials, .3)))
	ch, whole := byThread(l), stepChart(l, measure.Get(measure.CPURequest))
	testenv.Equal(t, ch.Ticks, []mark{{Text: "2", At: 0}, {Text: "4", At: 1}, {Text: "1,024", At: 2}, {Text: "2,048", At: 3}})
	sums, parts := map[int][]float64{}, map[int][]string{}
	for _, one := range ch.Lines {
		parts[one.Contender] = append(parts[one.Contender], one.Name)
		if sums[one.Contender] == nil {
			sums[one.Contender] = make([]float64, len(ch.Ticks))
		}
		for _, p := range one.points {
			sums[one.Contender][int(p.x)] += p.y
		}
	}
	name := func(c int) string { return l.contenders[c].Label }
	for c := range l.contenders {
		if name(c) == "rs-actix" {
			testenv.Equal(t, len(parts[c]), 0, parts[c])
			continue
		}
		testenv.Equal(t, parts[c], []string{name(c) + ", served", name(c) + ", compiled", name(c) + ", collected", name(c) + ", ended threads"})
		for i, p := range whole.Lines[slices.IndexFunc(whole.Lines, func(l line) bool { return l.Contender == c })].points {
			testenv.Check(t, math.Abs(sums[c][i]-p.y) < 1e-4*p.y, "%s at step %d: %v, %v in the other chart", name(c), i, sums[c][i], p.y)
		}
	}
	for _, cell := range ch.Values.Rows[0].Cells[1:] {
		if cell.Text != missing {
			testenv.Equal(t, len(cell.Small), 4, cell.Small)
		}
	}

	shown := func(trials []bench.TrialResult) bool {
		return slices.ContainsFunc(newCharts(newLayout(analysis.Of(run, trials))), func(ch chart) bool { return ch.ID == "cpu-by-thread" })
	}
	testenv.Check(t, shown(withThreads(trials, .021)), "not shown with 2.1%% compiled")
	testenv.Check(t, !shown(withThreads(trials, .019)), "shown with 1.9%% compiled")
	for i := range trials { // only in the warm-up
		for k := range trials[i].Steps {
			if s := &trials[i].Steps[k]; s.After != nil && s.After.ThreadTime != nil && s.Step.WarmUp {
				s.After.ThreadTime.Compiled = s.After.ThreadTime.Served
			}
		}
	}
	testenv.Check(t, !shown(trials), "shown for a warm-up")
}

// The curve ends with the number of responses.
func TestPercentiles(t *testing.T) {
	h := hdr.New()
	for i := 1; i <= 1000; i++ {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	trial := stepsOf("a", 1, func(int) bench.Load {
		return bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: 1000}, Latency: h.Latencies()}
	}, 2)
	points := chartOf(t, bench.Run{}, []bench.TrialResult{trial}, "percentiles").Lines[0].points
	testenv.Need(t, len(points) == 31, "%d points", len(points))
	for i, want := range map[int]float64{0: 1, 10: 900, 20: 990, 30: 999} {
		testenv.Check(t, math.Abs(points[i].y-want) <= want/500,
			"at 1/(1−q) = %v: %v ms, want %v", points[i].x, points[i].y, want)
	}
}

// Any results file gives a report; its data is JSON that ends no script element, and its tags are
// the template's.
func FuzzReport(f *testing.F) {
	run, trials := fixtureOf(2, 1)
	trials[0].Steps, trials[1].Steps = trials[0].Steps[4:7], trials[1].Steps[4:7]
	run.Profile.Steps = run.Profile.Steps[4:7]
	for _, trial := range trials {
		b := testenv.Must(json.Marshal(trial))(f)
		f.Add(b, "a", "kt")
	}
	f.Add([]byte(`{"steps":[{"index":-1,"step":{"connections":-5},"load":{"elapsed_ns":-1,"windows":[{"length_ns":-1,"start_ns":9223372036854775807}]}}]}`), attack, "</script>")
	lib := testenv.Must(library())(f)
	f.Fuzz(func(t *testing.T, b []byte, name, step string) {
		var trial bench.TrialResult
		if json.Unmarshal(b, &trial) != nil {
			t.Skip()
		}
		trial.Trial.Contender = name
		for i := range trial.Steps {
			trial.Steps[i].Step.Request = step
		}
		run := run
		run.Profile.Name = name
		out := string(render(t, run, []bench.TrialResult{trial, trials[0]}))
		doc := bytes.Replace([]byte(out), lib, nil, 1)
		_, rest, _ := bytes.Cut(doc, []byte(`id="page-data">`))
		data, _, ok := bytes.Cut(rest, []byte("</script>"))
		testenv.Check(t, ok && json.Valid(data) && !bytes.ContainsAny(data, "<>&\u2028"),
			"the data of the charts: %.300s", data)
		testenv.Equal(t, bytes.Count(doc, []byte("<script")), 3)
	})
}
