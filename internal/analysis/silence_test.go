package analysis

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// load gives all steps the load of the change, within which nothing succeeded.
func load(change func(*bench.Load)) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		for i := range t.Steps {
			t.Steps[i].Load = bench.Load{Elapsed: time.Second, Counts: bench.Counts{Sent: 2}}
			change(&t.Steps[i].Load)
		}
	}
}

// late is a contender that takes longer than a step for each response.
var late = load(func(l *bench.Load) { l.Lead, l.Drain, l.FirstResponse = 1, 1, 1500*time.Millisecond })

// one keeps the last step only.
func one(t *bench.TrialResult) { t.Steps = t.Steps[3:] }

func TestContender_Silence(t *testing.T) {
	fails := func(kinds ...bench.ErrorKind) func(*bench.Load) {
		return func(l *bench.Load) {
			l.Failed = map[bench.ErrorKind]int64{}
			for i, k := range kinds {
				l.Failed[k] = int64(9 - i)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change []func(*bench.TrialResult)
		want   string
	}{
		{"responds", nil, ""},
		{"not measured", []func(*bench.TrialResult){func(t *bench.TrialResult) { t.Steps = nil }}, ""},
		{"responds in one round", []func(*bench.TrialResult){late, in(2, func(t *bench.TrialResult) { t.Steps[1].Load.Succeeded = 1 })}, ""},
		{"late", []func(*bench.TrialResult){late, one}, "no request ended within the step: give steps of at least 5s"},
		{"late in all steps", []func(*bench.TrialResult){late}, "no request ended within any step: give steps of at least 5s"},
		{"late, of an open loop", []func(*bench.TrialResult){one, load(func(l *bench.Load) { l.Drain, l.LeadIn = 1, 3*time.Second })},
			"no request ended within the step: give steps of at least 10s"},
		{"in flight at the end", []func(*bench.TrialResult){one, load(func(l *bench.Load) { l.Cut, l.Elapsed = 2, 10*time.Second })},
			"no request ended within the step: give steps of at least 30s"},
		{"longer than half a minute", []func(*bench.TrialResult){one, load(func(l *bench.Load) { l.Cut, l.Elapsed = 2, 11*time.Second })},
			"no request ended within the step: give steps of at least 1m"},
		{"took no time", []func(*bench.TrialResult){one, load(func(l *bench.Load) { l.Succeeded, l.Elapsed = 5, 0 })},
			"no request ended within the step: give longer steps"},
		{"late, and some time out", []func(*bench.TrialResult){one, late, load(func(l *bench.Load) {
			l.Drain, l.Timeouts.Max = 1, 10*time.Second
			fails(bench.ErrTimeout)(l)
		})}, "no request succeeded within the step (54 × timeout): give steps of at least 30s"},
		{"nothing sent", []func(*bench.TrialResult){one, load(func(l *bench.Load) { l.Sent, l.Dropped = 0, 9 })},
			"no request was sent in the step"},
		{"all failed", []func(*bench.TrialResult){load(fails(bench.ErrRefused))}, "every request failed: 162 × connection refused"},
		{"all failed in many ways", []func(*bench.TrialResult){one, load(fails("5xx", bench.ErrRefused, bench.ErrReset, "4xx", "3xx"))},
			"every request failed: 54 × 5xx, 48 × connection refused, 42 × connection reset, 2 more kinds"},
		{"all rejected", []func(*bench.TrialResult){one, load(func(l *bench.Load) { l.Rejected = bench.Statuses{429: 7} })},
			"every request was rejected (429)"},
		{"rejected or failed", []func(*bench.TrialResult){one, load(func(l *bench.Load) {
			l.Rejected = bench.Statuses{429: 9}
			fails("5xx")(l)
		})}, "every request was rejected or failed: rejected 50% of requests (429), 54 × 5xx"},
	} {
		s, ok := analyzed(rounds("a", 6, 1, c.change...)).Contenders[0].Silence()
		got := ""
		if ok {
			got = s.String()
		}
		testenv.Check(t, got == c.want, "%s: %q, want %q", c.name, got, c.want)
	}
}

// What has no success is in the last tier of throughput, and in no tier of what responses have; what
// responds in some rounds only has no better latency. Without any success none leads.
func TestStanding_Silent(t *testing.T) {
	some := in(2, late)
	rest := in(2, func(t *bench.TrialResult) { t.Steps[3].Load.Succeeded = 0 })
	one, two := analyzed(rounds("a", 6, 1), rounds("late", 6, 3, late)), analyzed(rounds("some", 6, 3, some), rounds("peak", 6, 3, rest))
	for _, c := range []struct {
		of        measure.ID
		contender string
		tier      int
		out       string
	}{
		{measure.Throughput, "a", 1, ""}, {measure.Throughput, "late", 2, ""}, {measure.Throughput, "some", 1, ""},
		{measure.CPURequest, "a", 1, ""}, {measure.CPURequest, "late", 0, "no response"},
		{measure.CPURequest, "some", 0, "no response in 1 of 6 rounds at 8 connections"},
		{measure.CPURequest, "peak", 0, "no response in 1 of 6 rounds at 8 connections"},
		{measure.P99Half, "some", 0, "no response in 1 of 6 rounds at 4 connections"}, {measure.P99Half, "peak", 1, ""},
		{measure.StartUp, "late", 1, ""}, {measure.StartUp, "a", 2, ""},
	} {
		places := slices.Concat(one.Standing(c.of, stats.Rule{}).Places, two.Standing(c.of, stats.Rule{}).Places)
		for _, p := range places {
			testenv.Check(t, p.Contender != c.contender || p.Tier == c.tier && p.Out == c.out, "%s of %s: tier %d, %q", c.of, p.Contender, p.Tier, p.Out)
		}
	}
	none := analyzed(rounds("a", 6, 1, late), rounds("b", 6, 1, late)).Standing(measure.Throughput, stats.Rule{})
	leaders, behind := none.Leaders()
	testenv.Check(t, len(none.Tiers) == 0 && len(leaders)+len(behind) == 0 && !none.Alike(), "%+v", none)
}

// Two runs are compared at the steps of the one with successes.
func TestCoupleOf_Silent(t *testing.T) {
	half := func(t *bench.TrialResult) { t.Steps[2].Load.Succeeded = 0 } // at half peak
	for _, c := range []struct {
		name       string
		a, b       []func(*bench.TrialResult)
		throughput string
		p99        string
		silent     [2]bool // for p99
		why        [2]string
	}{
		{"both respond", nil, nil, "8 connections", "4 connections (50% of the old peak)", [2]bool{}, [2]string{}},
		{"old is silent", []func(*bench.TrialResult){late}, nil, "8 connections", "4 connections (50% of the new peak)",
			[2]bool{true, false}, [2]string{"no response", ""}},
		{"new is silent", nil, []func(*bench.TrialResult){late}, "8 connections", "4 connections (50% of the old peak)",
			[2]bool{false, true}, [2]string{"", "no response"}},
		{"both are silent", []func(*bench.TrialResult){late}, []func(*bench.TrialResult){late}, "1 connection", "",
			[2]bool{true, true}, [2]string{"no response", "no response"}},
		{"new is silent at half peak", nil, []func(*bench.TrialResult){half}, "8 connections", "4 connections (50% of the old peak)",
			[2]bool{false, true}, [2]string{"", "no response at 4 connections"}},
		{"new is silent there in a round", nil, []func(*bench.TrialResult){in(1, half)}, "8 connections",
			"4 connections (50% of the old peak)", [2]bool{}, [2]string{"", "no response in 1 of 6 rounds at 4 connections"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			couple := CoupleOf(analyzed(rounds("x", 6, 1, c.a...)).Contenders[0], analyzed(rounds("x", 6, 1, c.b...)).Contenders[0])
			m := measure.Get(measure.P99Half)
			old, fresh, at := Samples(measure.Get(measure.Throughput), couple.Ref, couple.A, couple.B)
			testenv.Equal(t, at, c.throughput)
			testenv.Check(t, len(old) == 6 && len(fresh) == 6, "%d and %d values", len(old), len(fresh))
			_, _, at = Samples(m, couple.Ref, couple.A, couple.B)
			testenv.Equal(t, at, c.p99)
			testenv.Equal(t, couple.Silent(m), c.silent)
			testenv.Equal(t, couple.Unanswered(m), c.why)
			testenv.Equal(t, couple.Unanswered(measure.Get(measure.Throughput)), [2]string{})
			testenv.Equal(t, couple.Silent(measure.Get(measure.StartUp)), [2]bool{})
			_, a := couple.A.NothingStep()
			_, b := couple.B.NothingStep()
			testenv.Equal(t, couple.Silent(measure.Get(measure.Throughput)), [2]bool{a, b})
		})
	}
}

// A need's CPU time has a verdict where it is that of one contender: contenders run one after the
// other, or each has its own copy; never that of an external need.
func TestContender_Attributed(t *testing.T) {
	only := []bench.Selection{{Contender: "a"}}
	for name, c := range map[string]struct {
		need       bench.NeedSpec
		a, b       []func(*bench.TrialResult)
		attributed bool
		has        [2]bool
		shared     string
	}{
		"one after the other":            {need: bench.NeedSpec{Name: "db", From: bench.NeedContainer}, attributed: true, has: [2]bool{true, true}},
		"shared by interleaved ones":     {bench.NeedSpec{Name: "db", From: bench.NeedContainer}, both, both, false, [2]bool{true, true}, "shared by interleaved contenders"},
		"the second is interleaved":      {bench.NeedSpec{Name: "db", From: bench.NeedContainer}, nil, both, true, [2]bool{true, true}, "shared by interleaved contenders"},
		"one round is interleaved":       {bench.NeedSpec{Name: "db", From: bench.NeedContainer}, second, nil, false, [2]bool{true, true}, "shared by interleaved contenders"},
		"a copy of each interleaved one": {bench.NeedSpec{Name: "db", From: bench.NeedContainer, Own: true}, both, both, true, [2]bool{true, true}, ""},
		"external":                       {bench.NeedSpec{Name: "db", From: bench.NeedExternal}, nil, nil, false, [2]bool{true, true}, "external"},
		"external, interleaved":          {bench.NeedSpec{Name: "db", From: bench.NeedExternal}, both, both, false, [2]bool{true, true}, "external"},
		"external, called a copy":        {bench.NeedSpec{Name: "db", From: bench.NeedExternal, Own: true}, both, both, false, [2]bool{true, true}, "external"},
		"of the first alone":             {need: bench.NeedSpec{Name: "db", From: bench.NeedExternal, For: only}, has: [2]bool{true, false}, shared: "external"},
		"a copy of the first alone":      {bench.NeedSpec{Name: "db", From: bench.NeedContainer, Own: true, For: only}, both, both, true, [2]bool{true, false}, "shared by interleaved contenders"},
		"another need":                   {need: bench.NeedSpec{Name: "mail", From: bench.NeedExternal}, attributed: true},
	} {
		t.Run(name, func(t *testing.T) {
			all := append(rounds("a", 2, 1, c.a...), rounds("b", 2, 1, c.b...)...)
			for i := range all {
				for k := range all[i].Steps {
					s := &all[i].Steps[k]
					s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Unix(1, 0), Source: "x"}}}
					s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Unix(11, 0), Source: "x", CPU: time.Second}}}
				}
			}
			r := Of(bench.Run{ID: "r", Profile: bench.Profile{Needs: []bench.NeedSpec{{Name: "other", From: bench.NeedExternal, Own: true}, c.need}}}, all)
			a, b := r.Contenders[0], r.Contenders[1]
			testenv.Equal(t, a.Attributed("db"), c.attributed, "attributed")
			testenv.Equal(t, [2]bool{a.Has("db"), b.Has("db")}, c.has, "has")
			testenv.Equal(t, Couple{A: a, B: b}.Shared("db"), c.shared, "shared")
			testenv.Equal(t, Couple{A: a, B: b}.Shared(""), "", "without a need")
			tested := r.Tested()
			testenv.Equal(t, tested[len(tested)-1].NeedName() == "db", a.Attributed("db") || b.Attributed("db"), "tested")
		})
	}
}

