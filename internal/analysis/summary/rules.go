package summary

import (
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/verdict"
)

type rule struct {
	name string
	kind Kind
	say  func(Facts) []Sentence
}

// rules returns the table in the order of the sentences. Each line has a condition and a sentence.
// Only "winner" and "leading group" name a leader.
func rules() []rule {
	return []rule{
		// The leader, or why there is none.
		{"excluded", Failure, ofEach(func(c Contender) bool { return c.Excluded != nil }, sayExcluded)},
		{"memory growth", Caveat, ofEach(func(c Contender) bool { return c.Growth != "" }, sayMemoryGrowth)},
		{"nothing measured", Open, ofRun(nothingMeasured, sayNothingMeasured)},
		{"one contender", Open, ofRun(one, sayOneContender)},
		{"unequal conditions", Open, ofRun(func(f Facts) bool { return several(f) && f.Unequal },
			sayUnequalConditions)},
		{"different limits", Open, sayLimits},
		{"different requests", Open, ofRun(differentRequests, sayDifferentRequests)},
		{"too few to compare", Open, ofStandings(tooFew, sayTooFew)},
		{"winner", Ranking, ofStandings(oneLeader, sayWinner)},
		{"leading group", Ranking, ofStandings(severalLeaders, sayGroup)},
		{"too few rounds for the pairs", Open, ofStandings(tooFewRounds, sayTooFewRounds)},
		{"the same", Open, ofStandings(allSame, saySame)},
		{"no difference", Open, ofStandings(noDifference, sayNoDifference)},
		{"what settles it", Open, ofRun(func(f Facts) bool { return f.Settle != "" && !f.Unequal },
			func(f Facts) string { return f.Settle })},
		{"left out", Open, ofStandings(someLeftOut, sayLeftOut)},

		// Bottlenecks.
		{"bound at peak", Bound, sayBounds},
		{"bound, of many", Bound, ofRun(manyBound, sayManyBound)},

		// Caveats.
		{"shared ceiling", Caveat, ofRun(sharedCeiling, saySharedCeiling)},
		{"still rising", Caveat, ofList(
			"The true peak may be higher: too few connections for ", stillRising)},
		{"limits not enforced", Caveat, ofEach(func(c Contender) bool { return c.Unlimited > 0 }, sayLimitsNotEnforced)},
		{"round warnings", Caveat, ofEach(func(c Contender) bool { return len(roundWarnings(c)) > 0 }, sayRoundWarnings)},
		{"manual changes", Caveat, ofEach(func(c Contender) bool { return c.ChangedByHand > 0 }, sayManualChanges)},
		{"not interleaved", Caveat, ofRun(func(f Facts) bool { return f.Apart != "" }, sayPlain)},
		{"busy machine", Caveat, ofRun(func(f Facts) bool { return f.Busy != "" }, sayBusyMachine)},
		{"warnings of the run", Caveat, sayRunWarnings},
		{"step warnings", Caveat, sayStepsWithWarnings},

		// Failures.
		{"incomplete", Failure, ofRun(func(f Facts) bool { return f.Unfinished > 0 }, sayIncomplete)},
		{"failed rounds", Failure, ofEach(failedOtherwise, sayFailedRounds)},
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

// ofList returns a rule with one sentence about several contenders.
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

// nothingMeasured does not hold if unexpected bodies are why there is no peak: "excluded" says
// that.
func nothingMeasured(f Facts) bool {
	return peaks(f) == 0 && !slices.ContainsFunc(f.Contenders, func(c Contender) bool {
		return c.Excluded != nil && c.Excluded.Unexpected != nil
	})
}

func one(f Facts) bool {
	return len(f.Contenders) == 1 && peaks(f) == 1 && f.Contenders[0].Excluded == nil
}

// failedOtherwise reports whether rounds failed, unless "excluded" says why.
func failedOtherwise(c Contender) bool {
	return len(c.Failed) > 0 && (c.Excluded == nil || c.Excluded.Cause == nil)
}

func several(f Facts) bool { return len(f.Contenders) > 1 && peaks(f) > 0 }

func differentRequests(f Facts) bool {
	return several(f) && len(requests(f)) > 1 && !fewMembers(f)
}

// Comparable reports whether the contenders may be compared in the measure of s.
func (f Facts) Comparable(s analysis.Standing) bool {
	return several(f) && !f.Unequal && len(f.Ratios) == 0 && (fromStartToStop(s) || !differentRequests(f))
}

// fewMembers reports whether fewer than two contenders can be compared in throughput.
func fewMembers(f Facts) bool {
	i := slices.IndexFunc(f.Standings, func(s analysis.Standing) bool { return s.Measure == measure.Throughput })
	return i < 0 || len(f.Standings[i].Members) < 2
}

func tooFew(f Facts, s analysis.Standing) bool {
	return several(f) && !f.Unequal && s.Measure == measure.Throughput && len(s.Members) < 2
}

func oneLeader(f Facts, s analysis.Standing) bool {
	leaders, behind := s.Leaders()
	return f.Comparable(s) && len(leaders) == 1 && len(behind) > 0
}

func severalLeaders(f Facts, s analysis.Standing) bool {
	leaders, behind := s.Leaders()
	return f.Comparable(s) && len(leaders) > 1 && len(behind) > 0
}

func noLeader(f Facts, s analysis.Standing) bool {
	_, behind := s.Leaders()
	return f.Comparable(s) && len(s.Members) > 1 && len(behind) == 0
}

func tooFewRounds(f Facts, s analysis.Standing) bool {
	return noLeader(f, s) && !s.Alike() && s.RoundsNeeded > 0
}

func allSame(f Facts, s analysis.Standing) bool { return noLeader(f, s) && s.Alike() }

func noDifference(f Facts, s analysis.Standing) bool {
	return noLeader(f, s) && !s.Alike() && s.RoundsNeeded == 0
}

func someLeftOut(f Facts, s analysis.Standing) bool {
	return f.Comparable(s) && s.Measure == measure.Throughput && len(s.Members) > 1 && len(leftOut(s)) > 0
}

// few is the number of contenders up to which each gets its own sentence.
const few = 4

func manyBound(f Facts) bool { return len(f.Contenders) > few && len(boundBy(f)) > 0 }

func sharedCeiling(f Facts) bool {
	return several(f) && len(sharedBy(f, verdict.Store))+len(sharedBy(f, verdict.Machine)) > 0
}
