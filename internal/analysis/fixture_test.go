package analysis

import (
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// wobble is the noise of the rounds, without a trend.
var wobble = []float64{0, .011, -.008, .004, -.013, .007, -.003, .015, -.017, .002, -.006, .009}

// rounds returns n complete rounds of a contender: a warm-up with 8 connections, then 1, 4 and 8,
// with 20, 50 and 100% of speed × 10,000/s. A request takes 100 µs of CPU time / speed, and its p99
// is 1 ms × connections / speed. It starts up in 100 ms / speed, and uses 50 MiB. Each change is
// applied to every round.
func rounds(name string, n int, speed float64, change ...func(*bench.TrialResult)) (all []bench.TrialResult) {
	for i := range n {
		by := speed * (1 + wobble[i])
		startUp := time.Duration(1e8 / by)
		trial := bench.TrialResult{Trial: bench.Trial{Contender: name, Round: i + 1}, State: bench.TrialComplete,
			StartUp: &startUp}
		trial.Steps = []bench.StepResult{closed(8, 2*by), closed(1, .2*by), closed(4, .5*by), closed(8, by)}
		trial.Steps[0].Step.WarmUp = true
		for k := range trial.Steps {
			s := &trial.Steps[k]
			s.Index = k
			s.Before = &bench.Usage{}
			s.After = &bench.Usage{CPU: time.Duration(1e5/by) * time.Duration(s.Load.Succeeded),
				Memory: &bench.Memory{Peak: 50 << 20}}
			s.Load.Latency = bench.Latencies{Count: 1, P99: time.Duration(float64(s.Step.Connections) * 1e6 / by)}
		}
		for _, f := range change {
			f(&trial)
		}
		all = append(all, trial)
	}
	return all
}

// closed returns a closed-loop step with a throughput of speed × 10,000/s.
func closed(connections int, speed float64) bench.StepResult {
	s := bench.Step{Connections: connections}
	s.Name = s.DefaultName()
	n := int64(1e5 * speed)
	return bench.StepResult{Step: s, Load: bench.Load{Elapsed: 10 * time.Second, Counts: bench.Counts{Sent: n}, Outcomes: bench.Outcomes{Succeeded: n}}}
}

// share adds the step '50% of peak' at a rate, with a p99 of 2 ms.
func share(rate float64) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		s := closed(0, rate/1e4)
		s.Index, s.Step = len(t.Steps), bench.Step{Name: "50% of peak", PeakShare: .5, Rate: rate}
		s.Load.Latency = bench.Latencies{Count: 1, P99: 2 * time.Millisecond}
		t.Steps = append(t.Steps, s)
	}
}

// lowest is share at half of the lowest peak.
func lowest(rate float64) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		share(rate)(t)
		s := &t.Steps[len(t.Steps)-1].Step
		s.Name, s.LowestPeak = "50% of lowest peak", true
	}
}

// noRate is a last step whose rate is not known.
func noRate(t *bench.TrialResult) { t.Steps[len(t.Steps)-1].Step.Rate = 0 }

// in applies changes to one round.
func in(round int, change ...func(*bench.TrialResult)) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		for _, f := range change {
			if t.Trial.Round == round {
				f(t)
			}
		}
	}
}

func interleaved(t *bench.TrialResult) {
	for k := range t.Steps {
		t.Steps[k].Interleave = &bench.Interleave{Since: time.Unix(int64(t.Trial.Round), 0), With: []string{"other"}}
	}
}

func aborted(t *bench.TrialResult) { t.State = bench.TrialAborted }

func failed(t *bench.TrialResult) { t.State = bench.TrialFailed }

func variant(name string) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) { t.Trial.Variant = name }
}

// errorsAt makes a tenth of the requests of a step fail, which excludes the step.
func errorsAt(step int) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		t.Steps[step].Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: t.Steps[step].Load.Sent / 9}
	}
}

func errorsInAll(t *bench.TrialResult) {
	for step := range t.Steps {
		errorsAt(step)(t)
	}
}

func driftAt(step int) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		t.Steps[step].Drift = &bench.Drift{Throughput: &bench.Trend{Change: .2, P: .001}}
	}
}

func clientBound(t *bench.TrialResult) { t.Steps[3].Load.Saturation = .99 }

// analyzed returns the analysis of a run of contenders.
func analyzed(contenders ...[]bench.TrialResult) *Run {
	return Of(bench.Run{ID: "r"}, slices.Concat(contenders...))
}

// limited returns a run whose profile has the contenders a, a:half and a:more, of which a:half has
// half a CPU, the others one.
func limited() bench.Run {
	of := func(variant string) bench.Selection { return bench.Selection{Contender: "a", Variant: variant} }
	return bench.Run{ID: "r", Profile: bench.Profile{Limits: bench.Limits{CPUs: 1},
		Contenders: []bench.Selection{of(""), of("half"), of("more")},
		Settings:   []bench.Settings{{Selection: of("half"), Limits: bench.Limits{CPUs: .5}}}}}
}
