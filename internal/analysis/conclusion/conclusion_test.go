package conclusion

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/table"
)

// words returns all of an conclusion as text.
func words(r Conclusion) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n[%d] %s\n", r.Title, r.About, r.Tone, r.Verdict)
	fmt.Fprintf(&b, "Confidence: %s\nCost: %s\nFailures (%v): %s\nNext: %s: %s\nLeaders: %v\n\n%s\n", r.Confidence, r.Cost, r.Failed,
		r.Failures, r.Next, r.Command, r.Leaders, r.Table.Text(0))
	for _, row := range r.Table.Rows {
		fmt.Fprint(&b, look(row))
	}
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

// look returns what the text of a row does not show.
func look(row table.Row) (text string) {
	for _, c := range row.Cells {
		part := strings.Join(c.Small, ", ")
		if c.Tone != table.Plain {
			part += " " + []string{"", "faint", "good", "bad", "notice", "strong"}[c.Tone]
		}
		if c.Share != nil {
			part += fmt.Sprintf(" bar %.2f", *c.Share)
		}
		if part != "" {
			text += fmt.Sprintf("; %s: %s", c.Text, strings.TrimSpace(part))
		}
	}
	if text == "" && row.Mark == 0 {
		return ""
	}
	return fmt.Sprintf("%s: color %d%s\n", row.Cells[0].Text, row.Mark, text)
}