var (
	both   = []func(*bench.TrialResult){interleaved}
	second = []func(*bench.TrialResult){in(2, interleaved)}
)

// Each output has Under after the name of a contender: it says which of two versions that is.
func TestContender_Under(t *testing.T) {
	of := func(variant string) bench.Selection { return bench.Selection{Contender: "a", Variant: variant} }
	set := []bench.Settings{
		{Selection: of("half"), Limits: bench.Limits{CPUs: .5}},
		{Selection: of("both"), Limits: bench.Limits{CPUs: .5}, Env: map[string]string{"GOGC": "50", "A": "1"}},
		{Selection: of("before"), Dir: "/home/u/a-before"},
		{Selection: of("v1"), Image: "a:v1"},
		{Selection: of("hostile"), Image: "a\x1b[1m:v1"},
	}
	for _, c := range []struct{ name, among, want string }{
		{"", "before", ""}, {"before", "", "with folder ../a-before"}, {"v1", "", "with image a:v1"},
		{"half", "", "under 0.5 CPUs"}, {"", "half", "under 1 CPU"},
		{"both", "", "under 0.5 CPUs, with A=1, GOGC=50"}, {"both", "half", "with A=1, GOGC=50"},
		{"hostile", "", "with image a␛[1m:v1"},
	} {
		run := bench.Run{ID: "r", ProfileFile: "/home/u/a/bench.yaml", Profile: bench.Profile{Limits: bench.Limits{CPUs: 1}, Settings: set,
			Contenders: []bench.Selection{of(c.name), of(c.among)}}}
		trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Variant: c.name}}
		got := Of(run, []bench.TrialResult{trial}).Contenders[0].Under()
		testenv.Check(t, got == c.want, "%s among %s: %q, want %q", c.name, c.among, got, c.want)
	}
}

