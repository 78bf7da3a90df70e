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
	say  func(Facts) []Sentence
}

// rules returns the table, in the order in which the sentences are reported. Each line has a condition
// and a sentence; only "winner" and "leading group" may say that somebody is ahead.
func rules() []rule {
	return []rule{
		// Who is ahead, or why nobody can be said to be.
		{"excluded", Failure, ofEach(func(c Contender) bool { return c.Excluded != nil }, sayExcluded)},
		{"nothing measured", Open, ofRun(func(f Facts) bool { return peaks(f) == 0 }, sayNothingMeasured)},
		{"one contender", Open, ofRun(one, sayOneContender)},
		{"unequal conditions", Open, ofRun(func(f Facts) bool { return several(f) && f.Unequal },
			sayUnequalConditions)},
		{"different requests", Open, ofRun(differentRequests, sayDifferentRequests)},
		{"too few to compare", Open, ofStandings(tooFew, sayTooFew)},
		{"winner", Ranking, ofStandings(oneAhead, sayWinner)},
		{"leading group", Ranking, ofStandings(groupAhead, sayGroup)},
		{"too few rounds for so many", Open, ofStandings(lacking, sayLacking)},
		{"the same", Open, ofStandings(allSame, saySame)},
		{"no difference", Open, ofStandings(noDifference, sayNoDifference)},
		{"left out", Open, ofStandings(someLeftOut, sayLeftOut)},

		// What bound whom.
		{"bound at peak", Bound, sayBounds},
		{"bound, of many", Bound, ofRun(manyBound, sayManyBound)},

		// What to read with care.
		{"shared ceiling", Caveat, ofRun(sharedCeiling, saySharedCeiling)},
		{"still rising", Caveat, ofList(
			"The true peak may be higher: too few connections for ", stillRising)},
		{"limits not enforced", Caveat, ofEach(func(c Contender) bool { return c.Unlimited > 0 }, sayLimitsNotEnforced)},
		{"rounds apart", Caveat, ofEach(func(c Contender) bool { return len(apart(c)) > 0 }, sayRoundsApart)},
		{"steered", Caveat, ofEach(func(c Contender) bool { return c.ChangedByHand > 0 }, sayManualChanges)},
		{"busy machine", Caveat, ofRun(func(f Facts) bool { return f.Busy != "" }, sayBusyMachine)},
		{"warnings of the run", Caveat, sayRunWarnings},
		{"steps in doubt", Caveat, sayStepsWithWarnings},

		// What failed.
		{"not whole", Failure, ofRun(func(f Facts) bool { return f.Unfinished > 0 }, sayNotWhole)},
		{"failed rounds", Failure, ofEach(func(c Contender) bool { return len(c.Failed) > 0 }, sayFailedRounds)},
		{"errors", Failure, ofList("Errors (not in throughput or latency), share of all requests: ",
			errorList)},
		{"missed thresholds", Failure, ofList("Thresholds missed: ", missed)},
		{"failed checks", Failure, ofList("Failed: ", failedChecks)},
	}
}

func ofRun(holds func(Facts) bool, say func(Facts) string) func(Facts) []Sentence {
	return func(f Facts) []Sentence {
		if !holds(f) {
			return nil
		}
		return []Sentence{{Text: say(f)}}
	}
}

// ofList returns a rule about contenders that have something in common.
func ofList(what string, which func(Facts) []string) func(Facts) []Sentence {
	return ofRun(func(f Facts) bool { return len(which(f)) > 0 },
		func(f Facts) string { return what + list(which(f)) + "." })
}

func ofEach(holds func(Contender) bool, say func(Contender) string) func(Facts) []Sentence {
	return func(f Facts) (said []Sentence) {
		for _, c := range f.Contenders {
			if holds(c) {
				said = append(said, Sentence{Text: say(c)})
			}
		}
		return said
	}
}

func ofStandings(holds func(Facts, analysis.Standing) bool,
	say func(Facts, analysis.Standing) Sentence) func(Facts) []Sentence {
	return func(f Facts) (said []Sentence) {
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

func peaks(f Facts) (n int) {
	for _, c := range f.Contenders {
		if c.HasPeak {
			n++
		}
	}
	return n
}

func one(f Facts) bool {
	return len(f.Contenders) == 1 && peaks(f) == 1 && f.Contenders[0].Excluded == nil
}

func several(f Facts) bool { return len(f.Contenders) > 1 && peaks(f) > 0 }

func differentRequests(f Facts) bool {
	return several(f) && len(requests(f)) > 1 && !fewMembers(f)
}

// Comparable reports whether the contenders may be set against each other in the measure of s.
func (f Facts) Comparable(s analysis.Standing) bool {
	return several(f) && !f.Unequal && (fromStartToStop(s) || !differentRequests(f))
}

// fewMembers reports whether there is nobody to be compared in throughput, whatever was asked.
func fewMembers(f Facts) bool {
	i := slices.IndexFunc(f.Standings, func(s analysis.Standing) bool { return s.Measure == measure.Throughput })
	return i < 0 || len(f.Standings[i].Members) < 2
}

func tooFew(f Facts, s analysis.Standing) bool {
	return several(f) && !f.Unequal && s.Measure == measure.Throughput && len(s.Members) < 2
}

func oneAhead(f Facts, s analysis.Standing) bool {
	leaders, over := s.Ahead()
	return f.Comparable(s) && len(leaders) == 1 && len(over) > 0
}

func groupAhead(f Facts, s analysis.Standing) bool {
	leaders, over := s.Ahead()
	return f.Comparable(s) && len(leaders) > 1 && len(over) > 0
}

func nobodyAhead(f Facts, s analysis.Standing) bool {
	_, over := s.Ahead()
	return f.Comparable(s) && len(s.Members) > 1 && len(over) == 0
}

func lacking(f Facts, s analysis.Standing) bool {
	return nobodyAhead(f, s) && !s.Alike() && s.RoundsNeeded > 0
}

func allSame(f Facts, s analysis.Standing) bool { return nobodyAhead(f, s) && s.Alike() }

func noDifference(f Facts, s analysis.Standing) bool {
	return nobodyAhead(f, s) && !s.Alike() && s.RoundsNeeded == 0
}

func someLeftOut(f Facts, s analysis.Standing) bool {
	return f.Comparable(s) && s.Measure == measure.Throughput && len(s.Members) > 1 && len(leftOut(s)) > 0
}

// few is how many contenders get a sentence each where many could share one.
const few = 4

func manyBound(f Facts) bool { return len(f.Contenders) > few && len(boundBy(f)) > 0 }

func sharedCeiling(f Facts) bool {
	return several(f) && len(sharedBy(f, verdict.Store))+len(sharedBy(f, verdict.Machine)) > 0
}
