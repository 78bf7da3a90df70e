package bench

import (
	"testing"
	"time"
)

// TestRoundTime: interleaved trials of a round count once, others add up, and an incomplete round
// does not count.
func TestRoundTime(t *testing.T) {
	at := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	trial := func(name string, round, from, to int, state TrialState) TrialResult {
		second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
		return TrialResult{Trial: Trial{Contender: name, Round: round}, State: state, Started: second(from), Ended: second(to)}
	}
	trials := []TrialResult{
		trial("a", 1, 0, 20, TrialComplete), trial("b", 1, 2, 22, TrialComplete),
		trial("a", 2, 30, 50, TrialComplete), trial("b", 2, 32, 90, TrialFailed),
	}
	for interleave, want := range map[time.Duration]time.Duration{0: 40 * time.Second, 1: 22 * time.Second} {
		r := Run{Profile: Profile{Interleave: interleave, Contenders: make([]Selection, 2)}}
		for _, l := range trials {
			r.Trials = append(r.Trials, TrialEntry{Trial: l.Trial, State: l.State})
		}
		if got, ok := r.RoundTime(trials); !ok || got != want {
			t.Errorf("interleaved every %v: %v %v, want %v", interleave, got, ok, want)
		}
	}
	r := Run{Trials: []TrialEntry{{Trial: trials[3].Trial}}}
	if got, ok := r.RoundTime(trials[3:]); ok {
		t.Errorf("%v from a failed round", got)
	}
}