// The conclusions to real runs, one of each kind.
func TestOf_Results(t *testing.T) {
	for _, name := range []string{"locations", "burst", "cold-warm", "delay-matrix"} {
		t.Run(name, func(t *testing.T) {
			run, trials, err := results.Read("../../../testdata/results/" + name)
			testenv.OK(t, err)
			a := analysis.Of(run, trials)
			said := Of(a, nil)
			testenv.Golden(t, "testdata/"+name+".txt", words(said))
			all, text := Sections(a, said, nil), ""
			for _, c := range a.Ordered() {
				all = append(all, StepsOf(c))
			}
			for _, s := range all {
				text += fmt.Sprintf("# %s\n%s%s\n\n", s.Title, s.Table.Text(0), strings.Join(s.Table.Footnotes, "\n"))
			}
			testenv.Golden(t, "testdata/"+name+".sections.txt", text)
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

// noisy gives rounds other throughputs, in requests per second.
func noisy(trials []bench.TrialResult, rates ...float64) []bench.TrialResult {
	for i := range trials {
		trials[i].Steps[0].Load.Succeeded = int64(10 * rates[i%len(rates)])
	}
	return trials
}

// connected returns rounds with a step of 1 connection and one of 64, in which bodies are
// unexpected.
func connected(label string, n int, changes ...func(*bench.StepResult)) (all []bench.TrialResult) {
	for i := range n {
		all = append(all, benchtest.Trial(label, i+1, benchtest.Step(1000, slices.Concat(changes[i:i+1],
			[]func(*bench.StepResult){benchtest.Of(benchtest.Closed(1))})...),
			benchtest.Step(1000, benchtest.Of(benchtest.Closed(64)), unexpected)))
	}
	return all
}

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

// requested returns rounds with a step for each of up to three requests, which have these rates.
func requested(label string, n int, rates ...float64) []bench.TrialResult {
	var all []bench.TrialResult
	for k, rate := range rates {
		request := bench.Step{Request: []string{"0 ms", "100 ms", "500 ms"}[k], Connections: 64, Duration: benchtest.Length}
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

// planned lets contenders with equal numbers of rounds run under limits, and planUnder plans these.
func planned(trials []bench.TrialResult, limits ...bench.Limits) []bench.TrialResult {
	for i := range trials {
		l := limits[i*len(limits)/len(trials)]
		trials[i].Instance = &bench.InstanceInfo{Runtime: bench.RuntimeProcess, Limits: l, LimitsEnforced: true}
	}
	return trials
}

func planUnder(limits ...bench.Limits) func(*bench.Run) {
	return func(r *bench.Run) {
		for i, l := range limits {
			r.Profile.Settings = append(r.Profile.Settings, bench.Settings{Selection: r.Profile.Contenders[i], Limits: l})
		}
	}
}

// memory is 128 MiB; about gives contenders a language and a framework.
func memory(s *bench.StepResult) { s.After.Memory = &bench.Memory{Used: 1 << 26, Peak: 1 << 27} }

func about(trials []bench.TrialResult, language, framework string) []bench.TrialResult {
	for i := range trials {
		trials[i].Service.Language, trials[i].Service.Framework = language, framework
	}
	return trials
}

// froze makes the first responses of a step take this many seconds.
func froze(seconds float64) func(*bench.StepResult) {
	return func(s *bench.StepResult) { s.Load.FirstResponse = time.Duration(seconds * 1e9) }
}

// leaks makes memory grow with the requests of a step.
func leaks(s *bench.StepResult) {
	s.Warnings = bench.Warnings{{Kind: bench.WarnMemoryGrowth, Text: "memory use grew by 2.05 KiB per request and did not come back",
		Values: map[string]float64{bench.GrowthRate: 2100}}}
}

// uses gives a step this many MiB of memory.
func uses(mib int64) func(*bench.StepResult) {
	return func(s *bench.StepResult) { s.After.Memory = &bench.Memory{Used: mib << 19, Peak: mib << 20} }
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

// late makes each response take 15 s, where a step takes 10.
func late(s *bench.StepResult) {
	s.Load.Sent, s.Load.Lead, s.Load.Drain, s.Load.FirstResponse = 2, 1, 1, 15*time.Second
}

func later(s *bench.StepResult) {
	late(s)
	s.Load.FirstResponse = 25 * time.Second
}

func rejected(s *bench.StepResult) { s.Load.Sent, s.Load.Rejected = 7, bench.Statuses{429: 7} }

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
		{"two of five lead", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 9010, 9e4), rounds("c", 8, 3900, 2e5),
			rounds("dd", 8, 3000, 3e5), rounds("e", 8, 2000, 4e5)), none},
		{"four lead", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 9010, 9e4),
			rounds("c", 8, 9000, 9e4), rounds("dd", 8, 9010, 9e4)), none},
		{"five lead", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 9010, 9e4),
			rounds("c", 8, 9000, 9e4), rounds("dd", 8, 9010, 9e4), rounds("e", 8, 9000, 9e4)), none},
		{"six, one round", slices.Concat(rounds("a", 1, 9000, 9e4), rounds("bb", 1, 9010, 9e4),
			rounds("c", 1, 9000, 9e4), rounds("dd", 1, 9010, 9e4), rounds("e", 1, 9000, 9e4), rounds("ff", 1, 9000, 9e4)), none},
		{"inconclusive", slices.Concat(noisy(rounds("a", 6, 9000, 9e4), 8000, 9000, 10000, 9500, 8500, 9100),
			noisy(rounds("bb", 6, 9000, 9e4), 8700, 9900, 10900, 10300, 9300, 10100),
			noisy(rounds("c", 6, 9000, 9e4), 8300, 9300, 10300, 9900, 8900, 9600)), none},
		{"too few rounds to interleave", slices.Concat(rounds("a", 1, 9000, 9e4), rounds("bb", 1, 4000, 9e4)),
			func(r *bench.Run) { r.Plain = &bench.Plain{Reason: bench.PlainRounds, Text: "1 round"} }},
		{"six rounds, one leads", slices.Concat(rounds("a", 6, 9000, 9e4), rounds("bb", 6, 4000, 9e4)), none},
		{"another version, inconclusive", slices.Concat(noisy(rounds("v1", 8, 9000, 9e4), 8000, 9000, 10000, 9500, 8500, 9100),
			noisy(rounds("v2", 8, 9000, 9e4), 8700, 9200, 10900, 9600, 9300, 9000)),
			func(r *bench.Run) { r.Profile.Interleave = 100 * time.Millisecond }},
		{"limits other than planned", planned(slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 4000, 9e4)),
			bench.Limits{}, bench.Limits{CPUs: 1}), none},
		{"limits as planned", planned(slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 4000, 9e4)),
			bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1}),
			planUnder(bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1})},
		{"limits as planned, one round", planned(slices.Concat(rounds("a", 1, 9000, 9e4), rounds("bb", 1, 4000, 9e4)),
			bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1}), planUnder(bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1})},
		{"limits as planned of three", planned(slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 4000, 9e4), rounds("c", 8, 3900, 9e4)),
			bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1}, bench.Limits{CPUs: 1}), planUnder(bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1}, bench.Limits{CPUs: 1})},
		{"limits as planned of three, two excluded", planned(slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 8000, 9e4),
			killed(rounds("c", 8, 4000, 9e4))), bench.Limits{CPUs: 2}, bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1}),
			planUnder(bench.Limits{CPUs: 2}, bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1})},
		{"limits of four", planned(slices.Concat(rounds("a", 1, 9000, 9e4), rounds("bb", 1, 4000, 9e4), rounds("c", 1, 3900, 9e4), rounds("dd", 1, 390, 9e4)),
			bench.Limits{CPUs: 4}, bench.Limits{CPUs: 3}, bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1}),
			planUnder(bench.Limits{CPUs: 4}, bench.Limits{CPUs: 3}, bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1})},
		{"arrivals: limits as planned", planned(slices.Concat(rounds("a", 8, 500, 9e4, arrive), rounds("bb", 8, 250, 9e4, arrive)), bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1}),
			func(r *bench.Run) {
				r.Profile.Steps = []bench.Step{users}
				planUnder(bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1})(r)
			}},
		{"arrivals: limits other than planned", planned(slices.Concat(rounds("a", 8, 500, 9e4, arrive), rounds("bb", 8, 250, 9e4, arrive)), bench.Limits{}, bench.Limits{CPUs: 1}),
			func(r *bench.Run) { r.Profile.Steps = []bench.Step{users} }},
		{"one that needs little CPU time", rounds("a", 1, 9000, 1e3), none},
		{"one whose start took CPU time", rounds("a", 1, 9000, 9e4,
			func(s *bench.StepResult) { s.Before.CPU = s.After.CPU / 2 }), none},
		{"both interrupted before their first step",
			interrupted(slices.Concat(rounds("a", 6, 9000, 9e4), rounds("bb", 6, 4000, 9e4)), 0), none},
		{"a missed threshold", rounds("a", 1, 9000, 9e4, func(s *bench.StepResult) {
			s.Thresholds = []bench.ThresholdResult{{Condition: "p99<50ms"},
				{Condition: "errors<1%", Passed: true}, {Condition: "p50<1m", Passed: true}}
		}), none},
		{"one with errors in every step", rounds("a", 1, 9000, 9e4, benchtest.Errors(bench.ErrTimeout, 9000)), none},
		{"three of four fail", slices.Concat(rounds("a", 6, 9000, 9e4), killed(rounds("b", 6, 9000, 9e4, memory)),
			killed(rounds("c", 6, 9000, 9e4)), died(rounds("d", 6, 9000, 9e4))), none},
		{"unexpected, but not with 1 connection", connected("a", 1, func(s *bench.StepResult) { s.Load.Checked = 1000 }), none},
		{"unexpected, and not compared with 1 connection", connected("a", 1, func(*bench.StepResult) {}), none},
		{"unexpected, later with 1 connection", connected("a", 2, func(s *bench.StepResult) { s.Load.Checked = 1000 }, unexpected), none},
		{"languages, and memory", slices.Concat(about(rounds("a", 6, 9000, 9e4, memory), "Go", "net/http"),
			about(rounds("bb", 6, 4000, 9e4, memory), "Rust", "")),
			func(r *bench.Run) { r.Profile.Limits.Memory = 512 << 20 }},
		{"memory without a limit", slices.Concat(rounds("a", 6, 9000, 9e4, memory), rounds("bb", 6, 4000, 9e4, memory)), none},
		{"one request", slices.Concat(requested("a", 8, 9000), requested("bb", 8, 4000)), none},
		{"requests: peaks at two requests", slices.Concat(requested("a", 8, 9000, 500), requested("bb", 8, 700, 4000)), none},
		{"requests: the second leads in two", slices.Concat(requested("a", 8, 9000, 500, 300), requested("bb", 8, 4000, 700, 600)), none},
		{"requests: too few rounds", slices.Concat(requested("a", 2, 9000, 500), requested("bb", 2, 4000, 700)), none},
		{"first requests of five", slices.Concat(started("a", 1, 9000), started("b", 1, 8000), started("c", 1, 7000), started("d", 1, 6000),
			started("e", 1, 5000)), none},
		{"arrivals: failures", slices.Concat(rounds("a", 8, 500, 9e4, arrive, benchtest.Errors(bench.ErrTimeout, 9)),
			rounds("bb", 8, 250, 9e4, arrive)),
			func(r *bench.Run) { r.Profile.Steps = []bench.Step{users} }},
		{"a leader froze", slices.Concat(rounds("a", 8, 9000, 9e4, froze(8)), rounds("b", 8, 4000, 9e4)), none},
		{"one of the same froze", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 9010, 9e4, froze(8))), none},
		{"the slower of two froze", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("b", 8, 4000, 9e4, froze(8))), none},
		{"the slowest of three froze", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("b", 8, 4000, 2e5),
			rounds("c", 8, 2000, 2e5, froze(8))), none},
		{"another version froze", slices.Concat(rounds("v1", 8, 9000, 9e4, froze(1.9)), rounds("v2", 8, 19000, 9e4, froze(8))), none},
		{"another version does not freeze", slices.Concat(rounds("v1", 8, 9000, 9e4, froze(8)), rounds("v2", 8, 19000, 9e4)), none},
		{"both versions froze", slices.Concat(rounds("v1", 8, 9000, 9e4, froze(8)), rounds("v2", 8, 19000, 9e4, froze(7))), none},
		{"another version froze, too few pairs", slices.Concat(rounds("v1", 3, 9000, 9e4), rounds("v2", 3, 8900, 9e4, froze(8))), none},
		{"one, which froze", rounds("a", 1, 9000, 9e4, froze(8)), none},
		{"one of two froze and failed", slices.Concat(rounds("a", 6, 9000, 9e4), killed(rounds("c", 6, 3900, 2e5, froze(8)))), none},
		{"a leader leaks", slices.Concat(rounds("a", 8, 9000, 9e4, leaks), rounds("bb", 8, 4000, 9e4), rounds("c", 8, 3900, 9e4)), none},
		{"the last of three leaks", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 8900, 9e4), rounds("c", 8, 3900, 9e4, leaks)), none},
		{"another version leaks", slices.Concat(rounds("old", 6, 4000, 9e4, uses(16)), rounds("new", 6, 4500, 9e4, uses(150), leaks)), none},
		{"another version uses several times the memory and CPU", slices.Concat(rounds("old", 6, 4000, 9e4, uses(16)),
			rounds("new", 6, 4500, 4e5, uses(150))), none},
		{"another version has an old leak", slices.Concat(rounds("old", 6, 4000, 9e4, leaks), rounds("new", 6, 4500, 9e4)), none},
		{"a leader uses several times the memory", slices.Concat(rounds("a", 8, 9000, 9e4, uses(49)), rounds("bb", 8, 8000, 9e4, uses(16)),
			rounds("c", 8, 8500, 9e4, uses(17))), none},
		{"a leader uses twice the memory", slices.Concat(rounds("a", 8, 9000, 9e4, uses(40)), rounds("bb", 8, 8000, 9e4, uses(20)),
			rounds("c", 8, 8500, 9e4, uses(17))), none},
		{"one that leaks is killed", killed(rounds("a", 1, 9000, 9e4, leaks)), func(r *bench.Run) { r.Profile.Limits.Memory = 256 << 20 }},
		{"one is killed", killed(rounds("a", 1, 9000, 9e4)), func(r *bench.Run) { r.Profile.Limits.Memory = 256 << 20 }},
		{"one of two has no success", slices.Concat(rounds("old", 6, 9000, 9e4), rounds("new", 6, 0, 9e4, late)), none},
		{"one of three has no success", slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 4000, 9e4), rounds("new", 8, 0, 9e4, late)), none},
		{"one of two has no success, one round", slices.Concat(rounds("old", 1, 9000, 9e4), rounds("new", 1, 0, 9e4, late)), none},
		{"another version has no success", slices.Concat(rounds("v1", 8, 9000, 9e4), rounds("v2", 8, 0, 9e4, late)),
			func(r *bench.Run) { r.Profile.Interleave = 100 * time.Millisecond }},
		{"one responds in two of six rounds", slices.Concat(rounds("old", 6, 9000, 9e4), noisy(rounds("new", 6, 9000, 9e4), 0, 0, 8000, 0, 0, 9000)), none},
		{"one, has no success", rounds("a", 6, 0, 9e4, late), none},
		{"none has a success", slices.Concat(rounds("a", 6, 0, 9e4, late), rounds("bb", 6, 0, 9e4, later), rounds("c", 6, 0, 9e4, rejected)), none},
		{"none has a success, and one is killed", slices.Concat(rounds("a", 6, 0, 9e4, late), killed(rounds("bb", 6, 4000, 9e4))), none},
		{"one, each request failed", rounds("a", 6, 0, 9e4, benchtest.Errors(bench.ErrTimeout, 9)), none},
		{"one, each request failed, which is allowed", rounds("a", 6, 0, 9e4, benchtest.Errors(bench.ErrTimeout, 9)),
			func(r *bench.Run) { r.Profile.MaxErrors = 1 }},
		{"each request of one failed", slices.Concat(rounds("a", 6, 9000, 9e4), rounds("bb", 6, 0, 9e4, benchtest.Errors(bench.ErrRefused, 9))), none},
		{"requests: one has no success", slices.Concat(requested("a", 8, 9000, 0), requested("bb", 8, 0, 0)), none},
		{"arrivals: one has no success", slices.Concat(rounds("a", 8, 0, 9e4, arrive, late), rounds("bb", 8, 250, 9e4, arrive)),
			func(r *bench.Run) { r.Profile.Steps = []bench.Step{users} }},
		{"first requests: one has no success under load", slices.Concat(started("a", 8, 9000), rounds("bb", 8, 0, 9e4, late)), none},
		{"limits as planned, one has no success", planned(slices.Concat(rounds("a", 8, 9000, 9e4), rounds("bb", 8, 0, 9e4, late)),
			bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1}), planUnder(bench.Limits{CPUs: 2}, bench.Limits{CPUs: 1})},
	} {
		run := benchtest.Run(row.trials...)
		run.Given = []string{"locbench", "run", "--profile=orders"}
		row.change(&run)
		fmt.Fprintf(&b, "=== %s\n%s\n", row.name, words(Of(analysis.Of(run, row.trials), nil)))
	}
	testenv.Golden(t, "testdata/kinds.txt", b.String())
}

