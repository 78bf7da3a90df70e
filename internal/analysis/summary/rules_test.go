package summary

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Each case has results for which a rule must write its sentence, and may name a rule that must
// not.
func TestRules(t *testing.T) {
	six := func(x float64) []float64 { return around(x, 6) }
	floor := stats.Rule{Floor: .2}
	halved := bench.Run{ID: "r", Profile: bench.Profile{
		Contenders: []bench.Selection{{Contender: "a"}, {Contender: "a", Variant: "half"}}, Limits: bench.Limits{CPUs: 1.5},
		Settings: []bench.Settings{{Selection: bench.Selection{Contender: "a", Variant: "half"}, Limits: bench.Limits{CPUs: .5}}},
	}}
	half := func(t *bench.TrialResult) { t.Trial.Variant, t.Instance.Limits.CPUs = "half", .5 }
	for _, c := range []struct {
		name   string
		rule   string // name of the rule that must write
		want   string // a part of its sentence
		not    string // name of a rule that must not
		trials []bench.TrialResult
		run    bench.Run
		by     stats.Rule
	}{
		{name: "no trial", rule: "nothing measured", want: "No results: no trial was run."},
		{name: "wrong responses", rule: "excluded", want: "a is excluded: it failed 6 of 12 checks; first: GET /x: expected 200, got 503.", trials: together(side("a", six(2000), func(t *bench.TrialResult) {
			t.Checks = []bench.CheckResult{{Status: bench.CheckPassed}, {Status: bench.CheckFailed, Request: "GET /x", Detail: "expected 200, got 503"}}
		}), side("b", six(1000))), not: "winner"},
		{name: "only errors", rule: "nothing measured", want: "No results: every request failed.", trials: together(side("a", six(100), errors(1)), side("b", six(100), errors(1))), not: "winner"},
		{name: "alone, one round", rule: "one contender", want: "a peaked at 1,000/s with 64 connections (1 round, no CI). One contender: no ranking.", trials: side("a", []float64{1000})},
		{name: "alone, three rounds", rule: "one contender", want: "3 rounds, 992/s to 1,011/s, too few for a CI", trials: side("a", around(1000, 3))},
		{name: "alone, six rounds", rule: "one contender", want: "95% CI 987/s to 1,011/s, 6 rounds", trials: side("a", six(1000))},

		{name: "one round", rule: "too few to compare", want: "No ranking by throughput: 1 round per contender, 6 needed. Run again with --rounds 6.",
			trials: together(side("a", []float64{9000}), side("b", []float64{1000})), not: "winner"},
		{name: "five rounds", rule: "too few to compare", want: "5 rounds per contender, 6 needed", trials: together(side("a", around(9000, 5)), side("b", around(1000, 5))), not: "winner"},
		{name: "five and six", rule: "too few to compare", want: "b: 5 rounds, need ≥ 6", trials: together(side("a", six(9000)), side("b", around(1000, 5))), not: "winner"},
		{name: "one and three", rule: "too few to compare", want: "No ranking by throughput: at most 3 rounds per contender", trials: together(side("a", []float64{9000}), side("b", around(1000, 3)))},

		{name: "two far apart", rule: "winner", want: "a has the highest throughput: 2,004/s at 64 connections, +100.0% (+97.4% to +102.6%) vs 1,002/s at 64 connections of b; p 0.0043 (Holm, 2 tests), 6 and 6 rounds.", trials: together(side("a", six(2000)), side("b", six(1000))), not: "too few to compare"},
		{name: "three far apart", rule: "winner", want: "; it also leads c.", trials: together(side("c", six(500)), side("a", six(2000)), side("b", six(1000)))},
		{name: "two leaders", rule: "leading group", want: "No single contender has the highest throughput: a and b are too close. a leads c:",
			trials: together(side("a", six(2000)), side("b", around(2000, 12)[6:]), side("c", six(1000))), not: "winner"},
		{name: "overlapping", rule: "no difference", want: "Unclear which contender has the highest throughput. a and b: inconclusive: +", trials: together(side("a", []float64{900, 1000, 1100, 1200, 1300, 1400}), side("b", []float64{850, 950, 1050, 1150, 1250, 1350})), not: "winner"},
		{name: "overlapping, settled by", rule: "what settles it", want: "Soonest settled: peak throughput, by ", trials: together(side("a", []float64{900, 1000, 1100, 1200, 1300, 1400}), side("b", []float64{800, 900, 1000, 1100, 1200, 1300}))},
		{name: "a tie", rule: "the same", want: "a and b have the same peak throughput within 3%; a to b: 0.0%", trials: together(side("a", six(1000)), side("b", six(1000))), not: "winner"},
		{name: "all values alike", rule: "the same", want: "0.0%", trials: together(side("a", slices.Repeat([]float64{1000}, 6)), side("b", slices.Repeat([]float64{1000}, 6))), not: "winner"},
		{name: "certain but within the margin", rule: "the same", want: "within 3%", trials: together(side("a", slices.Repeat([]float64{1010}, 6)), side("b", slices.Repeat([]float64{1000}, 6))), not: "winner"},
		{name: "within the noise floor", rule: "no difference", want: "below the noise floor (20%)", trials: together(side("a", six(1100)), side("b", six(1000))), by: floor, not: "winner"},
		{name: "eight at six rounds", rule: "too few rounds for the pairs", want: "Unclear which contender has the highest throughput: 8 contenders (28 tests) need 1 more round.", not: "winner",
			trials: together(side("a", six(1000)), side("b", six(2000)), side("c", six(3000)), side("d", six(4000)), side("e", six(5000)), side("f", six(6000)), side("g", six(7000)), side("h", six(8000)))},

		{name: "client-bound", rule: "too few to compare", want: "a: client-bound at its peak", trials: together(side("a", six(2000), clientBound), side("b", six(1000))), not: "winner"},
		{name: "errors", rule: "too few to compare", want: "a: failed at least 5% of its requests in every step; first: timeout", trials: together(side("a", six(2000), errors(.05)), side("b", six(1000))), not: "winner"},
		{name: "memory grew", rule: "memory growth", want: "a: memory use grew by 2 KiB per request.",
			trials: together(side("a", six(2000), growing(1024), growing(2048)), side("b", six(1000)))},
		{name: "memory grew, but failed", rule: "excluded", want: "a is excluded: it was killed out of memory",
			trials: together(side("a", six(2000), growing(2048), died(3)), side("b", six(1000))), not: "memory growth"},
		{name: "failed trials", rule: "too few to compare", want: "a: killed out of memory", trials: together(side("a", around(2000, 7), died(3)), side("b", six(1000))), not: "winner"},
		{name: "open loop", rule: "too few to compare", want: "its peak step is open loop", trials: together(side("a", six(2000), open), side("b", six(1000), open)), not: "winner"},
		{name: "still warming up", rule: "too few to compare", want: "a: still warming up in 6 of 6 rounds", trials: together(side("a", six(2000), warming), side("b", six(1000))), not: "winner"},
		{name: "still warming up, reported", rule: "step warnings", want: "Warning “still warming up”: a at 64 connections.", trials: together(side("a", six(2000), warming), side("b", six(1000)))},
		{name: "one of three left out", rule: "left out", want: "No throughput ranking for: c: client-bound at its peak.", trials: together(side("a", six(2000)), side("b", six(1000)), side("c", six(4000), clientBound))},
		{name: "of those left", rule: "winner", want: "Of a and b, a has the highest throughput", trials: together(side("a", six(2000)), side("b", six(1000)), side("c", six(4000), clientBound))},
		{name: "unequal limits", rule: "unequal conditions", want: "No ranking: contenders ran under different limits or runtimes.", trials: together(side("a", six(2000), unlimited), side("b", six(1000))), not: "winner"},
		{name: "limits of the profile", rule: "different limits", want: "a:half under 0.5 CPUs, a under 1.5 CPUs: ×0.50 the throughput (95% CI ×0.49 to ×0.51), ×1.00 the CPU per request (95% CI ×1.00 to ×1.00).",
			trials: together(side("a", six(2000)), side("a", six(1000), half)), run: halved, not: "winner"},
		{name: "different requests", rule: "different requests", want: "the peaks are of different requests (get: a; search: b)", trials: together(side("a", six(2000), sending("get")), side("b", six(1000), sending("search"))), not: "winner"},

		{name: "bound", rule: "bound at peak", want: "a was bound by its CPU quota at its peak (64 connections):", trials: side("a", six(2000), quotaBound)},
		{name: "bound in rounds", rule: "bound at peak", want: "(in 6 of 6 rounds; values of the last)", trials: side("a", six(2000), quotaBound)},
		{name: "bound, one round", rule: "bound at peak", want: "90 of 100 periods throttled for 1.00 s.", trials: side("a", []float64{1000}, quotaBound), not: "bound, of many"},
		{name: "bound, five", rule: "bound, of many", want: "its CPU quota (a, b, c and d); the client (e).", not: "bound at peak",
			trials: together(side("a", six(1), quotaBound), side("b", six(1), quotaBound), side("c", six(1), quotaBound), side("d", six(1), quotaBound), side("e", six(1000), clientBound))},
		{name: "shared machine", rule: "shared ceiling", want: "the machine's CPUs limited a and b at peak.", trials: together(side("a", six(2000), machineBound), side("b", six(1000), machineBound))},
		{name: "its own quota", rule: "winner", want: "a", not: "shared ceiling", trials: together(side("a", six(2000), quotaBound), side("b", six(1000), quotaBound))},
		{name: "still rising", rule: "still rising", want: "The true peak may be higher: too few connections for a.", trials: side("a", six(2000), func(t *bench.TrialResult) { t.Steps[0].Step.Connections = 1 })},

		{name: "limits", rule: "limits not enforced", want: "Limits of a not enforced in 6 of 6 rounds", trials: side("a", six(2000), unlimited)},
		{name: "an outlier", rule: "round warnings", want: "round 4 is an outlier: ×0.2 of the median", trials: side("a", []float64{1000, 1001, 1003, 200, 1002, 999})},
		{name: "a drift", rule: "round warnings", want: "it falls from round to round (p 0.0028)", trials: side("a", []float64{1000, 990, 980, 970, 960, 950})},
		{name: "rounds together", rule: "one contender", want: "a", not: "round warnings", trials: side("a", six(1000))},
		{name: "manual change", rule: "manual changes", want: "Changed by hand: 6 of 6 rounds of a.", trials: side("a", six(1000), func(t *bench.TrialResult) {
			t.ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: bench.ControlPause}}}
		})},
		{name: "a note only", rule: "one contender", want: "a", not: "manual changes", trials: side("a", six(1000), func(t *bench.TrialResult) {
			t.ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: bench.ControlNote}}}
		})},
		{name: "busy", rule: "busy machine", want: "(load 3.5 on 2 CPUs)", run: bench.Run{Machine: bench.Machine{CPUs: 2, Load1: "3.5"}}},
		{name: "idle", rule: "nothing measured", want: "no trial was run", not: "busy machine", run: bench.Run{Machine: bench.Machine{CPUs: 2, Load1: "0.5"}}},
		{name: "not interleaved", rule: "not interleaved", want: "Not interleaved: 5 contenders have no memory limit. Small differences take more rounds.", run: bench.Run{
			Profile: bench.Profile{Contenders: make([]bench.Selection, 5)}, Plain: &bench.Plain{Reason: bench.PlainContenders, Text: "5 contenders have no memory limit"}}},
		{name: "not interleaved, by choice", rule: "nothing measured", want: "no trial was run", not: "not interleaved", run: bench.Run{
			Profile: bench.Profile{Contenders: make([]bench.Selection, 5)}, Plain: &bench.Plain{Reason: bench.PlainChosen, Text: "the profile says so"}}},
		{name: "one contender only", rule: "nothing measured", want: "no trial was run", not: "not interleaved", run: bench.Run{
			Profile: bench.Profile{Contenders: make([]bench.Selection, 1)}, Plain: &bench.Plain{Reason: bench.PlainAlone, Text: "there is one contender"}}},
		{name: "run", rule: "warnings of the run", want: "Run warning: “imported: nothing here was measured by locbench”.", run: bench.Run{Warnings: bench.Warnings{{Text: "imported: nothing here was measured by locbench"}}}},
		{name: "many of the run", rule: "warnings of the run", want: "2 more warnings about the run below.", run: bench.Run{Warnings: bench.Warnings{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}, {Text: "e"}}}},
		{name: "warning", rule: "step warnings", want: "Warning “client-bound”: a at 64 connections.", trials: side("a", six(1000), warned(bench.WarnClientBound, "client-bound: 15.1 of 16 connections in flight"))},
		{name: "warnings with other numbers", rule: "step warnings", want: "Warning “reconnects; latency includes them”: a at 64 connections; b at 64 and 128 connections.",
			trials: together(side("a", []float64{1}, warned(bench.WarnReopened, "31 reconnects; latency includes them")), side("b", []float64{1}, warned(bench.WarnReopened, "2 reconnects; latency includes them"), func(t *bench.TrialResult) {
				t.Steps = append(t.Steps, bench.StepResult{Index: 1, Step: bench.Step{Connections: 128}, Warnings: bench.Warnings{{Kind: bench.WarnReopened, Text: "5 reconnects; latency includes them"}}})
			}))},
		{name: "warnings at the same step", rule: "step warnings", want: "Warning “x”: a and b at 64 connections.", trials: together(side("a", []float64{1}, warned("", "x")), side("b", []float64{1}, warned("", "x")))},
		{name: "many warnings", rule: "step warnings", want: "2 more kinds of warning below.", trials: side("a", []float64{1}, func(t *bench.TrialResult) {
			t.Steps[0].Warnings = bench.Warnings{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}, {Text: "e"}, {Text: "f"}, {Text: "g"}, {Text: "h"}}
		})},

		{name: "incomplete", rule: "incomplete", want: "Run incomplete: 1 of 2 trials did not finish.", run: bench.Run{Trials: []bench.TrialEntry{{State: bench.TrialPending}, {State: bench.TrialComplete}}}},
		{name: "finished", rule: "nothing measured", want: "no trial was run", not: "incomplete", run: bench.Run{Trials: []bench.TrialEntry{{State: bench.TrialFailed}, {State: bench.TrialComplete}}}},
		{name: "died", rule: "excluded", want: "a is excluded: it was killed out of memory, in 1 of 2 rounds.", trials: side("a", around(1, 2), died(2))},
		{name: "failed otherwise", rule: "failed rounds", want: "a failed in 1 of 2 rounds: round 2: build.", trials: side("a", around(1, 2), died(2), func(t *bench.TrialResult) {
			if t.Exit != nil {
				t.Exit, t.Failure = nil, "build"
			}
		})},
		{name: "died always", rule: "excluded", want: "a is excluded: it was killed out of memory, in 3 of 3 rounds.", trials: together(side("a", around(1, 3), died(1), died(2), died(3)))},
		{name: "some errors", rule: "errors", want: "share of all requests: a 0.197% (timeout 118).", trials: together(side("a", six(1000), errors(.002)), side("b", six(1000))), not: "too few to compare"},
		{name: "no errors", rule: "one contender", want: "a", not: "errors", trials: side("a", six(1000))},
		{name: "thresholds", rule: "missed thresholds", want: "Thresholds missed: a (2 of 4).", trials: side("a", around(1, 2), func(t *bench.TrialResult) {
			t.Steps[0].Thresholds = []bench.ThresholdResult{{Condition: "p99<50ms"}, {Condition: "errors<1%", Passed: true}}
		})},
		{name: "checks", rule: "failed checks", want: "Failed: 1 of 2 checks of a.", trials: side("a", []float64{1}, func(t *bench.TrialResult) {
			t.Checks = []bench.CheckResult{{Status: bench.CheckFailed}, {Status: bench.CheckPassed}, {Status: bench.CheckSkipped}}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := New(analysis.Of(c.run, c.trials), Rules{Rule: c.by}).Sentences()
			text := ""
			for _, s := range got {
				if s.Rule == c.rule {
					text += s.Text + "\n"
				}
				if s.Rule == c.not && (s.Measure == measure.Throughput || s.Measure == "") {
					t.Errorf("%s says: %s", c.not, s.Text)
				}
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("%s says %q, want %q; all: %+v", c.rule, text, c.want, got)
			}
			supported(t, c.run, c.trials, c.by, got)
		})
	}
}

