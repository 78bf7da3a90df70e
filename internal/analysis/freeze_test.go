package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
)

// froze makes the first responses of a step of rounds take this many seconds, and usual ones 20 ms.
func froze(step int, seconds float64) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		t.Steps[step].Load.FirstResponse = time.Duration(seconds * 1e9)
		t.Steps[step].Load.Latency.P50 = 20 * time.Millisecond
	}
}

// said returns the sentences about frozen contenders.
func said(r *Run) string {
	var all []string
	for _, f := range Freezes(r.Contenders, nil) {
		all = append(all, f.Text)
	}
	return strings.Join(all, " ")
}

func TestFreezes(t *testing.T) {
	usual := froze(3, .03)
	timedOut := func(t *bench.TrialResult) {
		t.Steps[3].Load.Timeouts = bench.Latencies{Count: 64, Min: 10 * time.Second}
	}
	open := func(t *bench.TrialResult) { t.Steps[3].Step.Rate = 10 }
	skipped := func(t *bench.TrialResult) { t.Steps[3].Aborted = bench.AbortedSkipped }
	slow := func(t *bench.TrialResult) { t.Steps[3].Load.Latency.P50 = 2 * time.Second }
	for name, c := range map[string]struct {
		run  *Run
		want string
	}{
		"none": {analyzed(rounds("a", 6, 1, usual), rounds("b", 6, 1, usual)), ""},
		"one of two": {analyzed(rounds("a", 6, 1, usual), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b at 8 connections took 8.00 s (a: 30.0 ms)."},
		"both, one much longer": {analyzed(rounds("a", 6, 1, froze(3, 1.9)), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b at 8 connections took 8.00 s (a: 1.90 s)."},
		"half as long": {analyzed(rounds("a", 6, 1, froze(3, 4)), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b at 8 connections took 8.00 s (a: 4.00 s)."},
		"both, about as long": {analyzed(rounds("a", 6, 1, froze(3, 4.01)), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b and a at 8 connections took 8.00 s and 4.01 s."},
		"at two loads": {analyzed(rounds("a", 6, 1, froze(2, 3)), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b at 8 connections took 8.00 s. The first responses of a at 4 connections took 3.00 s."},
		"the longest of two loads": {analyzed(rounds("a", 6, 1, froze(2, 3), froze(3, 8))),
			"The first responses of a at 8 connections took 8.00 s."},
		"the warm-up is longer": {analyzed(rounds("a", 6, 1, usual), rounds("b", 6, 1, froze(0, 5), froze(3, 3))),
			"The first responses of b at 8 connections (warm-up) took 5.00 s (a: 30.0 ms)."},
		"most rounds": {analyzed(rounds("a", 5, 1, usual, in(1, froze(3, 8)), in(3, froze(3, 8)), in(4, froze(3, 8)))),
			"The first responses of a at 8 connections took 8.00 s."},
		"half of the rounds": {analyzed(rounds("a", 4, 1, usual, in(1, froze(3, 8)), in(3, froze(3, 8)))), ""},
		"timed out":          {analyzed(rounds("a", 1, 1, froze(3, 10), timedOut)), "The first responses of a at 8 connections took at least 10.0 s."},
		"a slow service":     {analyzed(rounds("a", 1, 1, froze(3, 8), slow)), ""},
		"an open loop":       {analyzed(rounds("a", 1, 1, froze(3, 8), open)), ""},
		"a skipped step":     {analyzed(rounds("a", 1, 1, froze(3, 8), skipped)), ""},
		"a failed round": {analyzed(rounds("a", 1, 1, froze(3, 8), failed)),
			"The first responses of a at 8 connections took 8.00 s."},
		"five others": {analyzed(rounds("a", 1, 1, usual), rounds("b", 1, 1, usual), rounds("c", 1, 1, usual), rounds("d", 1, 1, usual),
			rounds("e", 1, 1, usual), rounds("f", 1, 1, froze(3, 8))),
			"The first responses of f at 8 connections took 8.00 s (a: 30.0 ms, b: 30.0 ms, c: 30.0 ms, 2 more)."},
		"four others": {analyzed(rounds("a", 1, 1, usual), rounds("b", 1, 1, usual), rounds("c", 1, 1, usual), rounds("d", 1, 1, usual),
			rounds("e", 1, 1, froze(3, 8))),
			"The first responses of e at 8 connections took 8.00 s (a: 30.0 ms, b: 30.0 ms, c: 30.0 ms, d: 30.0 ms)."},
	} {
		testenv.Equal(t, said(c.run), c.want, name)
	}
}

// A freeze changes no p value, tier or sample of another measure.
func TestFreezes_OtherMeasures(t *testing.T) {
	without := analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, .9, interleaved))
	with := analyzed(rounds("a", 8, 1, froze(3, .03), interleaved), rounds("b", 8, .9, froze(3, 8), interleaved))
	for _, m := range measure.Tested() {
		got, _ := with.family().otherMeasures(m.ID, 0, 1)
		want, _ := without.family().otherMeasures(m.ID, 0, 1)
		testenv.Equal(t, got, want, string(m.ID))
	}
	old, fresh, at := Samples(measure.Get(measure.First), with.Contenders[0], with.Contenders[0], with.Contenders[1])
	testenv.Check(t, len(old) == 8 && len(fresh) == 8 && old[0] == 3e7 && fresh[7] == 8e9 && at == "8 connections", "%v, %v at %s", old, fresh, at)
	old, fresh, at = Samples(measure.Get(measure.First), with.Contenders[1], with.Contenders[1], with.Contenders[0])
	testenv.Check(t, old[0] == 8e9 && fresh[0] == 3e7 && at == "8 connections", "%v, %v at %s", old, fresh, at)
}