// A known noise floor is named, with the largest of its measures.
func TestOf_Floor(t *testing.T) {
	trials := slices.Concat(rounds("v1", 8, 9000, 9e4), rounds("v2", 8, 9000, 9e4))
	floor := compare.Floor{Measures: []compare.MeasureFloor{
		{Measure: measure.Throughput, Floor: .021}, {Measure: measure.P99, Floor: .034},
	}}
	got := Of(analysis.Of(benchtest.Run(trials...), trials), &floor).Confidence
	testenv.Contains(t, got, "8 rounds in pairs, 95% CI", "; noise floor up to 3.4%")
}

// What to try after a bottleneck: less CPU for the contender, or more connections.
func TestProbe(t *testing.T) {
	for _, row := range []struct {
		by   verdict.Bound
		step bench.Step
		cpus float64
		want string
	}{
		{verdict.Machine, benchtest.Closed(64), 1.5, "--cpus=0.75"},
		{verdict.Client, benchtest.Closed(64), 1, "--cpus=0.5"},
		{verdict.Client, benchtest.Closed(64), .5, ""},
		{verdict.Quota, benchtest.Closed(64), 1.5, ""},
		{verdict.Connections, benchtest.Closed(64), 1.5, "--connections=64,256"},
		{verdict.Connections, benchtest.Open(500), 1.5, ""},
	} {
		_, option := Probe(row.by, row.step, bench.Limits{CPUs: row.cpus})
		testenv.Equal(t, option, row.want, row.by)
	}
}

// Contenders are sorted by their failed checks.
func TestChecksCell(t *testing.T) {
	cell := ChecksCell(map[bench.CheckStatus]int{bench.CheckPassed: 3, bench.CheckFailed: 2})
	testenv.Equal(t, cell.Text, "2 ✗")
	testenv.Equal(t, *cell.Sort, -2)
}
