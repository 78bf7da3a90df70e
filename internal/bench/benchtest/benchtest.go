// Package benchtest makes runs, trials and steps for tests. What it makes is whole and plausible (a
// run knows its trials, a trial its steps), so a test says only what it is about, as a change:
//
//	fast := benchtest.Trial("a", 1, benchtest.Step(1000), benchtest.Step(9000, benchtest.CPU(5*time.Second)))
//	slow := benchtest.Trial("b:lto", 1, benchtest.Step(1000))
//	run := benchtest.Run(fast, slow)
//	dead := benchtest.With(slow, func(t *bench.TrialResult) { t.State = bench.TrialFailed })
//
// Everything is a plain value: a test may also set a field afterwards.
package benchtest

import (
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// Length is the length of the measured interval of a step.
const Length = 10 * time.Second

// Start returns when a run starts; its steps start later.
func Start() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) }

// With returns a value after changes. What the value points to is shared with the original.
func With[T any](value T, changes ...func(*T)) T {
	for _, change := range changes {
		change(&value)
	}
	return value
}

// ID returns the trial of a contender ("a", or "a:lto" with its variant) in a round.
func ID(label string, round int) bench.Trial {
	s := selection(label)
	return bench.Trial{Contender: s.Contender, Variant: s.Variant, Round: round}
}

func selection(label string) bench.Selection {
	name, variant, _ := strings.Cut(label, ":")
	return bench.Selection{Contender: name, Variant: variant}
}

// Entry returns the entry of a trial in run.json.
func Entry(label string, round int, state bench.TrialState) bench.TrialEntry {
	id := ID(label, round)
	return bench.TrialEntry{Trial: id, State: state, File: id.String() + ".json"}
}

// Run returns a complete run of trials. Its profile, "test", has their contenders and rounds, and
// the steps of the trial that has most.
func Run(trials ...bench.TrialResult) bench.Run {
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: "r", State: bench.RunComplete, Started: Start(),
		Profile: bench.Profile{Name: "test"},
	}
	p, seen := &run.Profile, map[string]bool{}
	for _, t := range trials {
		label := t.Trial.Label()
		run.Trials = append(run.Trials, Entry(label, t.Trial.Round, t.State))
		if !seen[label] {
			seen[label] = true
			p.Contenders = append(p.Contenders, selection(label))
		}
		p.Rounds = max(p.Rounds, t.Trial.Round)
		if len(t.Steps) > len(p.Steps) {
			p.Steps = nil
			for _, s := range t.Steps {
				p.Steps = append(p.Steps, s.Step)
			}
		}
	}
	return run
}

// Trial returns a complete trial of a contender ("a", "a:lto") with steps, which it numbers. The
// first one starts a second after the run, each other one when the one before ends.
func Trial(label string, round int, steps ...bench.StepResult) bench.TrialResult {
	t := bench.TrialResult{
		Schema: bench.SchemaVersion, Trial: ID(label, round), State: bench.TrialComplete, Started: Start(),
	}
	t.Service.Name = t.Trial.Contender
	at := Start().Add(time.Second)
	for i, s := range steps {
		s.Index, s.Load.Started = i, at
		at = at.Add(s.Load.Elapsed)
		t.Steps = append(t.Steps, s)
	}
	return t
}

// Step returns a measured step: 8 connections, each request a success, 10 s. Its name follows its
// load if a change does not set one.
func Step(successes int64, changes ...func(*bench.StepResult)) bench.StepResult {
	s := With(bench.StepResult{Step: bench.Step{Connections: 8, Duration: Length}, Load: Load(successes, Length)}, changes...)
	if s.Step.Name == "" {
		s.Step.Name = s.Step.DefaultName()
	}
	return s
}

// Load returns the load of a step in which each request is a success.
func Load(successes int64, length time.Duration, changes ...func(*bench.Load)) bench.Load {
	return With(bench.Load{
		Definition: bench.Interval, Elapsed: length, Counts: bench.Counts{Scheduled: successes, Sent: successes}, Outcomes: bench.Outcomes{Succeeded: successes},
	}, changes...)
}

// Closed returns a closed loop, "8 connections", of 10 s.
func Closed(connections int) bench.Step {
	return named(bench.Step{Connections: connections, Duration: Length})
}

// Open returns an open loop with a constant rate, "500/s", of 10 s.
func Open(rate float64) bench.Step { return named(bench.Step{Rate: rate, Duration: Length}) }

func named(s bench.Step) bench.Step {
	s.Name = s.DefaultName()
	return s
}

// Of gives a step another load, such as Closed(64) or Open(500).
func Of(step bench.Step) func(*bench.StepResult) {
	return func(s *bench.StepResult) { s.Step = step }
}

// Errors adds errors of a kind to a step, on top of its successes.
func Errors(kind bench.ErrorKind, n int64) func(*bench.StepResult) {
	return func(s *bench.StepResult) {
		failed := map[bench.ErrorKind]int64{kind: n}
		for k, had := range s.Load.Failed {
			failed[k] += had
		}
		s.Load.Failed = failed
		s.Load.Sent, s.Load.Scheduled = s.Load.Sent+n, s.Load.Scheduled+n
	}
}

// Latency gives all successes of a step the same latency.
func Latency(each time.Duration) func(*bench.StepResult) {
	return func(s *bench.StepResult) { s.Load.Latency = Latencies(s.Load.Succeeded, each) }
}

// Latencies returns the distribution of n equal latencies, with its histogram.
func Latencies(n int64, each time.Duration) bench.Latencies {
	h := hdr.New()
	for range n {
		h.Record(each)
	}
	return h.Latencies()
}

// CPU gives a step readings of the contender at its two ends, between which it used CPU time.
func CPU(used time.Duration) func(*bench.StepResult) {
	return func(s *bench.StepResult) { _, after := readings(s); after.CPU = used }
}

// Throttled gives a step readings of the contender at its two ends, between which it was throttled
// in some of the periods.
func Throttled(throttled, periods int64) func(*bench.StepResult) {
	return func(s *bench.StepResult) {
		before, after := readings(s)
		before.Throttling = &bench.Throttling{}
		after.Throttling = &bench.Throttling{Periods: periods, Throttled: throttled}
	}
}

// readings returns the readings of the contender at the two ends of a step, which it makes if there
// are none.
func readings(s *bench.StepResult) (before, after *bench.Usage) {
	if s.Before == nil {
		s.Before = &bench.Usage{At: Start()}
	}
	if s.After == nil {
		s.After = &bench.Usage{At: s.Before.At.Add(s.Load.Elapsed)}
	}
	return s.Before, s.After
}

// Interleaved makes a step one of several that ran at the same time, in slices of 100 ms. Steps of
// a round have the same since, which no other round has.
func Interleaved(since time.Time, with ...string) func(*bench.StepResult) {
	return func(s *bench.StepResult) {
		slice := 100 * time.Millisecond
		s.Interleave = &bench.Interleave{
			Length: slice, Count: int(s.Load.Elapsed / slice), Since: since, With: with,
		}
	}
}
