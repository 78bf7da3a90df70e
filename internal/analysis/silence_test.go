package analysis

import (
	"slices"
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