// What differs only in what is masked is said to, at most.
func TestContender_Under_Masked(t *testing.T) {
	of := func(variant string) bench.Selection { return bench.Selection{Contender: "a", Variant: variant} }
	for theirs, want := range map[string]string{
		"postgres://***@h/db":   "with URL=postgres://***@h/db (differs at most in what is masked)",
		"postgres://***@h/test": "with URL=postgres://***@h/db",
		"":                      "with URL=postgres://***@h/db",
	} {
		run := bench.Run{ID: "r", Profile: bench.Profile{Contenders: []bench.Selection{of(""), of("b")},
			Settings: []bench.Settings{{Selection: of("b"), Env: map[string]string{"URL": "postgres://***@h/db"}}}}}
		trial := func(variant, url string) bench.TrialResult {
			return bench.TrialResult{Trial: bench.Trial{Contender: "a", Variant: variant}, Service: bench.Service{Env: map[string]string{"URL": url}}}
		}
		all := Of(run, []bench.TrialResult{trial("", theirs), trial("b", "postgres://***@h/db")}).Contenders
		i := slices.IndexFunc(all, func(c Contender) bool { return c.Label == "a:b" })
		got := all[i].Under()
		testenv.Check(t, got == want, "next to %q: %q, want %q", theirs, got, want)
	}
}

