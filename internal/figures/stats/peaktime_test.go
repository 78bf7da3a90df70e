package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"locbench/internal/bench"
)

// lived returns a trial whose steps follow each other without a gap, 5 s after the start of its process.
func lived(steps ...bench.StepResult) bench.TrialResult {
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

// warm returns a warm-up step of so many seconds.
func warm(seconds int, of func(at float64) float64) bench.StepResult {
	s := course(seconds, func(at float64) (float64, float64) { return of(at), 1.5 })
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
		"level from the start":            {lived(warm(20, full)), 5 * time.Second},
		"half speed for 12 s":             {lived(warm(30, jump)), 17 * time.Second},
		"and on in the measured step":     {lived(warm(18, jump), course(10, level), with(course(10, level), 128)), 17 * time.Second},
		"reached in the measured step":    {lived(warm(10, jump), course(20, func(at float64) (float64, float64) { return jump(at + 10), 1.5 })), 17 * time.Second},
		"several warm-ups of one load":    {lived(with(warm(10, full), 1), with(warm(10, func(float64) float64 { return 500 }), 1), with(warm(10, full), 1), with(warm(20, full), 1), course(10, level)), 25 * time.Second},
		"only the last load":              {lived(with(warm(10, full), 1), warm(30, jump), with(course(10, level), 128)), 27 * time.Second},
		"without a warm-up":               {lived(course(30, func(at float64) (float64, float64) { return jump(at), 1.5 })), 17 * time.Second},
		"comes near":                      {lived(warm(40, func(at float64) float64 { return 2000 * (1 - .6*math.Exp(-at/4)) })), 17 * time.Second},
		"one window of a pause":           {lived(warm(30, func(at float64) float64 { return jump(at) * (1 - .5*boolean(at > 20 && at < 21)) })), 17 * time.Second},
		"a step in between does not stay": {lived(warm(30, func(at float64) float64 { return jump(at) * (1 - .1*boolean(at > 15 && at < 19)) })), 24 * time.Second},
		"10% noise":                       {lived(warm(40, func(at float64) float64 { return jump(at) * (1 + .1*rng.NormFloat64()) })), 17 * time.Second},
		"rises to the end":                {lived(warm(30, func(at float64) float64 { return 1000 + 30*at })), 0},
		"too short":                       {lived(warm(9, full)), 0},
		"nothing answered":                {lived(warm(20, func(float64) float64 { return 0 })), 0},
		"no steps":                        {lived(), 0},
		"users that arrive": {lived(func() bench.StepResult {
			s := course(20, level)
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

// Where nobody knows when the process was started, or others had their turns in between, there is
// no such time.
func TestTimeToPeakOfWhatWasStarted(t *testing.T) {
	for name, change := range map[string]func(*bench.TrialResult){
		"a target":    func(l *bench.TrialResult) { l.Instance.Runtime = bench.RuntimeURL },
		"no instance": func(l *bench.TrialResult) { l.Instance = nil },
		"no start":    func(l *bench.TrialResult) { l.Instance.StartedAt = time.Time{} },
		"turns":       func(l *bench.TrialResult) { l.Steps[0].Interleave = &bench.Interleave{With: []string{"b"}} },
	} {
		t.Run(name, func(t *testing.T) {
			trial := lived(warm(20, func(float64) float64 { return 2000 }))
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
