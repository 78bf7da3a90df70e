package summary

import (
	"slices"

	"locbench/internal/analysis"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/verdict"
)

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
		{"excluded", Failure, ofEach(func(c Contender) bool { return c.Excluded != nil }, sayExcluded)},
		{"nothing measured", Open, ofRun(func(f Figures) bool { return peaks(f) == 0 }, sayNothingMeasured)},
		{"one contender", Open, ofRun(one, sayOneContender)},
		{"unequal conditions", Open, ofRun(func(f Figures) bool { return several(f) && f.Unequal },
			sayUnequalConditions)},
		{"different requests", Open, ofRun(differentRequests, sayDifferentRequests)},
		{"too few to compare", Open, ofStandings(tooFew, sayTooFew)},
		{"winner", Claim, ofStandings(oneAhead, sayWinner)},
		{"leading group", Claim, ofStandings(groupAhead, sayGroup)},
		{"too few rounds for so many", Open, ofStandings(lacking, sayLacking)},
		{"the same", Open, ofStandings(allSame, saySame)},
		{"no difference", Open, ofStandings(noDifference, sayNoDifference)},
		{"left out", Open, ofStandings(someLeftOut, sayLeftOut)},

		// What bound whom.
		{"bound at the peak", Bound, sayBounds},
		{"bound, of many", Bound, ofRun(manyBound, sayManyBound)},

		// What to read with care.
		{"shared ceiling", Doubt, ofRun(sharedCeiling, saySharedCeiling)},
		{"still rising", Doubt, ofList(
			"The true peak may be higher: too few connections for ", stillRising)},
		{"limits not enforced", Doubt, ofEach(func(c Contender) bool { return c.Unlimited > 0 }, sayLimitsNotEnforced)},
		{"rounds apart", Doubt, ofEach(func(c Contender) bool { return len(apart(c)) > 0 }, sayRoundsApart)},
		{"steered", Doubt, ofEach(func(c Contender) bool { return c.ChangedByHand > 0 }, sayManualChanges)},
		{"busy machine", Doubt, ofRun(func(f Figures) bool { return f.Busy != "" }, sayBusyMachine)},
		{"warnings of the run", Doubt, sayRunWarnings},
		{"steps in doubt", Doubt, sayStepsInDoubt},

		// What failed.
		{"not whole", Failure, ofRun(func(f Figures) bool { return f.Unfinished > 0 }, sayNotWhole)},
		{"failed rounds", Failure, ofEach(func(c Contender) bool { return len(c.Failed) > 0 }, sayFailedRounds)},
		{"errors", Failure, ofList("Errors (not in throughput or latency), share of all requests: ",
			errorList)},
		{"missed thresholds", Failure, ofList("Thresholds missed: ", missed)},
		{"failed checks", Failure, ofList("Failed: ", failedChecks)},
	}
}

func ofRun(holds func(Figures) bool, say func(Figures) string) func(Figures) []Sentence {
	return func(f Figures) []Sentence {
		if !holds(f) {
			return nil
		}
		return []Sentence{{Text: say(f)}}
	}
}

// ofList is a rule about contenders that have something in common.
func ofList(what string, which func(Figures) []string) func(Figures) []Sentence {
	return ofRun(func(f Figures) bool { return len(which(f)) > 0 },
		func(f Figures) string { return what + list(which(f)) + "." })
}

func ofEach(holds func(Contender) bool, say func(Contender) string) func(Figures) []Sentence {
	return func(f Figures) (said []Sentence) {
		for _, c := range f.Contenders {
			if holds(c) {
				said = append(said, Sentence{Text: say(c)})
			}
		}
		return said
	}
}

func ofStandings(holds func(Figures, analysis.Standing) bool,
	say func(Figures, analysis.Standing) Sentence) func(Figures) []Sentence {
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

func one(f Figures) bool {
	return len(f.Contenders) == 1 && peaks(f) == 1 && f.Contenders[0].Excluded == nil
}

func several(f Figures) bool { return len(f.Contenders) > 1 && peaks(f) > 0 }

func differentRequests(f Figures) bool {
	return several(f) && len(requests(f)) > 1 && !fewMembers(f)
}

// Comparable reports whether the contenders may be set against each other in the measure of s.
func (f Figures) Comparable(s analysis.Standing) bool {
	return several(f) && !f.Unequal && (ofLife(s) || !differentRequests(f))
}

// fewMembers reports whether there is nobody to be compared in throughput, whatever was asked.
func fewMembers(f Figures) bool {
	i := slices.IndexFunc(f.Standings, func(s analysis.Standing) bool { return s.Measure == measure.Throughput })
	return i < 0 || len(f.Standings[i].Members) < 2
}

func tooFew(f Figures, s analysis.Standing) bool {
	return several(f) && !f.Unequal && s.Measure == measure.Throughput && len(s.Members) < 2
}

func oneAhead(f Figures, s analysis.Standing) bool {
	leaders, over := s.Ahead()
	return f.Comparable(s) && len(leaders) == 1 && len(over) > 0
}

func groupAhead(f Figures, s analysis.Standing) bool {
	leaders, over := s.Ahead()
	return f.Comparable(s) && len(leaders) > 1 && len(over) > 0
}

func nobodyAhead(f Figures, s analysis.Standing) bool {
	_, over := s.Ahead()
	return f.Comparable(s) && len(s.Members) > 1 && len(over) == 0
}

func lacking(f Figures, s analysis.Standing) bool {
	return nobodyAhead(f, s) && !s.Alike() && s.Lacking > 0
}

func allSame(f Figures, s analysis.Standing) bool { return nobodyAhead(f, s) && s.Alike() }

func noDifference(f Figures, s analysis.Standing) bool {
	return nobodyAhead(f, s) && !s.Alike() && s.Lacking == 0
}

func someLeftOut(f Figures, s analysis.Standing) bool {
	return f.Comparable(s) && s.Measure == measure.Throughput && len(s.Members) > 1 && len(leftOut(s)) > 0
}

// few is how many contenders get a sentence each where many could share one.
const few = 4

func manyBound(f Figures) bool { return len(f.Contenders) > few && len(boundBy(f)) > 0 }

func sharedCeiling(f Figures) bool {
	return several(f) && len(sharedBy(f, verdict.Store))+len(sharedBy(f, verdict.Machine)) > 0
}
