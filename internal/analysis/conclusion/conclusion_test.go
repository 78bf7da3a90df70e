package conclusion

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// words returns all of an conclusion as text.
func words(r Conclusion) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n[%d] %s\n", r.Title, r.About, r.Tone, r.Verdict)
	fmt.Fprintf(&b, "Confidence: %s\nCost: %s\nFailures (%v): %s\nNext: %s: %s\n\n%s\n", r.Confidence, r.Cost, r.Failed, r.Failures,
		r.Next, r.Command, r.Table.Text(0))
	for _, note := range r.Table.Footnotes {
		fmt.Fprintln(&b, note)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "✗ %v %s: %s; cause: %s; remedy: %s\n", p.Warning, p.Contender, p.What, p.Cause, p.Remedy)
	}
	for _, c := range r.Caveats {
		fmt.Fprintf(&b, "! %s\n", c.Text)
	}
	return b.String()
}

// The conclusions to real runs, one of each kind.
func TestOf_Results(t *testing.T) {
	for _, name := range []string{"locations", "burst", "cold-warm", "delay-matrix"} {
		t.Run(name, func(t *testing.T) {
			run, trials, err := results.Read("../../../testdata/results/" + name)
			testenv.OK(t, err)
			testenv.Golden(t, "testdata/"+name+".txt", words(Of(analysis.Of(run, trials), nil)))
		})
	}
}

// wobble are deviations of the rounds from their mean, the same for each contender.
var wobble = []float64{.004, -.003, .007, -.006, .002, -.001, .005, -.004}

// rounds returns rounds of a contender with one step of 64 connections: requests per second, and
// CPU time per request.
func rounds(label string, n int, rate, cpu float64, changes ...func(*bench.StepResult)) (all []bench.TrialResult) {
	for i := range n {
		successes := int64(10 * rate * (1 + wobble[(i+len(label))%len(wobble)]))
		used := time.Duration(cpu * float64(successes) * (1 + wobble[(i+2*len(label))%len(wobble)]))
		since := benchtest.Start().Add(time.Duration(i) * time.Hour)
		step := benchtest.Step(successes, slices.Concat([]func(*bench.StepResult){benchtest.Of(benchtest.Closed(64)),
			benchtest.CPU(used), benchtest.Latency(time.Duration(5e11 / rate))}, changes)...)
		if slices.Contains(interleaved, label) {
			benchtest.Interleaved(since, interleaved...)(&step)
		}
		t := benchtest.Trial(label, i+1, step)
		up := time.Duration(rate * 1e3)
		t.StartUp = &up
		t.Checks = []bench.CheckResult{{Group: "get", Name: "a city", Status: bench.CheckPassed}}
		all = append(all, t)
	}
	return all
}

// interleaved are the labels of contenders that ran together.
var interleaved = []string{"v1", "v2"}

func unexpected(s *bench.StepResult) {
	s.Load.Checked = 1000
	benchtest.Errors(bench.ErrWrong, 28)(s)
}

func killed(trials []bench.TrialResult) []bench.TrialResult {
	for i := range trials {
		trials[i].State, trials[i].Failure = bench.TrialFailed, "the contender died: killed out of memory at 512 MiB"
		trials[i].Cause = &bench.Cause{Kind: bench.CauseKilled, Text: "killed out of memory at 512 MiB (limits.memory)"}
	}
	return trials
}

func died(trials []bench.TrialResult) []bench.TrialResult {
	for i := range trials {
		trials[i].State, trials[i].Steps = bench.TrialFailed, nil
		trials[i].Cause = &bench.Cause{Kind: bench.CauseExited, Text: "exited: exit code 1"}
	}
	return trials
}

// interrupted aborts rounds after a number of steps.
func interrupted(trials []bench.TrialResult, steps int) []bench.TrialResult {
	for i := range trials {
		trials[i].State, trials[i].Steps = bench.TrialAborted, trials[i].Steps[:steps]
	}
	return trials
}

