package summary

import (
	"locbench/internal/measure"
	"locbench/internal/verdict"
)

// rule writes sentences of one kind where its condition holds.
type rule struct {
	name string
	kind Kind
	say  func(Figures) []Sentence
}

// rules are the table, in the order in which the sentences are reported. Each line has a condition
// and a sentence; only "winner" and "leading group" may say that somebody is ahead.
func rules() []rule {
	return []rule{
		// Who is ahead, or why nobody can be said to be.
		{"nothing measured", Open, ofRun(nothingMeasured, sayNothingMeasured)},
		{"one contender", Open, ofRun(oneContender, sayOneContender)},
		{"unequal conditions", Open, ofRun(unequalConditions, sayUnequalConditions)},
		{"different requests", Open, ofRun(differentRequests, sayDifferentRequests)},
		{"too few to compare", Open, ofStandings(tooFew, sayTooFew)},
		{"winner", Claim, ofStandings(oneAhead, sayWinner)},
		{"leading group", Claim, ofStandings(groupAhead, sayGroup)},
		{"too few rounds for so many", Open, ofStandings(lacking, sayLacking)},
		{"the same", Open, ofStandings(allSame, saySame)},
		{"no difference", Open, ofStandings(noDifference, sayNoDifference)},
		{"left out", Open, ofStandings(someLeftOut, sayLeftOut)},

		// What bound whom.
		{"bound at the peak", Bound, ofEach(fewBound, sayBound)},
		{"bound, of many", Bound, ofRun(manyBound, sayManyBound)},

		// What to read with care.
		{"shared ceiling", Doubt, ofRun(sharedCeiling, saySharedCeiling)},
		{"still rising", Doubt, ofRun(stillRising, sayStillRising)},
		{"limits not enforced", Doubt, ofEach(limitsNotEnforced, sayLimitsNotEnforced)},
		{"rounds apart", Doubt, ofEach(roundsApart, sayRoundsApart)},
		{"steered", Doubt, ofEach(steered, saySteered)},
		{"busy machine", Doubt, ofRun(busyMachine, sayBusyMachine)},
		{"warnings of the run", Doubt, sayRunWarnings},
		{"steps in doubt", Doubt, sayStepsInDoubt},

		// What failed.
		{"not whole", Failure, ofRun(notWhole, sayNotWhole)},
		{"failed rounds", Failure, ofEach(failedRounds, sayFailedRounds)},
		{"errors", Failure, ofRun(anyErrors, sayErrors)},
		{"missed thresholds", Failure, ofRun(anyMissed, sayMissed)},
		{"failed checks", Failure, ofRun(anyFailedChecks, sayFailedChecks)},
	}
}

// ofRun is a rule about the whole run.
func ofRun(holds func(Figures) bool, say func(Figures) string) func(Figures) []Sentence {
	return func(f Figures) []Sentence {
		if !holds(f) {
			return nil
		}
		return []Sentence{{Text: say(f)}}
	}
}

// ofEach is a rule about each contender.
func ofEach(holds func(Figures, Contender) bool, say func(Contender) string) func(Figures) []Sentence {
	return func(f Figures) (said []Sentence) {
		for _, c := range f.Contenders {
			if holds(f, c) {
				said = append(said, Sentence{Text: say(c)})
			}
		}
		return said
	}
}

// ofStandings is a rule about each measure.
func ofStandings(holds func(Figures, Standing) bool, say func(Figures, Standing) Sentence) func(Figures) []Sentence {
	return func(f Figures) (said []Sentence) {
		for _, s := range f.Standings {
			if holds(f, s) {
				sentence := say(f, s)
				sentence.Measure = s.Measure
				said = append(said, sentence)
			}
		}
		return said
	}
}

// The conditions.

func peaks(f Figures) (n int) {
	for _, c := range f.Contenders {
		if c.HasPeak {
			n++
		}
	}
	return n
}

func nothingMeasured(f Figures) bool { return peaks(f) == 0 }