// Every rule has a case in TestRules.
func TestEveryRuleHasACase(t *testing.T) {
	data, err := os.ReadFile("rules_test.go")
	if err != nil {
		t.Fatal(err)
	}
	source := string(data)
	for _, r := range rules() {
		if !strings.Contains(source, `rule: "`+r.name+`"`) {
			t.Errorf("no case of TestRules is for the rule %q", r.name)
		}
	}
}

// machineBound leaves hardly any CPU idle.
func machineBound(t *bench.TrialResult) {
	t.Instance.PID = 1
	s := &t.Steps[0]
	s.Load.Wall = 10 * time.Second
	s.HostBefore = &bench.HostReading{Host: &bench.HostUsage{}}
	s.HostAfter = &bench.HostReading{Host: &bench.HostUsage{Busy: 98 * time.Second, Idle: 2 * time.Second}}
}

// A noise floor applies to its measure only.
func TestFloors(t *testing.T) {
	trials := together(side("a", around(1100, 6)), side("b", around(1000, 6)))
	ranked := func(rules Rules) (measures []measure.ID) {
		for _, s := range New(analysis.Of(bench.Run{}, trials), rules).Sentences() {
			if s.Kind == Ranking {
				measures = append(measures, s.Measure)
			}
		}
		return measures
	}
	if got := ranked(Rules{}); !slices.Equal(got, []measure.ID{measure.Throughput}) {
		t.Errorf("without a floor: %v", got)
	}
	if got := ranked(Rules{Floors: map[measure.ID]float64{measure.CPURequest: .5}}); !slices.Equal(got, []measure.ID{measure.Throughput}) {
		t.Errorf("with a floor of another measure: %v", got)
	}
	if got := ranked(Rules{Floors: map[measure.ID]float64{measure.Throughput: .2}}); got != nil {
		t.Errorf("below the floor: %v", got)
	}
}

