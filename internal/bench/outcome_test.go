package bench

import "testing"

func TestOutcome(t *testing.T) {
	legs := func(states ...LegState) (all []LegEntry) {
		for i, s := range states {
			all = append(all, LegEntry{Leg: Leg{Contender: []string{"b", "a"}[i%2], Round: i/2 + 1}, State: s})
		}
		return all
	}
	for _, c := range []struct {
		state RunState
		legs  []LegEntry
		want  string
	}{
		{RunComplete, legs(LegComplete, LegComplete), "complete"},
		{RunComplete, legs(LegComplete, LegFailed), "complete; failed: a"},
		{RunFailed, legs(LegComplete, LegFailed), "complete; failed: a"}, // as earlier versions kept it
		{RunComplete, legs(LegFailed, LegComplete, LegComplete, LegFailed), "complete; failed: a in 1 of 2 rounds, b in 1 of 2 rounds"},
		{RunFailed, legs(LegFailed, LegFailed), "failed: a, b"},
		{RunFailed, legs(LegComplete, LegAborted), "failed"}, // a threshold has ended it
		{RunFailed, legs(LegComplete, LegFailed, LegPending, LegPending), "failed: a in 1 of 2 rounds"},
		{RunInterrupted, legs(LegFailed, LegAborted), "interrupted; failed: b"},
		{RunRunning, legs(LegComplete, LegRunning), "running"},
		{RunFailed, nil, "failed"},
	} {
		if got := (Run{State: c.state, Legs: c.legs}).OutcomeText(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