func oneContender(f Figures) bool { return len(f.Contenders) == 1 && peaks(f) == 1 }

func several(f Figures) bool { return len(f.Contenders) > 1 && peaks(f) > 0 }

func unequalConditions(f Figures) bool { return several(f) && f.Unequal }

func differentRequests(f Figures) bool {
	asked := map[string]bool{}
	for _, c := range f.Contenders {
		if c.HasPeak {
			asked[c.Peak.Step.Request] = true
		}
	}
	return several(f) && len(asked) > 1 && !fewMembers(f)
}

// Comparable tells whether the contenders of a run may be set against each other in the measure of
// s at all.
func (f Figures) Comparable(s Standing) bool {
	return several(f) && !f.Unequal && (s.ofLife() || !differentRequests(f))
}

// fewMembers tells whether there is nobody to be compared in throughput, whatever was asked.
func fewMembers(f Figures) bool {
	for _, s := range f.Standings {
		if s.Measure == measure.Throughput {
			return len(s.Members) < 2
		}
	}
	return true
}

func tooFew(f Figures, s Standing) bool {
	return several(f) && !f.Unequal && s.Measure == measure.Throughput && len(s.Members) < 2
}

func oneAhead(f Figures, s Standing) bool {
	leaders, over := s.ahead()
	return f.Comparable(s) && len(leaders) == 1 && len(over) > 0
}

func groupAhead(f Figures, s Standing) bool {
	leaders, over := s.ahead()
	return f.Comparable(s) && len(leaders) > 1 && len(over) > 0
}

func nobodyAhead(f Figures, s Standing) bool {
	_, over := s.ahead()
	return f.Comparable(s) && len(s.Members) > 1 && len(over) == 0
}

func lacking(f Figures, s Standing) bool { return nobodyAhead(f, s) && !s.Alike() && s.Lacking > 0 }

func allSame(f Figures, s Standing) bool { return nobodyAhead(f, s) && s.Alike() }

func noDifference(f Figures, s Standing) bool {
	return nobodyAhead(f, s) && !s.Alike() && s.Lacking == 0
}

func someLeftOut(f Figures, s Standing) bool {
	return f.Comparable(s) && s.Measure == measure.Throughput && len(s.Members) > 1 && len(s.out()) > 0
}

// few is how many contenders get a sentence each where many could share one.
const few = 4

func fewBound(f Figures, c Contender) bool {
	return len(f.Contenders) <= few && c.HasPeak && c.Bound.Bound != ""
}

func manyBound(f Figures) bool { return len(f.Contenders) > few && len(boundBy(f)) > 0 }

// outside bounds are those that say little of the contender.
func sharedBy(f Figures, b verdict.Bound) (names []string) {
	for _, c := range f.Contenders {
		if c.HasPeak && c.Bound.Bound == b {
			names = append(names, c.Label)
		}
	}
	return names
}

func sharedCeiling(f Figures) bool {
	return several(f) && len(sharedBy(f, verdict.Store))+len(sharedBy(f, verdict.Machine)) > 0
}

func stillRising(f Figures) bool { return len(sharedBy(f, verdict.Connections)) > 0 }

func limitsNotEnforced(_ Figures, c Contender) bool { return c.Unlimited > 0 }

func roundsApart(_ Figures, c Contender) bool { return len(apart(c)) > 0 }

func steered(_ Figures, c Contender) bool { return c.Steered > 0 }

func busyMachine(f Figures) bool { return f.Busy != "" }

func notWhole(f Figures) bool { return f.Unfinished > 0 }

func failedRounds(_ Figures, c Contender) bool { return len(c.Failed) > 0 }

func anyErrors(f Figures) bool {
	for _, c := range f.Contenders {
		if c.ErrorsTotal() > 0 {
			return true
		}
	}
	return false
}

func anyFailedChecks(f Figures) bool { return len(failedChecks(f)) > 0 }

func anyMissed(f Figures) bool { return len(missed(f)) > 0 }
