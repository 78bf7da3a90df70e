package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/table"
)

func TestCompare(t *testing.T) {
	a := func(f values, changes ...change) raw { return of(trials("a", 6, f, changes...)) }
	same := a(usual())
	two := of(trials("a", 6, usual()), trials("b", 6, faster(1.1))).with(func(r *bench.Run) { r.ID = "one" })
	interleaved := func(changes ...change) raw {
		return of(trials("a", 10, usual(), paired), trials("b", 10, faster(.9), append(changes, paired)...)).
			with(func(r *bench.Run) { r.ID = "one" })
	}
	half := func(settings bench.Settings, changes ...change) raw { // a and a:half, for which the profile has settings
		settings.Selection = bench.Selection{Contender: "a", Variant: "half"}
		changes = append(changes, func(l *bench.TrialResult) { l.Trial.Variant = "half" })
		return of(trials("a", 6, usual()), trials("a", 6, faster(.5), changes...)).with(func(r *bench.Run) {
			r.ID, r.Profile.Contenders = "one", []bench.Selection{{Contender: "a"}, settings.Selection}
			r.Profile.Settings = []bench.Settings{settings}
		})
	}
	limited := func(l *bench.TrialResult) { l.Instance.Limits.CPUs = .5 }
	drifting := func(step int) change {
		return func(l *bench.TrialResult) {
			l.Steps[step].Drift = &bench.Drift{Throughput: &bench.Trend{Change: .2, P: .001}}
		}
	}
	share := func(rate float64) change {
		return func(l *bench.TrialResult) {
			l.Steps = append(l.Steps, bench.StepResult{Index: 4, Step: bench.Step{Name: "50% of peak", PeakShare: .5, Rate: rate},
				Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 50_000}, Elapsed: 10 * time.Second,
					Latency: bench.Latencies{Count: 1, P99: 10 * time.Millisecond}}})
		}
	}
	few := a(usual(), failing(2, 1000), in(5, byHand(bench.ControlPause)), in(6, is(bench.TrialFailed)),
		func(l *bench.TrialResult) {
			l.StartUp = nil
			for k := range l.Steps {
				l.Steps[k].After.Memory.PeakIsSample = true
			}
		})
	switching := func(l *bench.TrialResult) {
		s := &l.Steps[3]
		s.Before.Switches, s.After.Switches = &bench.Switches{}, &bench.Switches{Voluntary: 2 * s.Load.Succeeded}
	}
	limits := same.with(func(r *bench.Run) { r.Profile.Limits.CPUs = 2 })
	busy := func(load string) raw { return same.with(func(r *bench.Run) { r.Machine.Load1 = load }) }
	ownNeeds := same.with(func(r *bench.Run) {
		r.Warnings = bench.Warnings{verdict.OwnNeeds(bench.NeedSpec{Name: "db", Service: "a"}, bench.NeedSpec{Service: "b"})}
	})
	const hostile = "a\x1b[31m\u202e\n"
	floor := &Floor{Contender: hostile, Rounds: 6, Measures: []MeasureFloor{{Measure: "throughput", Floor: .15},
		{Measure: "p99"}, {Measure: "start-up", Floor: math.Inf(1)}}}
	text := ""
	for _, c := range []struct {
		name          string
		before, after raw
		o             Options
	}{
		{"two in common", of(trials("a", 6, usual()), trials("b", 6, usual()), trials("gone", 1, usual())),
			of(trials("b", 6, usual()), trials("a", 6, values{12_000, 6500 * time.Microsecond, 1e8, 50 << 20}), trials("come", 1, usual())),
			Options{}},
		{"one of each, with other names", same, of(trials("b", 6, usual())), Options{}},
		{"contenders of one folder", two.only("b"), two.only("a"), Options{}},
		{"five rounds", of(trials("a", 5, usual())), same, Options{}},
		{"a failed round", of(trials("a", 3, usual())), few, Options{}},
		{"a failed round, by force", of(trials("a", 3, usual())), few, Options{Force: true}},
		{"context switches", a(usual(), switching), a(usual(), switching), Options{}},
		{"context switches of one side, once", a(usual(), in(1, switching)), same, Options{}},
		{"an outlier", same, a(usual(), in(5, func(l *bench.TrialResult) { l.Steps[3].Load.Succeeded *= 3 })), Options{}},

		{"a share of peak", a(usual(), share(5000)), a(usual(), share(4800)), Options{}},
		{"a share of peaks over 5% apart", a(usual(), share(5000)), a(usual(), share(4700)), Options{}},
		{"no step at peak", same, a(usual(), func(l *bench.TrialResult) { l.Steps = l.Steps[:3] }), Options{}},
		{"a step skipped", same, a(usual(), func(l *bench.TrialResult) { l.Steps[2].Aborted = bench.AbortedSkipped }), Options{}},
		{"errors at peak", same, a(usual(), failing(3, 1e6)), Options{}},
		{"unstable at peak", same, a(faster(1.5), in(2, drifting(3))), Options{}},
		{"unstable at peak, by force", same, a(faster(1.5), in(2, drifting(3))), Options{Force: true}},
		{"unstable at half peak", a(usual(), drifting(2)), a(usual(), drifting(2)), Options{}},

		{"other limits", same, limits, Options{}},
		{"other limits, by force", same, limits, Options{Force: true}},
		{"limits not enforced", same, a(faster(.5), func(l *bench.TrialResult) { l.Instance.LimitsEnforced = false }), Options{}},
		{"limits that the profile does not set", half(bench.Settings{}, limited).only("a"), half(bench.Settings{}, limited).only("a:half"), Options{}},
		{"limits of the profile", half(bench.Settings{Limits: bench.Limits{CPUs: .5}}, limited).only("a"),
			half(bench.Settings{Limits: bench.Limits{CPUs: .5}}, limited).only("a:half"), Options{}},
		{"errors at peak of the larger", half(bench.Settings{Limits: bench.Limits{CPUs: .5}}, limited, failing(3, 1e6)).only("a"),
			half(bench.Settings{Limits: bench.Limits{CPUs: .5}}, limited, failing(3, 1e6)).only("a:half"), Options{}},
		{"environment of the profile", half(bench.Settings{Env: map[string]string{"GOGC": "50", "A": hostile}}).only("a:half"),
			half(bench.Settings{Env: map[string]string{"GOGC": "50", "A": hostile}}).only("a"), Options{}},

		{"environment of the profile, no ratios", half(bench.Settings{Env: map[string]string{"GOGC": "50"}}, is(bench.TrialFailed)).only("a:half"),
			half(bench.Settings{Env: map[string]string{"GOGC": "50"}}, is(bench.TrialFailed)).only("a"), Options{}},

		{"interleaved", interleaved().only("a"), interleaved().only("b"), Options{}},
		{"interleaved, a round aborted", interleaved(in(3, is(bench.TrialAborted))).only("a"),
			interleaved(in(3, is(bench.TrialAborted))).only("b"), Options{}},
		{"interleaved, in two runs", of(trials("a", 10, usual(), paired)), of(trials("a", 10, usual())), Options{}},

		{"the new side froze", same, a(usual(), froze(3, 8*time.Second)), Options{}},
		{"both froze, the old one longer", a(usual(), froze(3, 8*time.Second)), a(usual(), froze(3, 1900*time.Millisecond)), Options{}},
		{"froze in the warm-up", a(usual(), froze(1, time.Millisecond)), a(usual(), froze(0, 3*time.Second), froze(1, time.Millisecond)), Options{}},
		{"froze in half of the rounds", same, a(usual(), froze(3, 20*time.Millisecond), in(1, froze(3, 8*time.Second)), in(2, froze(3, 8*time.Second)),
			in(3, froze(3, 8*time.Second))), Options{}},
		{"froze, five rounds", of(trials("a", 5, usual(), froze(3, 50*time.Millisecond))), of(trials("b", 5, usual(), froze(3, 8*time.Second))), Options{}},
		{"froze, under other limits", limits, a(usual(), froze(3, 8*time.Second)), Options{}},
		{"froze, interleaved", interleaved(froze(3, 8*time.Second)).only("a"), interleaved(froze(3, 8*time.Second)).only("b"), Options{}},
		{"more threads", a(usual(), threaded(3)), a(usual(), threaded(5), in(2, threaded(4))), Options{}},
		{"as many threads in most rounds", a(usual(), threaded(3)), a(usual(), threaded(3), in(2, threaded(4))), Options{}},
		{"threads of one side", a(usual(), threaded(3)), same, Options{}},
		{"nothing succeeded in new", same, a(usual(), late), Options{}},
		{"nothing succeeded in old", a(usual(), late), same, Options{}},
		{"nothing succeeded in either", a(usual(), late), a(usual(), late), Options{}},
		{"nothing succeeded in new, in pairs", interleaved(late).only("a"), interleaved(late).only("b"), Options{}},
		{"nothing succeeded in four rounds", same, a(usual(), in(1, late), in(2, late), in(3, late), in(5, late)), Options{}},
		{"nothing succeeded in one round", same, a(faster(1.5), in(2, late)), Options{}},
		{"nothing succeeded at half peak", same, a(usual(), func(l *bench.TrialResult) { l.Steps[2].Load.Succeeded = 0 }), Options{}},
		{"nothing succeeded in one round of one", of(trials("a", 1, usual())), of(trials("a", 1, usual(), late)), Options{}},
		{"all requests failed", same, a(usual(), refused), Options{}},

		{"excluded", a(usual(), failing(0, 1e6), failing(1, 1e6), failing(2, 1e6), failing(3, 1e6)), same, Options{}},
		{"both excluded, by force", a(usual(), wrong), a(usual(), wrong), Options{Force: true}},
		{"failed checks accepted", a(usual(), wrong).with(accepting), a(usual(), wrong).with(accepting), Options{}},
		{"a floor", same, a(faster(1.1)), Options{Floor: floor}},
		{"a floor for all", same, a(faster(1.1)), Options{Rule: stats.Rule{Floor: .2}}},
		{"the usual margin", same, same, Options{Rule: stats.Rule{Margin: stats.DefaultMargin}}},
		{"another margin", same, same, Options{Rule: stats.Rule{Margin: .02}}},
		{"a busy machine", busy("3.9"), busy("4.1"), Options{}}, // of eight CPUs
		{"a busy machine, one run", busy("4.1"), busy("4.1"), Options{}},
		{"a busy machine, two runs", busy("4.1").with(func(r *bench.Run) { r.ID = "x" }), busy("4.1"), Options{}},
		{"needs of services, one run", ownNeeds, ownNeeds, Options{}},
		{"text from files", of(trials(hostile, 6, usual())), of(trials(hostile, 6, usual())).
			with(func(r *bench.Run) { r.Machine.Kernel = "6\x1b]0;title\a" }), Options{}},
	} {
		got := describe(t, compared(t, c.before, c.after, c.o))
		testenv.Check(t, !strings.ContainsAny(got, "\x1b\a\u202e"), "%s: text from files is not safe: %q", c.name, got)
		text += "## " + c.name + "\n\n" + got + "\n"
	}
	testenv.Golden(t, "testdata/compare.txt", text)
}

