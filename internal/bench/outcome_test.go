package bench

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// A path of the profile is shown unchanged, and no folder above what it has in common with
// the profile.
func TestPathOfTheProfile(t *testing.T) {
	for _, c := range []struct{ profile, path, want string }{
		{"/home/u/svc/bench.yaml", "/home/u/svc/mut/bug4/bookings", "mut/bug4/bookings"},
		{"/home/u/svc/bench.yaml", "/home/u/base/bookings", "../base/bookings"},
		{"/home/u/svc/bench.yaml", "/home/v/bookings", "../../v/bookings"},
		{"/home/u/svc/bench.yaml", "/tmp/secret/bookings", "bookings"},
		{"", "/home/u/svc/bookings", "bookings"},
		{"quick", "/home/u/svc/bookings", "bookings"},
		{"/bench.yaml", "/", "/"},
		{"/home/u/svc/bench.yaml", "bookings", "bookings"},
		{"/home/u/svc/bench.yaml", "", ""},
	} {
		got := (Run{ProfileFile: c.profile}).Path(c.path)
		testenv.Check(t, got == c.want, "%s of %s: %q, want %q", c.path, c.profile, got, c.want)
	}
}

func TestOutcome(t *testing.T) {
	trials := func(states ...TrialState) (all []TrialEntry) {
		for i, s := range states {
			all = append(all, TrialEntry{Trial: Trial{Contender: []string{"b", "a"}[i%2], Round: i/2 + 1}, State: s})
		}
		return all
	}
	several := func(n int, entry TrialEntry) (all []TrialEntry) {
		for i := range n {
			entry.Trial = Trial{Contender: string(rune('a' + i)), Round: 1}
			all = append(all, entry)
		}
		return all
	}
	dead, mixes := TrialEntry{State: TrialFailed}, TrialEntry{State: TrialComplete, Excluded: &Exclusion{FailedChecks: 1, Checks: 2}}
	const check = " failed 1 of 2 checks"
	for _, c := range []struct {
		state  RunState
		trials []TrialEntry
		want   string
	}{
		{RunComplete, trials(TrialComplete, TrialComplete), "complete"},
		{RunComplete, trials(TrialComplete, TrialFailed), "complete; failed: a"},
		{RunFailed, trials(TrialComplete, TrialFailed), "complete; failed: a"},
		{RunComplete, trials(TrialFailed, TrialComplete, TrialComplete, TrialFailed), "complete; failed: a in 1 of 2 rounds, b in 1 of 2 rounds"},
		{RunFailed, trials(TrialFailed, TrialFailed), "failed: a, b"},
		{RunFailed, trials(TrialComplete, TrialAborted), "failed"}, // a threshold has ended it
		{RunFailed, trials(TrialComplete, TrialFailed, TrialPending, TrialPending), "failed: a in 1 of 2 rounds"},
		{RunInterrupted, trials(TrialFailed, TrialAborted), "interrupted; failed: b"},
		{RunRunning, trials(TrialComplete, TrialRunning), "running"},
		{RunFailed, nil, "failed"},
		{RunFailed, several(3, dead), "failed: a, b, c"}, {RunFailed, several(4, dead), "failed: 4 contenders"},
		{RunComplete, several(3, mixes), "complete; a" + check + "; b" + check + "; c" + check},
		{RunComplete, several(4, mixes), "complete; 4 contenders excluded"},
	} {
		got := (Run{State: c.state, Trials: c.trials}).OutcomeText()
		testenv.Check(t, got == c.want, "%q, want %q", got, c.want)
	}
}

// A contender that failed, and is excluded for that, is one that failed.
func TestOutcomeCounts(t *testing.T) {
	entry := func(name string, state TrialState, e *Exclusion) TrialEntry {
		return TrialEntry{Trial: Trial{Contender: name, Round: 1}, State: state, Excluded: e}
	}
	right := entry("right", TrialComplete, nil)
	killed := entry("killed", TrialFailed, &Exclusion{Cause: &Cause{Kind: CauseKilled}})
	mixes := entry("mixes", TrialComplete, &Exclusion{Unexpected: &Unexpected{Count: 1, Compared: 50}})
	for want, trials := range map[string][]TrialEntry{
		"": {right}, "1 failed": {right, killed}, "1 excluded": {right, mixes}, "1 failed, 1 excluded": {killed, mixes},
	} {
		got := (Run{State: RunComplete, Trials: trials}).OutcomeCounts()
		testenv.Check(t, got == want, "%q, want %q", got, want)
	}
}
