package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// trialWith returns a trial whose steps follow each other without a gap, 5 s after process start.
func trialWith(steps ...bench.StepResult) bench.TrialResult {
	at := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	trial := bench.TrialResult{Instance: &bench.InstanceInfo{Runtime: bench.RuntimeDocker, StartedAt: at.Add(-5 * time.Second)}}
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

func with(s bench.StepResult, connections int) bench.StepResult {
	s.Step.Connections = connections
	return s
}

func TestTimeToPeak(t *testing.T) {
	full := func(float64) float64 { return 2000 }
	jump := func(at float64) float64 {
		if at < 12 {
			return 1000
		}
		return 2000
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		trial bench.TrialResult
		want  time.Duration // 0: not known
	}{
		"level from the start":            {trialWith(warm(20, full)), 5 * time.Second},
		"half speed for 12 s":             {trialWith(warm(30, jump)), 17 * time.Second},
		"and on in the measured step":     {trialWith(warm(18, jump), stepOf(10, level), with(stepOf(10, level), 128)), 17 * time.Second},
		"reached in the measured step":    {trialWith(warm(10, jump), stepOf(20, func(at float64) (float64, float64) { return jump(at + 10), 1.5 })), 17 * time.Second},
		"several warm-ups of one load":    {trialWith(with(warm(10, full), 1), with(warm(10, func(float64) float64 { return 500 }), 1), with(warm(10, full), 1), with(warm(20, full), 1), stepOf(10, level)), 25 * time.Second},
		"only the last load":              {trialWith(with(warm(10, full), 1), warm(30, jump), with(stepOf(10, level), 128)), 27 * time.Second},
		"without a warm-up":               {trialWith(stepOf(30, func(at float64) (float64, float64) { return jump(at), 1.5 })), 17 * time.Second},
		"comes near":                      {trialWith(warm(40, func(at float64) float64 { return 2000 * (1 - .6*math.Exp(-at/4)) })), 17 * time.Second},
		"one window of a pause":           {trialWith(warm(30, func(at float64) float64 { return jump(at) * (1 - .5*boolean(at > 20 && at < 21)) })), 17 * time.Second},
		"a step in between does not stay": {trialWith(warm(30, func(at float64) float64 { return jump(at) * (1 - .1*boolean(at > 15 && at < 19)) })), 24 * time.Second},
		"10% noise":                       {trialWith(warm(40, func(at float64) float64 { return jump(at) * (1 + .1*rng.NormFloat64()) })), 17 * time.Second},
		"rises to the end":                {trialWith(warm(30, func(at float64) float64 { return 1000 + 30*at })), 0},
		"too short":                       {trialWith(warm(9, full)), 0},
		"nothing answered":                {trialWith(warm(20, func(float64) float64 { return 0 })), 0},
		"no steps":                        {trialWith(), 0},
		"users that arrive": {trialWith(func() bench.StepResult {
			s := stepOf(20, level)
			s.Step.Arrivals = &bench.Arrivals{Users: 5}
			return s
		}()), 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, ok := TimeToPeak(c.trial)
			if ok != (c.want > 0) || p.After != c.want {
				t.Errorf("%s: %s, %v; want %s", name, p.After, ok, c.want)
			}
			if ok && (math.Abs(p.Level/2000-1) > .1 || p.Within < .03 || p.Step != "64 connections") {
				t.Errorf("%s: %+v", name, p)
			}
		})
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Targets and interleaved trials have no time to peak.
func TestTimeToPeakUnknown(t *testing.T) {
	for name, change := range map[string]func(*bench.TrialResult){
		"a target":    func(l *bench.TrialResult) { l.Instance.Runtime = bench.RuntimeURL },
		"no instance": func(l *bench.TrialResult) { l.Instance = nil },
		"no start":    func(l *bench.TrialResult) { l.Instance.StartedAt = time.Time{} },
		"interleaved": func(l *bench.TrialResult) { l.Steps[0].Interleave = &bench.Interleave{With: []string{"b"}} },
	} {
		t.Run(name, func(t *testing.T) {
			trial := trialWith(warm(20, func(float64) float64 { return 2000 }))
			if _, ok := TimeToPeak(trial); !ok {
				t.Fatal("not known before")
			}
			change(&trial)
			if p, ok := TimeToPeak(trial); ok {
				t.Errorf("%s: %+v", name, p)
			}
		})
	}
}
