package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
)

// engineStep returns the result of one step of a pair. With fast it has 10,000 requests per second;
// vegeta has apart times the latency of that, and as much less throughput.
func engineStep(index, connections int, e bench.Engine, apart float64) bench.StepResult {
	s := bench.Step{Connections: connections, Duration: time.Second, Engine: e}
	s.Name = s.DefaultName()
	f, cpu, loop := 1., 20*time.Microsecond, bench.LoopEpoll
	if e == bench.EngineVegeta {
		f, cpu, loop = apart, 60*time.Microsecond, bench.LoopVegeta
	}
	n := int64(10_000 / f)
	return bench.StepResult{
		Index: index, Step: s,
		Before: &bench.Usage{CPU: time.Second}, After: &bench.Usage{CPU: time.Second + time.Duration(n)*30*time.Microsecond},
		Load: bench.Load{
			Loop: loop, Sent: n, Succeeded: n, Elapsed: time.Second, Wall: time.Second, ClientCPU: time.Duration(n) * cpu,
			Latency: bench.Latencies{Count: n, P50: time.Duration(1e6 * f), P99: time.Duration(4e6 * f)},
		},
	}
}

// enginePairs returns a trial with n pairs at each number of connections, after a warm-up; the
// first engine alternates. apart is the ratio of the engines in a pair.
func enginePairs(n int, apart func(connections, pair int) float64, connections ...int) (bench.Run, bench.TrialResult) {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete}
	add := func(s bench.StepResult) { trial.Steps = append(trial.Steps, s) }
	warm := engineStep(0, 1, "", 1)
	warm.Step.WarmUp = true
	add(warm)
	for _, c := range connections {
		for pair := range n {
			engines := []bench.Engine{bench.EngineFast, bench.EngineVegeta}
			if pair%2 == 1 {
				engines[0], engines[1] = engines[1], engines[0]
			}
			for _, e := range engines {
				add(engineStep(len(trial.Steps), c, e, apart(c, pair)))
			}
		}
	}
	return run(), trial
}

func agreement(t *testing.T, r bench.Run, trial bench.TrialResult) (Agreement, string) {
	t.Helper()
	a, err := EnginesAgree(analysis.Of(r, []bench.TrialResult{trial}))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := a.Text(&b); err != nil {
		t.Fatal(err)
	}
	return a, b.String()
}

// The ratio within the pairs is found, whichever engine began, and at each load by itself.
func TestEnginesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r, trial := enginePairs(8, func(connections, _ int) float64 {
		return (1 + float64(connections)/100) * (1 + .002*rng.NormFloat64())
	}, 1, 16)
	a, text := agreement(t, r, trial)
	if a.Contender != "a" || len(a.Loads) != 2 {
		t.Fatalf("%+v", a)
	}
	for i, want := range []float64{1.01, 1.16} {
		l := a.Loads[i]
		if l.Pairs != 8 || l.LeftOut != 0 || len(l.Measures) != len(engineMeasures) {
			t.Fatalf("%+v", l)
		}
		for k, ratio := range []float64{1 / want, want, want, 1, 3} {
			if m := l.Measures[k]; m.Ratio == nil || math.Abs(m.Ratio.Estimate/ratio-1) > .003 || m.Ratio.Low > m.Ratio.High {
				t.Errorf("%s, %s: %+v, want a ratio of %.3f", l.Step, m.Measure, m.Ratio, ratio)
			}
		}
	}
	for _, want := range []string{
		"1 connection   8 pairs\n", "16 connections   8 pairs\n", "At all loads the engines agree within: throughput 16.", ", p50 16.", ", p99 16.",
		"Client CPU time per request, vegeta vs fast: at most +200.0% (",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if data, err := json.Marshal(a); err != nil || !strings.Contains(string(data), `"measure":"p99","fast":4000000`) {
		t.Errorf("%v %s", err, data)
	}
	if strings.Contains(text, "embedded store") {
		t.Errorf("there is no store:\n%s", text)
	}
	r.Store.Kind = bench.StoreEmbedded
	if _, text := agreement(t, r, trial); !strings.Contains(text, "; both contain the embedded store's.") {
		t.Errorf("the embedded store is not named:\n%s", text)
	}
}

// A large distance is a factor.
func TestWithin(t *testing.T) {
	for far, want := range map[float64]string{.0123: "1.2%", 3.99: "399.0%", 17.3: "×18.3"} {
		if got := within(far); got != want {
			t.Errorf("%g: %s, want %s", far, got, want)
		}
	}
}

// A pair counts only if both steps were complete, without errors, and loaded by the planned engine.
func TestEnginePairsThatDoNotCount(t *testing.T) {
	same := func(int, int) float64 { return 1 }
	for name, spoil := range map[string]func(*bench.StepResult){
		"errors":          func(s *bench.StepResult) { s.Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 1} },
		"rejected":        func(s *bench.StepResult) { s.Load.Rejected = bench.Statuses{429: 1} },
		"cut short":       func(s *bench.StepResult) { s.Aborted = bench.AbortedSkipped },
		"another engine":  func(s *bench.StepResult) { s.Load.Loop = bench.LoopVegeta },
		"the other fails": func(s *bench.StepResult) { s.Load.Loop = "" },
	} {
		r, trial := enginePairs(7, same, 4)
		spoil(&trial.Steps[1])
		a, text := agreement(t, r, trial)
		if l := a.Loads[0]; l.Pairs != 6 || l.LeftOut != 1 || l.Measures[0].Ratio == nil || !strings.Contains(text, "6 pairs, 1 left out") {
			t.Errorf("%s: %+v\n%s", name, l, text)
		}
		spoil(&trial.Steps[3+1]) // the step with fast comes second there
		a, text = agreement(t, r, trial)
		if l := a.Loads[0]; l.Pairs != 5 || l.Measures[0].Ratio != nil || !strings.Contains(text, "needs 6 pairs") || !strings.Contains(text, "is not known") {
			t.Errorf("%s: %+v\n%s", name, l, text)
		}
	}
	r, trial := enginePairs(7, same, 4)
	trial.Steps = trial.Steps[:2] // interrupted
	if _, err := EnginesAgree(analysis.Of(r, []bench.TrialResult{trial})); err == nil || !strings.Contains(err.Error(), "no pair of steps") {
		t.Errorf("%v", err)
	}
}

// A difference in the load engine is reported; results of which it is not known have none.
func TestLoadEngineIsADifference(t *testing.T) {
	of := func(loop string) []bench.TrialResult {
		trial := trial("a", 1, usual())
		for i := range trial.Steps {
			trial.Steps[i].Load.Loop = loop
		}
		return []bench.TrialResult{trial}
	}
	for _, c := range []struct{ old, fresh, want string }{
		{"epoll", "vegeta", "load engine (fast → vegeta)"},
		{"portable", "vegeta", "load engine (portable → vegeta)"},
		{"epoll", "io_uring", ""}, {"", "vegeta", ""},
	} {
		got := ""
		for _, d := range TrialDifferences(of(c.old), of(c.fresh)) {
			if got += d.String(); d.Weight != Relevant {
				t.Errorf("%v is %s", d, d.Weight)
			}
		}
		if got != c.want {
			t.Errorf("%s and %s: %q, want %q", c.old, c.fresh, got, c.want)
		}
	}
}