// unread removes the readings of a step.
func unread(s *bench.StepResult) { s.Before, s.After = nil, nil }

// failing gives the last contender a failed check in each round.
func failing(trials []bench.TrialResult) []bench.TrialResult {
	for i := range trials {
		if trials[i].Trial.Contender == trials[len(trials)-1].Trial.Contender {
			trials[i].Checks[0].Status = bench.CheckFailed
		}
	}
	return trials
}

// users is a step at which users arrive; arrive makes a step one.
var users = bench.Step{Arrivals: &bench.Arrivals{}, Duration: 10 * time.Second}

func arrive(s *bench.StepResult) { s.Step = users }

// requested returns rounds with a step for each of two requests, which have these rates.
func requested(label string, n int, rates ...float64) []bench.TrialResult {
	var all []bench.TrialResult
	for k, rate := range rates {
		request := bench.Step{Request: []string{"0 ms", "100 ms"}[k], Connections: 64, Duration: benchtest.Length}
		for i, t := range rounds(label, n, rate, 9e4, benchtest.Of(request)) {
			if k > 0 {
				t.Steps = benchtest.Trial(label, i+1, append(all[i].Steps, t.Steps...)...).Steps
				all[i] = t
				continue
			}
			all = append(all, t)
		}
	}
	return all
}

// started returns rounds with first requests; the very first takes 100 ms for each 1,000 req/s.
func started(label string, n int, rate float64) []bench.TrialResult {
	all := rounds(label, n, rate, 9e4)
	for i := range all {
		total := time.Duration(rate * 1e5 * (1 + wobble[i%len(wobble)]))
		all[i].FirstRequests = &bench.FirstRequests{First: bench.RequestPhases{Total: total}}
	}
	return all
}

// quota makes the quota the bottleneck of a step; busy the machine.
func quota(s *bench.StepResult) {
	benchtest.Throttled(90, 100)(s)
	s.After.Throttling.Time = time.Second
}

func busy(s *bench.StepResult) {
	s.Load.Wall = 10 * time.Second
	s.HostBefore = &bench.HostReading{Host: &bench.HostUsage{At: benchtest.Start()}}
	s.HostAfter = &bench.HostReading{Host: &bench.HostUsage{At: benchtest.Start().Add(10 * time.Second), Busy: 19 * time.Second, Idle: time.Second}}
}

