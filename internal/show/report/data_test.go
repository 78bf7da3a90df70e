package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
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

// The thick line is the median of the rounds that finished. Quantiles are of all responses
// together, never averaged. There is no interval below six rounds.
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
			return bench.Load{Elapsed: time.Second, Succeeded: int64(100 * round), Latency: l}
		}, 2, 4))
	}
	trials[0].Steps[1].Aborted = "died"
	l := newLayout(analysis.Of(bench.Run{}, trials))
	byID := map[string]chart{}
	for _, c := range newCharts(bench.Run{}, l) {
		byID[c.ID] = c
	}
	throughput := byID["throughput"].middles[0]
	if p, in := throughput.points[0], throughput.bands[0]; p == nil || p.y != 350 || in == nil || in.Low != 100 || in.High != 600 {
		t.Errorf("throughput at 2 connections: %+v, interval %+v", p, in)
	}
	if p, in := throughput.points[1], throughput.bands[1]; p == nil || p.y != 400 || in != nil {
		t.Errorf("throughput at 4 connections, of the five rounds that finished: %+v, interval %+v", p, in)
	}
	if p := byID["p50"].middles[0].points[0]; p == nil || math.Abs(p.y-1000) > 1 {
		t.Errorf("p50 of 5 fast and 6 slow responses is %+v ms", p)
	}
	got := byID["throughput"].Middles
	testenv.Check(t, len(got) == 1 && got[0] == "a median", "columns %v", got)
	got = byID["p50"].Middles
	testenv.Check(t, len(got) == 1 && got[0] == "a all rounds", "columns %v", got)
}

// Steps are at their number of connections on a logarithmic axis, or evenly spaced if that is not
// possible.
func TestPositions(t *testing.T) {
	warm := func(n int) bench.Step { return bench.Step{Connections: n, WarmUp: true} }
	conns := func(n int) bench.Step { return bench.Step{Connections: n} }
	for name, c := range map[string]struct {
		steps []bench.Step
		want  []float64
	}{
		"doubling":        {[]bench.Step{warm(1), warm(1), conns(2), conns(4), conns(8)}, []float64{0.5, 1, 2, 4, 8}},
		"no warm-up":      {[]bench.Step{conns(1), conns(16), conns(64)}, []float64{1, 16, 64}},
		"rates":           {[]bench.Step{{Rate: 100}, {Rate: 1000}}, []float64{100, 1000}},
		"alike":           {[]bench.Step{conns(2000), conns(2000)}, nil},
		"down":            {[]bench.Step{conns(4), conns(2)}, nil},
		"two kinds":       {[]bench.Step{conns(2), {Rate: 100}}, nil},
		"warm-up later":   {[]bench.Step{conns(2), warm(1), conns(4)}, nil},
		"one":             {[]bench.Step{conns(2)}, nil},
		"warm-up and one": {[]bench.Step{warm(1), conns(2)}, nil},
		"no load":         {[]bench.Step{{}, {}}, nil},
		"infinite":        {[]bench.Step{{Rate: 1}, {Rate: math.Inf(1)}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := newLayout(analysis.Of(bench.Run{Profile: bench.Profile{Steps: c.steps}}, nil)).positions()
			if len(got) != len(c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
				return
			}
			for i := range got {
				if math.Abs(got[i]-c.want[i]) > 1e-9 {
					t.Errorf("%s: %v, want %v", name, got, c.want)
				}
			}
		})
	}
}