func TestRun_LimitRatios(t *testing.T) {
	half := func(n int, change ...func(*bench.TrialResult)) []bench.TrialResult {
		return rounds("a", n, .5, append(change, variant("half"))...)
	}
	of := func(all ...[]bench.TrialResult) *Run { return Of(limited(), slices.Concat(all...)) }
	more := rounds("a", 6, 1, variant("more"))
	const who, why = "a:half under 0.5 CPUs, a under 1 CPU: ", "not compared, since "
	for _, c := range []struct {
		name string
		run  *Run
		want string
	}{
		{"no contender", of(), ""},
		{"the same limits", of(rounds("a", 6, 1), more), ""},
		{"six rounds", of(rounds("a", 6, 1), half(6), more),
			who + "×0.50 the throughput (95% CI ×0.49 to ×0.51), ×2.00 the CPU per request (95% CI ×1.97 to ×2.03)."},
		{"the smaller is faster", of(rounds("a", 6, .25), half(6)),
			who + "×2.00 the throughput (95% CI ×1.97 to ×2.03), ×0.50 the CPU per request (95% CI ×0.49 to ×0.51)."},
		{"interleaved", of(rounds("a", 6, 1, interleaved), half(6, interleaved)),
			who + "×0.50 the throughput (95% CI ×0.50 to ×0.50), ×2.00 the CPU per request (95% CI ×2.00 to ×2.00)."},
		{"five rounds", of(rounds("a", 6, 1), half(5)), who + why + "that takes 6 rounds of both without errors."},
		{"excluded", of(rounds("a", 6, 1), half(6, errorsInAll)), who + why + "a:half is excluded."},
		{"both are excluded", of(rounds("a", 6, 1, errorsInAll), half(6, errorsInAll)), who + why + "a is excluded."},
	} {
		var standings []Standing
		for _, m := range measure.Tested() {
			standings = append(standings, c.run.Standing(m.ID, stats.Rule{}))
		}
		got := strings.Join(c.run.LimitRatios(standings), "\n")
		testenv.Check(t, got == c.want, "%s:\n%s, want\n%s", c.name, got, c.want)
	}
}