// The comment for a pull request begins with the verdict, and folds what did not change.
func TestResult_Markdown(t *testing.T) {
	a := func(f values, changes ...change) raw { return of(trials("a", 6, f, changes...)) }
	pair := of(trials("v1", 8, usual(), paired), trials("v2", 8, faster(.9), paired)).with(func(r *bench.Run) { r.ID = "one" })
	larger, leaner := usual(), usual()
	larger.memory *= 2
	leaner.memory, leaner.startUp = leaner.memory/2, 2*leaner.startUp
	noisy := in(5, func(l *bench.TrialResult) { l.Steps[3].Load.Succeeded *= 3 })
	const hostile = "a\x1b[31m|*<b>@x"
	text := ""
	for _, c := range []struct {
		name          string
		before, after raw
	}{
		{"several changes of an interleaved run", pair.only("v1"), pair.only("v2")},
		{"one change for the worse", a(usual()), a(larger)},
		{"two changes", a(usual()), a(leaner)},
		{"the same", a(usual()), a(usual())},
		{"inconclusive", a(usual()), a(usual(), noisy)},
		{"too few rounds", of(trials("a", 5, usual())), of(trials("a", 5, larger))},
		{"not comparable", a(usual()), a(larger).with(func(r *bench.Run) { r.Profile.Limits.CPUs = 2 })},
		{"excluded", a(usual()), a(usual(), wrong)},
		{"the new side froze", a(usual(), froze(3, 20*time.Millisecond)), a(faster(1.2), froze(3, 8*time.Second))},
		{"the old side froze", a(usual(), froze(3, 8*time.Second)), a(faster(1.2), froze(3, 20*time.Millisecond))},
		{"both froze", a(usual(), froze(3, 8*time.Second)), a(usual(), froze(3, 8*time.Second))},
		{"the old side froze, and nothing else is known", of(trials("a", 1, usual(), froze(3, 8*time.Second))), of(trials("b", 1, usual()))},
		{"froze, under other limits", a(usual()), a(usual(), froze(3, 8*time.Second)).with(func(r *bench.Run) { r.Profile.Limits.CPUs = 2 })},
		{"nothing succeeded in new", a(usual()), a(larger, late)},
		{"nothing succeeded in either", a(usual(), late), a(usual(), late)},
		{"nothing succeeded in one round of one", of(trials("a", 1, usual())), of(trials("a", 1, usual(), late))},
		{"two contenders", of(trials(hostile, 6, usual()), trials("b", 6, usual())), of(trials(hostile, 6, usual()), trials("b", 6, larger))},
	} {
		r := compared(t, c.before, c.after, Options{})
		var b strings.Builder
		testenv.OK(t, r.Markdown(&b, r.CheckGates([]Gate{{measure.MemoryPeak, .5}})))
		testenv.Check(t, !strings.ContainsAny(b.String(), "\x1b") && !strings.Contains(b.String(), "<b>"),
			"%s: text from files is not safe: %q", c.name, b.String())
		text += "<!-- " + c.name + " -->\n\n" + b.String() + "\n"
	}
	testenv.Golden(t, "testdata/compare.md", text)
}

