package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/safe"
)

// SilenceReason is why nothing succeeded in the measured steps of a contender.
type SilenceReason int

// The reasons.
const (
	Unsent   SilenceReason = iota // no request was sent
	Late                          // requests ended only before or after the measured intervals
	AllError                      // every request that ended failed
	Rejected                      // every request that ended was rejected, or failed
)

// Silence is why nothing succeeded in any measured step of a contender.
type Silence struct {
	Reason  SilenceReason
	Step    bench.Step    // the measured step with the most rounds
	Steps   int           // number of measured steps
	Longest time.Duration // of Late: the longest wait for a response that is on record; 0: not known
	Least   time.Duration // of Late: the length of a step that holds some responses of each connection; 0: not known

	load bench.Load // counts of all rounds of the measured steps
}

// Silence returns why nothing succeeded in any measured step of any round; ok is false if something
// did, or if no step was measured.
func (c Contender) Silence() (s Silence, ok bool) {
	nothing, ok := c.NothingStep()
	if !ok {
		return s, false
	}
	s.Step = nothing.Step
	all := &s.load
	all.Failed = map[bench.ErrorKind]int64{}
	for _, step := range c.Steps {
		if step.Step.WarmUp || step.Rounds == 0 {
			continue
		}
		s.Steps++
		for _, r := range step.Results {
			l := r.Load
			all.Sent, all.Drain = all.Sent+l.Sent, all.Drain+l.AllSucceeded()
			all.Rejected.Add(l.Rejected)
			for kind, n := range l.Failed {
				all.Failed[kind] += n
			}
			s.Longest = max(s.Longest, longest(l), l.Elapsed)
		}
	}
	switch {
	case all.Sent == 0:
		s.Reason = Unsent
	case all.Drain == 0 && all.Rejected.Total() > 0:
		s.Reason = Rejected
	case all.Drain == 0 && all.FailedTotal() > 0:
		s.Reason = AllError
	default:
		s.Reason = Late
	}
	if s.Reason != Late {
		s.Longest = 0
	} else if s.Longest > 0 {
		s.Least = roundUp(responsesWanted * s.Longest)
	}
	return s, true
}

// Silences says which contenders that are not excluded had no success, and why, a sentence for each
// reason; of has their indices. name returns the name of a contender.
func Silences(all []Contender, name func(i int) string) (said string, of []int) {
	type group struct {
		names []string
		why   Silence
	}
	var groups []*group
	for i, c := range all {
		why, ok := c.Silence()
		if !ok || c.WhyExcluded() != "" {
			continue
		}
		of = append(of, i)
		k := slices.IndexFunc(groups, func(g *group) bool { return g.why.Reason == why.Reason })
		if k < 0 {
			k, groups = len(groups), append(groups, &group{why: why})
		}
		if g := groups[k]; why.Least > g.why.Least { // the step that all of them need
			g.why = why
		}
		groups[k].names = append(groups[k].names, name(i))
	}
	var sentences []string
	for _, g := range groups {
		sentences = append(sentences, List(g.names)+": "+g.why.String()+".")
	}
	return strings.Join(sentences, " "), of
}

// responsesWanted is how many responses of each connection a step should hold. One may begin before
// the interval and the next end after it, so one is too few.
const responsesWanted = 3

// longest returns the longest response of a step that is on record: the first ones of its
// connections, which the lead-in waits for, those within the interval, and the timeouts.
func longest(l bench.Load) time.Duration {
	first := l.FirstResponse
	if first == 0 { // an open loop
		first = l.LeadIn
	}
	return max(first, l.Latency.Max, l.Timeouts.Max)
}

// roundUp returns the next length that people write: 1, 2, 3, 5, 10, 15, 20 or 30 s, or whole
// minutes.
func roundUp(d time.Duration) time.Duration {
	for _, s := range []time.Duration{1, 2, 3, 5, 10, 15, 20, 30} {
		if d <= s*time.Second {
			return s * time.Second
		}
	}
	return (d + time.Minute - 1).Truncate(time.Minute)
}

// String returns the reason with what to do: "no request ended within the step: give steps of at
// least 5s".
func (s Silence) String() string {
	where := "the step"
	if s.Steps > 1 {
		where = "any step"
	}
	switch s.Reason {
	case Unsent:
		return "no request was sent in " + where
	case AllError:
		return "every request failed: " + s.Errors()
	case Rejected:
		if s.load.FailedTotal() > 0 {
			return "every request was rejected or failed: " + s.load.RejectedWords() + ", " + s.Errors()
		}
		return "every request was rejected (" + s.load.Rejected.Names() + ")"
	}
	text := "no request ended within " + where
	if s.load.FailedTotal() > 0 {
		text = "no request succeeded within " + where + " (" + s.Errors() + ")"
	}
	if s.Least == 0 {
		return text + ": give longer steps"
	}
	return text + ": give steps of at least " + units.Exact(s.Least)
}

// Errors returns the kinds of errors with their numbers, the most frequent first: "12 × timeout".
func (s Silence) Errors() string {
	var kinds []string
	for _, kind := range s.load.FailedKinds() {
		kinds = append(kinds, units.Count(s.load.Failed[kind])+" × "+safe.Line(kind.Words(), 60))
	}
	const named = 3
	if more := len(kinds) - named; more > 0 {
		kinds = append(kinds[:named], fmt.Sprintf("%d more kinds", more))
	}
	return strings.Join(kinds, ", ")
}

// unanswered returns why c has no value, or not one of each round, at the step at which m is
// compared with that of ref: nothing succeeded there. What responds in its good rounds only must not
// be better. "" if something succeeded in each round, and for measures that need no response.
func (c Contender) unanswered(m measure.Measure, ref Contender) string {
	if at := m.Comparison.At; at == measure.FromStartToStop || at == measure.AtPeak {
		return ""
	}
	if _, nothing := c.NothingStep(); nothing {
		return "no response"
	}
	switch step := c.StepOf(m, ref); step.Answered() {
	case step.Rounds:
		return ""
	case 0:
		return "no response at " + step.Step.Name
	default:
		return fmt.Sprintf("no response in %d of %d rounds at %s", step.Rounds-step.Answered(), step.Rounds, step.Step.Name)
	}
}

// Unanswered returns why each side has no value, or not one of each round, in a measure; see
// Silence.
func (c Couple) Unanswered(m measure.Measure) (why [2]string) {
	for i, side := range c.whole {
		why[i] = side.unanswered(m, c.Ref)
	}
	return why
}

// Silent reports of each side whether nothing succeeded in any round where a measure is compared: in
// any measured step for throughput, at its step for latency and CPU per request.
func (c Couple) Silent(m measure.Measure) (silent [2]bool) {
	if m.Comparison.At == measure.FromStartToStop {
		return silent
	}
	for i, side := range c.whole {
		if _, silent[i] = side.NothingStep(); silent[i] || m.Comparison.At == measure.AtPeak {
			continue
		}
		step := side.StepOf(m, c.Ref)
		silent[i] = step.Rounds > 0 && step.Answered() == 0
	}
	return silent
}