// A sentence about several contenders names the extremes of the measure, the best median first.
func TestExtremesFollowTheMeasure(t *testing.T) {
	startUp := func(t *bench.TrialResult) { t.StartUp = new(time.Duration(t.Steps[0].Load.Sent) * time.Microsecond) }
	trials := together(side("a", []float64{900, 1000, 1100, 1200, 1300, 1400}, startUp),
		side("b", []float64{850, 950, 1050, 1150, 1250, 1350}, startUp), side("c", []float64{870, 970, 1070, 1170, 1270, 1370}, startUp))
	said := map[measure.ID]string{}
	for _, s := range New(analysis.Of(bench.Run{}, trials), Rules{}).Sentences() {
		if s.Rule == "no difference" {
			said[s.Measure] = s.Text
		}
	}
	for id, want := range map[measure.ID]string{
		measure.Throughput: "a and b, highest and lowest median of 3: inconclusive",
		measure.StartUp:    "b and a, lowest and highest median of 3: inconclusive",
	} {
		if !strings.Contains(said[id], want) {
			t.Errorf("%s: %q, want %q", id, said[id], want)
		}
	}
}

// growing adds the warning that memory grows by a number of bytes per request.
func growing(rate float64) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		s := &t.Steps[len(t.Steps)-1]
		s.Warnings = append(s.Warnings, bench.Warning{Kind: bench.WarnMemoryGrowth, Values: map[string]float64{bench.GrowthRate: rate},
			Text: "memory use grew by " + units.Bytes(int64(rate)) + " per request"})
	}
}