// The verdicts of runs that differ in one thing each.
func TestOf(t *testing.T) {
	none := func(*bench.Run) {}
	local := func(trials []bench.TrialResult) []bench.TrialResult {
		for i := range trials {
			trials[i].Instance = &bench.InstanceInfo{Runtime: bench.RuntimeProcess, PID: 1, Limits: bench.Limits{CPUs: 1.5}, LimitsEnforced: true}
		}
		return trials
	}
	var b strings.Builder
	for _, row := range []struct {
		name   string
		trials []bench.TrialResult
		change func(*bench.Run)
	}{
		{"one leads two", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("b", 8, 4000, 2e5), rounds("c", 8, 3900, 2e5)), none},
		{"two lead", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 9010, 8e4), rounds("c", 8, 3900, 2e5)), none},
		{"all the same", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 9010, 9e4)), none},
		{"a small lead", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 8500, 9e4)), none},
		{"too few rounds", slices.Concat(rounds("a", 2, 9000, 9e4), rounds("bb", 2, 8500, 9e4), rounds("c", 2, 3000, 9e4)), none},
		{"another version costs more", slices.Concat(rounds("v1", 8, 9000, 9e4), rounds("v2", 8, 8900, 1.1e5)), none},
		{"another version is the same", slices.Concat(rounds("v1", 8, 9000, 9e4), rounds("v2", 8, 9000, 9e4)), none},
		{"another version is faster", slices.Concat(rounds("v1", 8, 9000, 9e4), rounds("v2", 8, 19000, 9e4)), none},
		{"too few pairs", slices.Concat(rounds("v1", 3, 9000, 9e4), rounds("v2", 3, 8900, 1.1e5)), none},
		{"one, bound by its quota", local(rounds("a", 1, 9000, 1.6e5, quota)), none},
		{"one, bound by the machine", local(rounds("a", 6, 9000, 9e4, busy)), func(r *bench.Run) { r.Machine.CPUs = 2 }},
		{"one at a rate", rounds("a", 1, 500, 9e4, benchtest.Of(benchtest.Open(500))), none},
		{"one died", died(rounds("a", 1, 9000, 9e4)), none},
		{"one, interrupted before its first step", interrupted(rounds("a", 1, 9000, 9e4), 0), none},
		{"one, interrupted after its first step", interrupted(rounds("a", 1, 9000, 9e4), 1), none},
		{"one whose CPU time was not read", rounds("a", 1, 9000, 9e4, unread), none},
		{"failed checks", failing(slices.Concat(rounds("a", 6, 9000, 9e4), rounds("b:lto", 6, 4000, 9e4))), none},
		{"failed checks, accepted", failing(slices.Concat(rounds("a", 6, 9000, 9e4), rounds("b:lto", 6, 4000, 9e4))),
			func(r *bench.Run) { r.AcceptFailedChecks = true }},
		{"one with unexpected responses", rounds("a", 6, 9000, 9e4, unexpected), none},
		{"one of three is killed", slices.Concat(rounds("a", 6, 9000, 9e4), rounds("bb", 6, 8000, 9e4),
			killed(rounds("c", 6, 3900, 2e5))), func(r *bench.Run) { r.Profile.Limits.Memory = 512 << 20 }},
		{"only one is right", slices.Concat(rounds("a", 6, 9000, 9e4), rounds("b", 6, 18000, 9e4, unexpected),
			killed(rounds("c", 6, 3900, 2e5))), none},
		{"none is right", slices.Concat(rounds("a", 6, 9000, 9e4, unexpected), killed(rounds("c", 6, 3900, 2e5))), none},
		{"nothing ran", nil, none},
		{"targets", slices.Concat(rounds("a", 2, 9000, 9e4), rounds("bb", 2, 4000, 9e4)), func(r *bench.Run) {
			r.Targets = []bench.Target{{Name: "a", URL: "http://me:secret@127.0.0.1:1/"}, {Name: "bb", URL: "http://127.0.0.1:2/"}}
			r.Given = nil
		}},
		{"selected contenders", slices.Concat(rounds("a", 2, 9000, 9e4), rounds("bb", 2, 4000, 9e4)), func(r *bench.Run) {
			r.Given = append(r.Given, "a", "bb")
		}},
		{"arrivals: one leads", slices.Concat(rounds("a", 8, 500, 9e4, arrive), rounds("bb", 8, 250, 9e4, arrive)),
			func(r *bench.Run) { r.Profile.Steps = []bench.Step{users} }},
		{"arrivals: one contender", rounds("a", 8, 500, 9e4, arrive), func(r *bench.Run) { r.Profile.Steps = []bench.Step{users} }},
		{"requests: each leads in one", slices.Concat(requested("a", 8, 9000, 500), requested("bb", 8, 4000, 700)), none},
		{"requests: one leads in both", slices.Concat(requested("a", 8, 9000, 700), requested("bb", 8, 4000, 500)), none},
		{"first requests", slices.Concat(started("a", 8, 9000), started("bb", 8, 4000)), none},
		{"arrivals: only one is right", slices.Concat(rounds("a", 6, 500, 9e4, arrive), killed(rounds("bb", 6, 500, 9e4, arrive))),
			func(r *bench.Run) { r.Profile.Steps = []bench.Step{users} }},
	} {
		run := benchtest.Run(row.trials...)
		run.Given = []string{"locbench", "run", "--profile=orders"}
		row.change(&run)
		fmt.Fprintf(&b, "=== %s\n%s\n", row.name, words(Of(analysis.Of(run, row.trials), nil)))
	}
	testenv.Golden(t, "testdata/kinds.txt", b.String())
}