func wrong(l *bench.TrialResult) {
	l.Checks = []bench.CheckResult{{Status: bench.CheckPassed}, {Status: bench.CheckFailed, Request: "GET /x", Detail: "got 503"}}
}

func accepting(r *bench.Run) { r.AcceptFailedChecks = true }

func byHand(kind bench.ControlKind) change {
	return func(l *bench.TrialResult) {
		l.ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: kind}}}
	}
}

func TestCompare_NothingInCommon(t *testing.T) {
	two := of(trials("x", 1, usual()), trials("y", 1, usual()))
	for _, c := range []struct {
		before, after raw
		want          string
	}{
		{of(trials("a", 1, usual()), trials("b", 1, usual())), two, "no contender in common: old has a, b, new has x, y"},
		{of(trials(strings.Repeat("a", 301), 1, usual())), two, "no contender in common: old has " + strings.Repeat("a", 300) + "…, new has x, y"},
		{of(), two, "old: no trial started"},
		{two, of(), "new: no trial started"},
		{two.only("z"), two, `old: no contender "z"; choose one of x, y`},
	} {
		_, err := Compare(c.before.set(), c.after.set(), Options{})
		testenv.Check(t, err != nil && err.Error() == c.want, "%v, want %q", err, c.want)
	}
}

func TestResult_JSON(t *testing.T) {
	r := compared(t, of(trials("a", 6, usual())), of(trials("a", 6, faster(1.1), in(5, byHand(bench.ControlPause)))), Options{})
	data := testenv.Must(json.MarshalIndent(r, "", " "))(t)
	testenv.Golden(t, "testdata/compare.json", string(data)+"\n")
	for errors, want := range map[float64]string{math.Nextafter(.001, 0): "[]",
		.001: "[new: 0.1% of requests failed; throughput and latency exclude them]"} {
		testenv.Equal(t, fmt.Sprint(Contender{NewTrials: Trials{Errors: errors}}.notes()), want, errors)
	}
	for side, want := range map[string]string{"old": "1: x", "new": "2: x", "": "x"} {
		testenv.Equal(t, sideWarning(side, "", "x").Words("1", "2"), want, side)
	}
}

