package summary

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

type change = func(*bench.TrialResult)

// side returns the trials of a contender: one per throughput, with one step of 64 connections. Each
// change is applied to all trials.
func side(name string, throughputs []float64, changes ...change) []bench.TrialResult {
	var trials []bench.TrialResult
	for i, x := range throughputs {
		n := int64(x * 10)
		cpu := time.Duration(float64(n) * 1e5) // 100 µs each
		trial := bench.TrialResult{
			Trial: bench.Trial{Contender: name, Round: i + 1}, State: bench.TrialComplete,
			Instance: &bench.InstanceInfo{Runtime: bench.RuntimeDocker, Limits: bench.Limits{CPUs: 1.5}, LimitsEnforced: true},
			Steps: []bench.StepResult{{
				Step:   bench.Step{Name: "64 connections", Connections: 64, Duration: 10 * time.Second},
				Before: &bench.Usage{}, After: &bench.Usage{CPU: cpu},
				Load: bench.Load{Elapsed: 10 * time.Second, Sent: n, Succeeded: n, Latency: bench.Latencies{Count: n, Mean: time.Millisecond}},
			}},
		}
		for _, f := range changes {
			f(&trial)
		}
		trials = append(trials, trial)
	}
	return trials
}

// around returns n distinct throughputs close to x, without a trend.
func around(x float64, n int) []float64 {
	wobble := []float64{0, .011, -.008, .004, -.013, .007, -.003, .015, -.017, .002, -.006, .009}
	var values []float64
	for i := range n {
		values = append(values, x*(1+wobble[i%len(wobble)]+.0001*float64(i/len(wobble))))
	}
	return values
}

func errors(share float64) change {
	return func(t *bench.TrialResult) {
		load := &t.Steps[0].Load
		failed := int64(share * float64(load.Sent))
		load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: failed}
		load.Succeeded -= failed
	}
}

func clientBound(t *bench.TrialResult) { t.Steps[0].Load.Saturation = .99 }

func quotaBound(t *bench.TrialResult) {
	t.Steps[0].Before.Throttling = &bench.Throttling{}
	t.Steps[0].After.Throttling = &bench.Throttling{Periods: 100, Throttled: 90, Time: time.Second}
}

func died(round int) change {
	return func(t *bench.TrialResult) {
		if t.Trial.Round == round {
			t.State, t.Failure = bench.TrialFailed, "the contender died: killed by SIGKILL (out of memory)"
			t.Exit = &bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}
		}
	}
}

func open(t *bench.TrialResult) {
	t.Steps[0].Step = bench.Step{Name: "1000/s", Rate: 1000, Duration: 10 * time.Second}
}

func sending(request string) change {
	return func(t *bench.TrialResult) { t.Steps[0].Step.Request = request }
}

func warming(t *bench.TrialResult) {
	t.Steps[0].Drift = &bench.Drift{Throughput: &bench.Trend{Change: .12, P: .001}}
}

func unlimited(t *bench.TrialResult) { t.Instance.LimitsEnforced = false }

func warned(kind bench.WarningKind, text string) change {
	return func(t *bench.TrialResult) { t.Steps[0].Warnings = bench.Warnings{{Kind: kind, Text: text}} }
}

func together(sides ...[]bench.TrialResult) (trials []bench.TrialResult) {
	for _, s := range sides {
		trials = append(trials, s...)
	}
	return trials
}

// machineBound leaves hardly any CPU idle.
func machineBound(t *bench.TrialResult) {
	t.Instance.PID = 1
	s := &t.Steps[0]
	s.Load.Wall = 10 * time.Second
	s.HostBefore = &bench.HostReading{Host: &bench.HostUsage{}}
	s.HostAfter = &bench.HostReading{Host: &bench.HostUsage{Busy: 98 * time.Second, Idle: 2 * time.Second}}
}

// growing adds the warning that memory grows by a number of bytes per request.
func growing(rate float64) change {
	return func(t *bench.TrialResult) {
		s := &t.Steps[len(t.Steps)-1]
		s.Warnings = append(s.Warnings, bench.Warning{Kind: bench.WarnMemoryGrowth, Values: map[string]float64{bench.GrowthRate: rate},
			Text: "memory use grew by " + units.Bytes(int64(rate)) + " per request"})
	}
}
