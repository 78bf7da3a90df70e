package analysis

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The rate for all is two thirds of the lowest peak, rounded down to one digit.
func TestEqualLoad(t *testing.T) {
	at := func(rate, throughput float64) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) {
			share(rate)(t)
			t.Steps[len(t.Steps)-1].Load.Succeeded = int64(throughput * 10)
		}
	}
	ramp := func(t *bench.TrialResult) { share(4000)(t); t.Steps[len(t.Steps)-1].Step.RampTo = 5000 }
	open := func(t *bench.TrialResult) { share(1000)(t); t.Steps = t.Steps[4:] }
	for _, c := range []struct {
		name string
		all  [][]bench.TrialResult
		want float64
	}{
		{"none", nil, 0},
		{"alone", [][]bench.TrialResult{rounds("a", 1, 1)}, 0},
		{"two", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, 2)}, 6000},
		{"the lowest is last", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .1), rounds("c", 1, .5)}, 600},
		{"an excluded one does not count", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .1, errorsInAll), rounds("c", 1, .5)}, 3000},
		{"open loops do not count", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .5, open)}, 0},
		{"a rate that both sustain", [][]bench.TrialResult{rounds("a", 1, 1, share(4000)), rounds("b", 1, 2, share(4000))}, 4000},
		{"the highest of two", [][]bench.TrialResult{rounds("a", 1, 1, share(4000), share(5000)), rounds("b", 1, 2, share(5000), share(4000))}, 5000},
		{"rates 5.1% apart", [][]bench.TrialResult{rounds("a", 1, 1, share(4000)), rounds("b", 1, 2, share(4204))}, 6000},
		{"one has none", [][]bench.TrialResult{rounds("a", 1, 1, share(4000)), rounds("b", 1, 2)}, 6000},
		{"an excluded one has none", [][]bench.TrialResult{rounds("a", 1, 1, share(4000)), rounds("b", 1, 2, share(4000)), rounds("c", 1, 1, errorsInAll)}, 4000},
		{"95% of the rate", [][]bench.TrialResult{rounds("a", 1, 1, at(4000, 3800)), rounds("b", 1, 2, at(4000, 4000))}, 4000},
		{"less than 95% of the rate", [][]bench.TrialResult{rounds("a", 1, 1, at(4000, 3799)), rounds("b", 1, 2, at(4000, 4000))}, 6000},
		{"a ramp", [][]bench.TrialResult{rounds("a", 1, 1, ramp), rounds("b", 1, 2, ramp)}, 6000},
		{"exactly 2", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .0002)}, 1},
		{"below 2", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .00019)}, 0},
	} {
		got := EqualLoad(analyzed(c.all...).Contenders)
		testenv.Check(t, got == c.want, "%s: %v, want %v", c.name, got, c.want)
	}
}

// The latency at a rate is interpolated between the two closed-loop steps around it.
func TestContender_P99At(t *testing.T) {
	at := func(step int, change func(*bench.StepResult)) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) { change(&t.Steps[step]) }
	}
	slow := func(d time.Duration) func(*bench.StepResult) {
		return func(s *bench.StepResult) { s.Load.Latency.P99 = d }
	}
	known := []func(*bench.TrialResult){at(1, slow(time.Millisecond)), at(2, slow(2*time.Millisecond)), at(3, slow(8*time.Millisecond))}
	for _, c := range []struct {
		name   string
		rate   float64
		change func(*bench.TrialResult)
		want   string
	}{
		{"at a step", 5000, nil, "2ms"},
		{"between two steps", 7500, nil, "4ms"},
		{"at peak", 10_000, nil, "8ms"},
		{"above the peak", 10_001, nil, "none"},
		{"below the first step", 500, nil, "≤ 1ms"},
		{"below the first step, which is slow", 500, at(1, slow(3*time.Millisecond)), "≤ 2ms"},
		{"no rate", 0, nil, "none"},
		{"without the step below", 7500, at(2, func(s *bench.StepResult) { s.Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 1e6} }), "4.177ms"},
		{"no valid step", 5000, errorsInAll, "none"},
		{"a step with this rate", 7500, share(7500), "= 2ms"},
		{"a step with another rate", 7500, share(7100), "4ms"},
	} {
		changes := slices.Clone(known)
		if c.change != nil {
			changes = append(changes, c.change)
		}
		got, ok := analyzed(rounds("a", 1, 1, changes...)).Contenders[0].P99At(c.rate)
		text := fmt.Sprint(got.Value.Round(time.Microsecond))
		switch {
		case !ok:
			text = "none"
		case got.Measured:
			text = "= " + text
		case got.AtMost:
			text = "≤ " + text
		}
		testenv.Check(t, text == c.want, "%s: %s, want %s", c.name, text, c.want)
	}
}
