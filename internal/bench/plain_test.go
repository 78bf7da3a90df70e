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
	for name, test := range map[string]struct {
		interleave time.Duration
		trials     []TrialResult
		want       time.Duration // 0: not known
	}{
		"a mean":                  {0, []TrialResult{trial("a", 1, 0, 20, TrialComplete), trial("a", 2, 30, 70, TrialComplete)}, 30 * time.Second},
		"interleaved with itself": {1, []TrialResult{trial("a", 1, 0, 40, TrialComplete), trial("a", 2, 1, 40, TrialComplete)}, 20 * time.Second},
		"a clock that was set":    {0, []TrialResult{trial("a", 1, 40, 20, TrialComplete)}, 0},
		"a trial that is missing": {0, nil, 0},
	} {
		r := Run{Profile: Profile{Interleave: test.interleave, Contenders: make([]Selection, 1)}}
		for _, l := range test.trials {
			r.Trials = append(r.Trials, TrialEntry{Trial: l.Trial})
		}
		if got, ok := r.RoundTime(test.trials); got != test.want || ok != (test.want > 0) {
			t.Errorf("%s: %v %v, want %v", name, got, ok, test.want)
		}
	}
}

// TestNotInterleaved: a reason is named unless the user chose it or there is nothing to choose.
func TestNotInterleaved(t *testing.T) {
	for name, test := range map[string]struct {
		contenders int
		plain      *Plain
		want       string
	}{
		"interleaved":   {2, nil, ""},
		"by choice":     {2, &Plain{Reason: PlainChosen, Text: "x"}, ""},
		"one contender": {1, &Plain{Reason: PlainMemory, Text: "x"}, ""},
		"memory":        {2, &Plain{Reason: PlainMemory, Text: "little memory"}, "little memory"},
	} {
		if got := (Run{Plain: test.plain, Profile: Profile{Contenders: make([]Selection, test.contenders)}}).NotInterleaved(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