// A time line has steps at their times, null for missing values, and no rate in drained windows. A
// long trial has fewer points, with the mean rate and the largest quantiles of their windows.
func TestTimeline(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	second := time.Second
	window := func(i int, n int64, p99 time.Duration) bench.Window {
		return bench.Window{Start: time.Duration(i) * second, Length: second, Succeeded: n, P50: p99 / 2, P99: p99}
	}
	trial := stepsOf("a", 1, func(i int) bench.Load {
		drained := window(2, 1, 9*second)
		drained.Drain = true
		return bench.Load{Started: start.Add(time.Duration(i) * 10 * second), Elapsed: 2 * second,
			Windows: []bench.Window{window(0, 100, 10*time.Millisecond), window(1, 300, 30*time.Millisecond), drained}}
	}, 2, 4)
	trial.Steps[0].Before = &bench.Usage{At: start, CPU: second, Throttling: &bench.Throttling{Periods: 10}}
	trial.Steps[0].After = &bench.Usage{At: start.Add(2 * second), CPU: 4 * second, Throttling: &bench.Throttling{Periods: 30, Throttled: 5}, Memory: &bench.Memory{Used: 3 << 20}}
	trial.Steps[1].After = &bench.Usage{At: start.Add(-time.Hour)} // a clock that was set
	c := newLayout(analysis.Of(bench.Run{}, []bench.TrialResult{trial})).columns[0]

	whole, by := newTimeline(c, 100)
	got := testenv.Must(json.Marshal(whole))(t)
	want := `{"c":0,"r":1,"steps":[{"row":0,"from":0,"to":2},{"row":1,"from":10,"to":12}],` +
		`"t":[0.5,1.5,2.5,null,10.5,11.5,12.5,null],"rate":[100,300,null,null,100,300,null,null],"err":[0,0,0,null,0,0,0,null],` +
		`"p50":[5,15,4500,null,5,15,4500,null],"p99":[10,30,9000,null,10,30,9000,null],` +
		`"at":[2,null,null],"cpu":[1.5,null,null],"thr":[25,null,null],"mem":[3,null,null]}`
	testenv.Check(t, string(got) == want && by == 1, "by %d:\n%s\nwant\n%s", by, got, want)
	short, by := newTimeline(c, 3)
	testenv.Check(t, by == 2 && short.Rate[0] == 200 && short.P99[0] == 30 && short.T[0] == 1,
		"by %d: rates %v, p99 %v at %v", by, short.Rate, short.P99, short.T)
}

// The curve ends with the number of responses, and the buckets hold all of them.
func TestDistribution(t *testing.T) {
	h := hdr.New()
	for i := 1; i <= 1000; i++ {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	d := newDistribution(h)
	testenv.Need(t, d.Count == 1000 && len(d.Curve) == 31, "%d responses, %d points", d.Count, len(d.Curve))
	for i, want := range map[int]float64{0: 1, 10: 900, 20: 990, 30: 999} {
		if math.Abs(d.Curve[i]-want) > want/500 {
			t.Errorf("at 1/(1−q) = %v: %v ms, want %v", shares()[i], d.Curve[i], want)
		}
	}
	n := int64(0)
	for _, b := range d.Buckets {
		n += b[1]
	}
	testenv.Check(t, n == 1000 && d.Buckets[0][0] == 0 && d.Buckets[len(d.Buckets)-1][0] == 24, "%d responses in %v",
		n, d.Buckets)
}

// A contender without a value has no bar and is reported as missing.
func TestMissingBar(t *testing.T) {
	step := bench.Step{Arrivals: &bench.Arrivals{Users: 4000, Over: 5 * time.Second, Requests: 2}}
	trials := []bench.TrialResult{
		{Trial: bench.Trial{Contender: "jvm", Round: 1}, Artifact: bench.Artifact{ImageSize: 200 << 20}, Steps: []bench.StepResult{{Step: step}}},
		{Trial: bench.Trial{Contender: "native", Round: 1}},
	}
	for _, c := range newCharts(bench.Run{}, newLayout(analysis.Of(bench.Run{}, trials))) {
		if c.ID != "image-size" {
			continue
		}
		option, _ := c.option()
		text := testenv.Must(json.Marshal(option["series"]))(t)
		if !strings.Contains(string(text), `"data":[{"value":200},{"value":"-"}]`) || c.Rows[0].Cells[1] != missing {
			t.Errorf("%s, cells %v", text, c.Rows[0].Cells)
		}
		return
	}
	t.Error("no chart of image sizes")
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