// successive returns a run of contenders a, b, … with n rounds and their successes.
func successive(n int, successes ...int64) Set {
	var trials []bench.TrialResult
	for round := 1; round <= n; round++ {
		for i, s := range successes {
			trials = append(trials, benchtest.Trial(string(rune('a'+i)), round, benchtest.Step(s+int64(7*round%5))))
		}
	}
	return Set{Run: analysis.Of(benchtest.Run(trials...), trials)}
}

// silent returns a side with n rounds of a contender in which nothing succeeded.
func silent(n int) Set {
	var trials []bench.TrialResult
	for round := range n {
		trials = append(trials, benchtest.Trial("a", round+1, benchtest.Step(0)))
	}
	return Set{Run: analysis.Of(benchtest.Run(trials...), trials)}
}

func TestBrief(t *testing.T) {
	limited := successive(10, 9_000, 20_000)
	limited.Run.Run.Profile.Limits.CPUs = 7
	for want, after := range map[string]Set{
		"a worse −10.0%":                      successive(10, 9_000, 20_000),
		"a worse −10.0%, b better +10.0%":     successive(10, 9_000, 22_000),
		"a worse −10.0%, b better +10.0%, +1": successive(10, 9_000, 22_000, 33_000),
		"same":                                successive(10, 10_000, 20_000),
		"inconclusive, 4 more rounds":         successive(2, 10_000, 20_000),
		"not comparable: other limits":        limited,
		"worse −10.0%":                        successive(10, 9_000),
		"worse 1,000/s → 0/s":                 silent(10),
	} {
		t.Run(want, func(t *testing.T) {
			before := []int64{10_000, 20_000, 30_000}[:len(after.Run.Contenders)]
			r := testenv.Must(Compare(successive(10, before...), after, Options{}))(t)
			testenv.Equal(t, r.Brief(measure.Throughput), want)
		})
	}
}

