package summary

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// Each rule writes its sentence in some case of the golden file, which has all sentences of each.
func TestSentences(t *testing.T) {
	six := func(x float64) []float64 { return around(x, 6) }
	one := []float64{1000}
	a := func(changes ...change) []bench.TrialResult { return side("a", six(2000), changes...) }
	b := func(changes ...change) []bench.TrialResult { return side("b", six(1000), changes...) }
	alone := func(changes ...change) []bench.TrialResult { return side("a", one, changes...) }
	two := func(changes ...change) []bench.TrialResult { return together(a(changes...), b()) }
	both := func(changes ...change) []bench.TrialResult { return together(a(changes...), b(changes...)) }
	many := func(n int, changes ...change) (all []bench.TrialResult) {
		for i := range n {
			all = append(all, side(string(rune('a'+i)), six(1000*float64(i+1)), changes...)...)
		}
		return all
	}
	halved := bench.Run{ID: "r", Profile: bench.Profile{
		Contenders: []bench.Selection{{Contender: "a"}, {Contender: "a", Variant: "half"}}, Limits: bench.Limits{CPUs: 1.5},
		Settings: []bench.Settings{{Selection: bench.Selection{Contender: "a", Variant: "half"}, Limits: bench.Limits{CPUs: .5}}},
	}}
	half := func(t *bench.TrialResult) { t.Trial.Variant, t.Instance.Limits.CPUs = "half", .5 }
	plain := func(contenders int, reason bench.PlainReason) bench.Run {
		return bench.Run{Profile: bench.Profile{Contenders: make([]bench.Selection, contenders)},
			Plain: &bench.Plain{Reason: reason, Text: "why"}}
	}
	warnings := func(texts ...string) (all bench.Warnings) {
		for _, text := range texts {
			all = append(all, bench.Warning{Text: text})
		}
		return all
	}
	stepWarnings := func(texts ...string) change {
		return func(t *bench.TrialResult) { t.Steps[0].Warnings = warnings(texts...) }
	}
	byHand := func(kind bench.ControlKind) change {
		return func(t *bench.TrialResult) {
			t.ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: kind}}}
		}
	}
	entries := func(states ...bench.TrialState) (r bench.Run) {
		for _, state := range states {
			r.Trials = append(r.Trials, bench.TrialEntry{State: state})
		}
		return r
	}
	more := func(connections ...int) change {
		return func(t *bench.TrialResult) {
			for i, n := range connections {
				t.Steps = append(t.Steps, bench.StepResult{Index: i + 1, Step: bench.Step{Connections: n},
					Warnings: t.Steps[0].Warnings})
			}
		}
	}
	checked := func(states ...bench.CheckStatus) change {
		return func(t *bench.TrialResult) {
			for _, status := range states {
				t.Checks = append(t.Checks, bench.CheckResult{Status: status, Request: "GET /x", Detail: "got 503"})
			}
		}
	}
	wrong := func(compared int64) change {
		return func(t *bench.TrialResult) {
			t.Steps[0].Load.Failed, t.Steps[0].Load.Checked = map[bench.ErrorKind]int64{bench.ErrWrong: 3}, compared
		}
	}
	startUp := func(t *bench.TrialResult) { t.StartUp = new(time.Duration(t.Steps[0].Load.Sent) * time.Microsecond) }
	build := func(t *bench.TrialResult) {
		if t.Exit != nil {
			t.Exit, t.Failure = nil, "build"
		}
	}
	kinds := func(n int64) change {
		return func(t *bench.TrialResult) {
			t.Steps[0].Load.Failed = map[bench.ErrorKind]int64{bench.ErrReset: 0}
			for _, k := range []bench.ErrorKind{"1xx", "2xx", "3xx", "4xx", "5xx", bench.ErrBody, bench.ErrTimeout}[:n] {
				t.Steps[0].Load.Failed[k] = 1
			}
		}
	}
	rest := []float64{850, 950, 1050, 1150, 1250, 1350}
	noisy := side("a", []float64{900, 1000, 1100, 1200, 1300, 1400}, startUp)
	text := ""
	for _, c := range []struct {
		name   string
		trials []bench.TrialResult
		run    bench.Run
		by     Rules
	}{
		{name: "no trial"},
		{name: "only errors", trials: both(errors(1))},
		{name: "no throughput", trials: alone(func(t *bench.TrialResult) { t.Steps = nil })},
		{name: "wrong bodies in each step", trials: alone(wrong(100))},
		{name: "wrong bodies of all", trials: alone(wrong(10_003))},
		{name: "failed checks", trials: two(checked(bench.CheckPassed, bench.CheckFailed))},
		{name: "alone, one round", trials: alone()},
		{name: "alone, three rounds", trials: side("a", around(1000, 3))},
		{name: "alone, six rounds", trials: b()},

		{name: "one round", trials: together(alone(), side("b", one))},
		{name: "five rounds", trials: together(side("a", around(9000, 5)), side("b", around(1000, 5)))},
		{name: "five rounds, not interleaved for that", run: plain(2, bench.PlainRounds),
			trials: together(side("a", around(9000, 5)), side("b", around(1000, 5)))},
		{name: "five and six", trials: together(a(), side("b", around(1000, 5)))},
		{name: "one and three", trials: together(alone(), side("b", around(1000, 3)))},
		{name: "none and five", trials: together(alone(func(t *bench.TrialResult) { t.Steps = nil }), side("b", around(1000, 5)))},

		{name: "two far apart", trials: two()},
		{name: "three far apart", trials: together(side("c", six(500)), two())},
		{name: "two leaders", trials: together(a(), side("b", around(2000, 12)[6:]), side("c", six(1000)))},
		{name: "two leaders of those compared",
			trials: together(a(), side("b", around(2000, 12)[6:]), side("c", six(1000)), side("d", one))},
		{name: "overlapping", trials: together(noisy, side("b", rest, startUp))},
		{name: "three overlapping", trials: together(noisy, side("b", rest, startUp),
			side("c", []float64{870, 970, 1070, 1170, 1270, 1370}, startUp))},
		{name: "a tie", trials: together(b(), side("c", six(1000)))},
		{name: "all values alike", trials: together(side("a", slices.Repeat(one, 6)), side("b", slices.Repeat(one, 6)))},
		{name: "certain but within the margin", trials: together(side("a", slices.Repeat([]float64{1010}, 6)), side("b", slices.Repeat(one, 6)))},
		{name: "within the noise floor", trials: together(side("a", six(1100)), b()), by: Rules{Rule: stats.Rule{Floor: .2}}},
		{name: "within the noise floor of the measure", trials: together(side("a", six(1100)), b()),
			by: Rules{Floors: map[measure.ID]float64{measure.Throughput: .2}}},
		{name: "above the noise floor of another measure", trials: together(side("a", six(1100)), b()),
			by: Rules{Floors: map[measure.ID]float64{measure.CPURequest: .5}}},
		{name: "eight at six rounds", trials: many(8)},

		{name: "client-bound", trials: two(clientBound)},
		{name: "5% errors", trials: two(errors(.05))},
		{name: "memory grew", trials: two(growing(1024), growing(2048))},
		{name: "memory grew, but failed", trials: two(growing(2048), died(3))},
		{name: "open loop", trials: both(open)},
		{name: "still warming up", trials: two(warming)},
		{name: "one of three left out", trials: together(two(), side("c", six(4000), clientBound))},
		{name: "unequal limits", trials: two(unlimited)},
		{name: "limits of the profile", trials: together(a(), side("a", six(1000), half)), run: halved},
		{name: "different requests", trials: together(a(sending("get")), b(sending("search")))},
		{name: "different requests, too few rounds", trials: together(side("a", one, sending("get")), side("b", one))},

		{name: "quota", trials: a(quotaBound)},
		{name: "quota, one round", trials: alone(quotaBound)},
		{name: "quotas of four", trials: many(4, quotaBound)},
		{name: "five", trials: together(many(4, quotaBound), side("e", six(5000), clientBound))},
		{name: "five without a peak", trials: many(5, func(t *bench.TrialResult) { t.Steps = nil })},
		{name: "the machine of five", trials: many(5, machineBound)},
		{name: "the machine", trials: both(machineBound)},
		{name: "the machine, alone", trials: a(machineBound)},
		{name: "still rising", trials: a(func(t *bench.TrialResult) { t.Steps[0].Step.Connections = 1 })},

		{name: "limits not enforced", trials: a(unlimited)},
		{name: "no limits to enforce", trials: a(unlimited, func(t *bench.TrialResult) { t.Instance.Limits = bench.Limits{} })},
		{name: "an outlier", trials: side("a", []float64{1000, 1001, 1003, 200, 1002, 999})},
		{name: "a drift", trials: side("a", []float64{1000, 990, 980, 970, 960, 950})},
		{name: "a manual change", trials: a(byHand(bench.ControlPause))},
		{name: "a note only", trials: a(byHand(bench.ControlNote))},
		{name: "busy", run: bench.Run{Machine: bench.Machine{CPUs: 2, Load1: "3.5"}}},
		{name: "idle", run: bench.Run{Machine: bench.Machine{CPUs: 2, Load1: "0.5"}}},
		{name: "not interleaved", run: plain(2, bench.PlainContenders)},
		{name: "not interleaved, by choice", run: plain(2, bench.PlainChosen)},
		{name: "one contender only", run: plain(1, bench.PlainAlone)},
		{name: "three warnings of the run", run: bench.Run{Warnings: warnings("a", "b", "c")}},
		{name: "five warnings of the run", run: bench.Run{Warnings: warnings("a", "b", "c", "d", "e")}},
		{name: "warning", trials: alone(warned(bench.WarnClientBound, "client-bound: 15.1 of 16 connections in flight"))},
		{name: "warnings with other numbers", trials: together(alone(warned(bench.WarnReopened, "31 reconnects; latency includes them")),
			side("b", one, warned(bench.WarnReopened, "2 reconnects; latency includes them"), more(128)))},
		{name: "warnings at the same step", trials: together(alone(stepWarnings("x")), side("b", one, stepWarnings("x")))},
		{name: "a warning at six steps", trials: alone(stepWarnings("x"), more(2, 3, 4, 5, 6))},
		{name: "a warning at seven steps", trials: alone(stepWarnings("x"), more(2, 3, 4, 5, 6, 7))},
		{name: "a warning at steps with names", trials: alone(stepWarnings("x"), func(t *bench.TrialResult) { more(0)(t); t.Steps[1].Step.Name = "ramp" })},
		{name: "warnings at other steps of five", trials: together(many(1, stepWarnings("x")), side("b", one, stepWarnings("x"), more(1)),
			side("c", one, stepWarnings("x"), more(2)), side("d", one, stepWarnings("x"), more(3)), side("e", one, stepWarnings("x"), more(4)))},
		{name: "six kinds of warning", trials: alone(stepWarnings("a", "b", "c", "d", "e", "f"))},
		{name: "eight kinds of warning", trials: alone(stepWarnings("a", "b", "c", "d", "e", "f", "g", "h"))},

		{name: "incomplete", run: entries(bench.TrialPending, bench.TrialRunning, bench.TrialAborted, bench.TrialComplete)},
		{name: "finished", run: entries(bench.TrialFailed, bench.TrialComplete)},
		{name: "died", trials: side("a", around(1, 2), died(2))},
		{name: "failed otherwise in two rounds", trials: side("a", around(1, 3), died(2), died(3), build)},
		{name: "failed otherwise in three rounds", trials: side("a", around(1, 3), died(1), died(2), died(3), build)},
		{name: "failed without a text", trials: side("a", around(1, 2), died(2),
			func(t *bench.TrialResult) { t.Failure, t.Exit = "", nil })},
		{name: "some errors", trials: both(errors(.002))},
		{name: "six kinds of errors", trials: a(kinds(6))},
		{name: "seven kinds of errors", trials: a(kinds(7))},
		{name: "thresholds", trials: side("a", around(1, 2), func(t *bench.TrialResult) {
			t.Steps[0].Thresholds = []bench.ThresholdResult{{Condition: "p99<50ms"}, {Condition: "errors<1%", Passed: true}}
		})},
		{name: "checks", trials: alone(checked(bench.CheckFailed, bench.CheckPassed, bench.CheckSkipped))},
		{name: "more names than a sentence lists", trials: many(8, stepWarnings("x"))},
		{name: "as many names as a sentence lists", trials: many(7, stepWarnings("x"))},
	} {
		got := New(analysis.Of(c.run, c.trials), c.by).Sentences()
		supported(t, c.run, c.trials, c.by, got)
		text += c.name + "\n"
		for _, s := range got {
			if strings.Contains(s.Text, "no limit reached") && !strings.HasPrefix(c.name, "alone") {
				continue
			}
			if s.Kind != Ranking && !strings.HasPrefix(s.Text, "Unclear which contender ") &&
				slices.ContainsFunc(rankingWords, func(w string) bool { return strings.Contains(s.Text, w) }) {
				t.Errorf("%s reads like a ranking: %s", s.Rule, s.Text)
			}
			text += "  " + string(s.Kind) + ", " + s.Rule + ": " + s.Text + "\n"
		}
	}
	testenv.Golden(t, "testdata/sentences.txt", text)
	for _, r := range rules() {
		if !strings.Contains(text, "  "+string(r.kind)+", "+r.name+": ") {
			t.Errorf("no case for the rule %q", r.name)
		}
	}
}
