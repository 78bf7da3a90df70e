package bench

import (
	"time"
)

// InterleaveAuto is the value of Profile.Interleave that leaves the choice to the plan of a run. A
// run's record has the choice: the length of a slice, or 0 and the reason in Run.Plain.
const InterleaveAuto time.Duration = -1

// PlainReason is a kind of reason why the contenders of a run are not interleaved.
type PlainReason string

// The reasons.
const (
	PlainChosen        PlainReason = "chosen"         // the profile or the command says so
	PlainAlone         PlainReason = "one contender"  // there is nothing to interleave with
	PlainNeeds         PlainReason = "needs"          // contenders would share one, with an effect on each other
	PlainSteps         PlainReason = "steps"          // a step cannot be interleaved
	PlainFirstRequests PlainReason = "first requests" // they are timed while nothing else runs
	PlainRounds        PlainReason = "rounds"         // fewer than a verdict on pairs takes
	PlainMemory        PlainReason = "memory"         // the contenders may need more than there is
	PlainContenders    PlainReason = "contenders"     // more than may start without a memory limit
)

// Plain says why the contenders of a run are not interleaved.
type Plain struct {
	Reason PlainReason `json:"reason"`
	Text   string      `json:"text"` // the reason as part of a sentence, with its values
}

// NotInterleaved returns why the contenders of a run are not interleaved, as part of a sentence; ""
// if they are, if there is one, or if the user chose so.
func (r Run) NotInterleaved() string {
	if r.Plain == nil || len(r.Profile.Contenders) < 2 || r.Plain.Reason == PlainChosen {
		return ""
	}
	return r.Plain.Text
}

// RoundTime returns the mean time of the rounds that all their trials completed, checks and stops
// included; ok is false if there is none. Interleaved trials of a round count once.
func (r Run) RoundTime(trials []TrialResult) (mean time.Duration, ok bool) {
	of := map[Trial]TrialResult{}
	for _, t := range trials {
		of[t.Trial] = t
	}
	var sum time.Duration
	took, broken := map[int]time.Duration{}, map[int]bool{}
	for _, group := range r.Groups() {
		var from, to time.Time
		for _, i := range group {
			t := of[r.Trials[i].Trial]
			round := r.Trials[i].Trial.Round
			took[round] += 0
			broken[round] = broken[round] || t.State != TrialComplete || t.Ended.Before(t.Started)
			if from.IsZero() || t.Started.Before(from) {
				from = t.Started
			}
			if t.Ended.After(to) {
				to = t.Ended
			}
		}
		rounds := map[int]bool{} // two if a contender is interleaved with itself
		for _, i := range group {
			rounds[r.Trials[i].Trial.Round] = true
		}
		for round := range rounds {
			took[round] += to.Sub(from) / time.Duration(len(rounds))
		}
	}
	n := 0
	for round, d := range took {
		if !broken[round] {
			sum, n = sum+d, n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / time.Duration(n), true
}
