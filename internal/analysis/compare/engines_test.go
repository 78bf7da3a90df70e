package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
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

func agreement(t *testing.T, r bench.Run, trial bench.TrialResult) string {
	t.Helper()
	a, err := EnginesAgree(analysis.Of(r, []bench.TrialResult{trial}))
	testenv.OK(t, err)
	var b strings.Builder
	testenv.OK(t, a.Text(&b))
	return b.String()
}

// The ratio within the pairs is found, whichever engine began, and at each load by itself.
func TestEnginesAgree(t *testing.T) {
	apart := func(by float64) func(int, int) float64 {
		return func(connections, pair int) float64 {
			return by * (1 + float64(connections)/100) * (1 + .001*float64(pair%3))
		}
	}
	type spoil = func(*bench.StepResult)
	text := ""
	for _, c := range []struct {
		name  string
		pairs int
		by    float64
		first int // index of the step that is spoilt
		spoil spoil
	}{
		{"agree", 8, 1, 0, nil},
		{"far apart", 8, 6, 0, nil},
		{"five pairs", 5, 1, 0, nil},
		{"errors", 7, 1, 1, func(s *bench.StepResult) { s.Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 1} }},
		{"rejected requests", 7, 1, 1, func(s *bench.StepResult) { s.Load.Rejected = bench.Statuses{429: 1} }},
		{"cut short", 7, 1, 2, func(s *bench.StepResult) { s.Aborted = bench.AbortedSkipped }},
		{"another engine", 7, 1, 1, func(s *bench.StepResult) { s.Load.Loop = bench.LoopVegeta }},
		{"engine not known", 7, 1, 2, func(s *bench.StepResult) { s.Load.Loop = "" }},
		{"no CPU time of the client", 7, 1, 1, func(s *bench.StepResult) { s.Load.ClientCPU = 0 }},
		{"no CPU time of the client in the only pair", 1, 1, 1, func(s *bench.StepResult) { s.Load.ClientCPU = 0 }},
		{"no successes", 6, 1, 1, func(s *bench.StepResult) { s.Load.Succeeded, s.Load.ClientCPU = 0, 1 }},
		{"a step without an engine between", 7, 1, 2, func(s *bench.StepResult) { s.Step.Engine = "" }},
		{"another load", 7, 1, 2, func(s *bench.StepResult) { s.Step.Connections++ }},
		{"the same engine twice", 7, 1, 2, func(s *bench.StepResult) { s.Step = engineStep(0, 1, bench.EngineFast, 1).Step }},
	} {
		r, trial := enginePairs(c.pairs, apart(c.by), 1, 16)
		if c.spoil != nil {
			trial.Steps = trial.Steps[:1+2*c.pairs] // without the second load
			c.spoil(&trial.Steps[c.first])
		}
		text += "## " + c.name + "\n\n" + agreement(t, r, trial) + "\n"
	}
	r, trial := enginePairs(6, apart(1), 1)
	r.Needs = []bench.NeedInfo{{Name: "elasticsearch", From: bench.NeedEmbedded}}
	text += "## embedded store\n\n" + agreement(t, r, trial)
	testenv.Golden(t, "testdata/engines.txt", text)

	for want, of := range map[string][]bench.TrialResult{
		"no pair of steps ran with both engines": {{Trial: trial.Trial, Steps: trial.Steps[:2]}},
		"no single contender in these results":   {trial, {Trial: bench.Trial{Contender: "b"}}},
	} {
		if _, err := EnginesAgree(analysis.Of(r, of)); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A large distance is a factor.
func TestWithin(t *testing.T) {
	for far, want := range map[float64]string{.0123: "1.2%", 3.99: "399.0%", 4: "×5", 17.3: "×18.3"} {
		if got := within(far); got != want {
			t.Errorf("%g: %s, want %s", far, got, want)
		}
	}
}
