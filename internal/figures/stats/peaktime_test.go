package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// trialWith returns a trial whose steps follow each other without a gap, 5 s after process start.
func trialWith(steps ...bench.StepResult) bench.TrialResult {
	at := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	trial := bench.TrialResult{Instance: &bench.InstanceInfo{Runtime: bench.RuntimeDocker,
		StartedAt: at.Add(-5 * time.Second)}}
	for i, s := range steps {
		s.Index = i
		s.Load.Started = at
		at = at.Add(s.Load.Elapsed)
		trial.Steps = append(trial.Steps, s)
	}
	return trial
}

// warm returns a warm-up step of this length in seconds.
func warm(seconds int, of func(at float64) float64) bench.StepResult {
	s := stepOf(seconds, func(at float64) (float64, float64) { return of(at), 1.5 })
	s.Step.WarmUp = true
	return s
}

func at(s bench.StepResult, connections int) bench.StepResult {
	s.Step.Connections = connections
	return s
}

func TestTimeToPeak(t *testing.T) {
	full := func(float64) float64 { return 2000 }
	jumpAt := func(begin float64) func(float64) float64 {
		return func(at float64) float64 {
			if at < begin {
				return 1000
			}
			return 2000
		}
	}
	jump := jumpAt(12)
	// but is jump, with another rate between two moments.
	but := func(from, to, factor float64) func(float64) float64 {
		return func(at float64) float64 {
			if at > from && at < to {
				return jump(at) * factor
			}
			return jump(at)
		}
	}
	cpu := func(of func(float64) float64, from float64) func(float64) (float64, float64) {
		return func(at float64) (float64, float64) { return of(at + from), 1.5 }
	}
	arriving := stepOf(20, level)
	arriving.Step.Arrivals = &bench.Arrivals{Users: 5}
	ended := warm(10, full)
	ended.Aborted = "interrupted"
	atOnce := trialWith(warm(20, full))
	atOnce.Instance.StartedAt = atOnce.Steps[0].Load.Started
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name  string
		trial bench.TrialResult
		want  time.Duration // 0: not known
	}{
		{"level from the start", trialWith(warm(20, full)), 5 * time.Second},
		{"ten windows", trialWith(warm(10, full)), 5 * time.Second},
		{"nine windows", trialWith(warm(9, full)), 0},
		{"half speed for 12 s", trialWith(warm(30, jump)), 17 * time.Second},
		{"right before the last third", trialWith(warm(30, jumpAt(20))), 25 * time.Second},
		{"within the last third", trialWith(warm(30, jumpAt(21))), 0},
		{"and in the measured step", trialWith(warm(18, jump), stepOf(10, level), at(stepOf(10, level), 128)),
			17 * time.Second},
		{"reached in the measured step", trialWith(warm(10, jump), stepOf(20, cpu(jump, 10))), 17 * time.Second},
		{"several warm-ups of one load", trialWith(at(warm(10, full), 1),
			at(warm(10, func(float64) float64 { return 500 }), 1),
			at(warm(10, full), 1), at(warm(20, full), 1), stepOf(10, level)), 25 * time.Second},
		{"only the last load", trialWith(at(warm(10, full), 1), warm(30, jump), at(stepOf(10, level), 128)),
			27 * time.Second},
		{"after a warm-up that ended early", trialWith(ended, warm(20, full)), 15 * time.Second},
		{"without a warm-up", trialWith(stepOf(30, cpu(jump, 0)), at(stepOf(30, level), 128)), 17 * time.Second},
		{"comes near", trialWith(warm(40, func(at float64) float64 { return 2000 * (1 - .6*math.Exp(-at/4)) })),
			17 * time.Second},
		{"a pause of a window", trialWith(warm(30, but(20, 21, .5))), 17 * time.Second},
		{"a pause of the last window", trialWith(warm(30, but(29, 30, .5))), 17 * time.Second},
		{"a step in between does not stay", trialWith(warm(30, but(15, 19, .9))), 24 * time.Second},
		{"noise of 10%", trialWith(warm(40, func(at float64) float64 { return jump(at) * (1 + .1*rng.NormFloat64()) })),
			17 * time.Second},
		{"rises to the end", trialWith(warm(30, func(at float64) float64 { return 1000 + 30*at })), 0},
		{"no success", trialWith(warm(20, func(float64) float64 { return 0 })), 0},
		{"no steps", trialWith(), 0},
		{"users that arrive", trialWith(arriving), 0},
		{"no time after the start", atOnce, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok := TimeToPeak(c.trial)
			testenv.Check(t, ok == (c.want > 0) && (!ok || p.After == c.want), "%s, %v; want %s", p.After, ok, c.want)
			testenv.Check(t, !ok || math.Abs(p.Level/2000-1) <= .1 && p.Within >= .03 && p.Step == "64 connections",
				"%+v", p)
		})
	}
	// Between neighbors is a difference of 200: 200 / 0.6745 / √2 is a standard deviation of 209.7.
	p, _ := TimeToPeak(trialWith(warm(30, func(at float64) float64 { return 2000 + 200*math.Mod(math.Floor(at), 2) })))
	testenv.Check(t, math.Abs(p.Within-2*209.67/p.Level) <= 1e-5, "%+v", p)
	for name, change := range map[string]func(*bench.TrialResult){
		"a target":    func(l *bench.TrialResult) { l.Instance.Runtime = bench.RuntimeURL },
		"no instance": func(l *bench.TrialResult) { l.Instance = nil },
		"no start":    func(l *bench.TrialResult) { l.Instance.StartedAt = time.Time{} },
		"interleaved": func(l *bench.TrialResult) { l.Steps[0].Interleave = &bench.Interleave{With: []string{"b"}} },
	} {
		trial := trialWith(warm(20, full))
		change(&trial)
		p, ok := TimeToPeak(trial)
		testenv.Check(t, !ok, "%s: %+v", name, p)
	}
}