// A narrow text has no values, and the verdicts have their tones.
func TestLines(t *testing.T) {
	r := testenv.Must(Compare(successive(10, 10_000), successive(10, 9_000), Options{}))(t)
	tones := func(tone table.Tone, s string) string { return fmt.Sprintf("<%d %s>", tone, s) }
	text := func(width int) string { return strings.Join(r.Lines(width, tones), "\n") }
	bad := fmt.Sprintf("<%d worse: −10.0%%", table.Bad)
	testenv.Contains(t, text(60), "<0 peak throughput", "old>", "new>", bad)
	testenv.Contains(t, text(59), "<0 req/s>", "!peak throughput", "!old>", "!new>", bad)
	testenv.Contains(t, text(0), "old>", "new>")
	better := testenv.Must(Compare(successive(10, 9_000), successive(10, 10_000), Options{}))(t)
	testenv.Contains(t, strings.Join(better.Lines(0, tones), "\n"), fmt.Sprintf("<%d better: ", table.Good))
}

// TestBrief_LeastRounds: the contender that is settled first counts.
func TestBrief_LeastRounds(t *testing.T) {
	of := func(more int) Contender {
		return Contender{Comparable: true, Rows: []Row{{Measure: measure.Throughput, More: more}}}
	}
	testenv.Equal(t, Result{Contenders: []Contender{of(2), of(5)}}.Brief(measure.Throughput), "inconclusive, 2 more rounds")
	testenv.Equal(t, Result{}.Brief(measure.Throughput), "inconclusive")
}

// Images that differ only in labels of locbench are the same.
func TestImagesOfTheSameContents(t *testing.T) {
	image := func(id, contents string) change {
		return func(l *bench.TrialResult) { l.Instance.ImageID, l.Artifact.Contents = id, contents }
	}
	for name, c := range map[string]struct {
		old, fresh string
		differs    bool
	}{
		"the same contents": {"c", "c", false}, "other contents": {"c", "d", true}, "not known": {"", "", true}, "not known of one": {"", "c", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := compared(t, of(trials("a", 2, usual(), image("x", c.old))), of(trials("a", 2, usual(), image("y", c.fresh))), Options{})
			var b strings.Builder
			testenv.OK(t, r.Text(&b, 0))
			testenv.Equal(t, strings.Contains(b.String(), "image: x → y"), c.differs, b.String())
		})
	}
}
