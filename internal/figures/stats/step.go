package stats

import (
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// Step is one step of a contender over all rounds that completed it.
type Step struct {
	Index          int
	Step           bench.Step
	Rounds         int                 // rounds that completed it; all values except Outcomes and Requests are of these
	Aborted        int                 // rounds in which it ended early
	Excluded       bool                // too many errors or unexpected bodies: it is never the peak, and not compared
	Drifting       int                 // of Rounds: with a bench.Drift
	Warming        int                 // of Drifting: rounds in which the contender became faster
	bench.Outcomes                     // in all rounds, aborted ones included, with lead-ins and drains
	Requests       []bench.RequestLoad // the same by kind of request; without latencies
	Throughput     Value               // successes per second
	Latency        bench.Latencies     // of the successes of all rounds; see Histogram
	Results        []bench.StepResult  // of the rounds that completed it; package measure takes all other values from them
}

// Answered returns in how many rounds a request succeeded within the measured interval.
func (s Step) Answered() (rounds int) {
	for _, v := range s.Throughput.Values {
		if v > 0 {
			rounds++
		}
	}
	return rounds
}

// ErrorRate returns bench.Load.ErrorRate of all rounds together; 0 without any request.
func (s Step) ErrorRate() float64 { return s.all().ErrorRate() }

// StatusWords returns "200: 1,449, 429: 5,798; rejected 80% of requests (429)"; "" if all responses
// had the same status and none was rejected.
func (s Step) StatusWords() string {
	text, rejected := s.Statuses.String(), s.RejectedWords()
	switch {
	case rejected != "":
		return text + "; " + rejected
	case len(s.Statuses) > 1:
		return text
	}
	return ""
}

// all returns the counts of all rounds.
func (s Step) all() bench.Load {
	return bench.Load{Outcomes: s.Outcomes, Requests: s.Requests}
}

// newStep summarizes one step. An error is about the latency only.
func newStep(rounds []bench.StepResult, merge bool) (Step, error) {
	s := Step{Index: rounds[0].Index, Step: rounds[0].Step}
	var throughput []float64
	for _, r := range rounds {
		if r.Ending == bench.EndedByNeed { // its errors are not the contender's
			s.Aborted++
			continue
		}
		s.Outcomes.Add(r.Load.Whole())
		s.Requests = bench.SumRequests(s.Requests, r.Load.Requests)
		if r.Aborted != "" {
			s.Aborted++
			continue
		}
		s.Rounds++
		if r.Drift.Own() {
			s.Drifting++
			if r.Drift.Warming() {
				s.Warming++
			}
		}
		throughput = append(throughput, r.Load.Throughput())
		s.Results = append(s.Results, r)
	}
	s.Throughput = NewValue(throughput)
	switch {
	case len(s.Results) == 1:
		s.Latency = s.Results[0].Load.Latency
	case merge:
		h, err := s.Histogram()
		s.Latency = h.Quantiles()
		return s, err
	}
	return s, nil
}

// Histogram returns the merged latencies of all rounds, which are not cached; nil without any.
func (s Step) Histogram() (*hdr.Histogram, error) {
	rounds := make([]bench.Latencies, len(s.Results))
	for i, r := range s.Results {
		rounds[i] = r.Load.Latency
	}
	return hdr.Merge(rounds...)
}

// excluded reports whether the step has too many errors or, in any round, unexpected bodies.
func (s Step) excluded(rounds []bench.StepResult, p bench.Profile) bool {
	for _, r := range rounds {
		if _, over := r.Load.TooManyUnexpected(p.MaxUnexpected); over {
			return true
		}
	}
	worst, _ := s.all().WorstErrors()
	return worst > p.ErrorsAllowed()
}

// Steady returns which of its Results were in a steady state, and whether it can be compared: enough were
// for a verdict, or all but one in eight.
func (s Step) Steady() (of []bool, enough bool) {
	least := MinInterval
	for _, r := range s.Results {
		of = append(of, !r.Drift.Own())
		if r.Interleave != nil && len(r.Interleave.With) > 0 {
			least = MinPaired
		}
	}
	return of, s.Drifting == 0 || s.Rounds-s.Drifting >= least || 8*s.Drifting <= s.Rounds
}

// KeepSteady returns which rounds are compared; nil: all, as these are less than a verdict takes.
func KeepSteady(steady []bool, least int) []bool {
	left := 0
	for _, is := range steady {
		if is {
			left++
		}
	}
	if left < least || left == len(steady) {
		return nil
	}
	return steady
}

// Unexpected reports whether the step is excluded for unexpected bodies: what limited these says nothing.
func (s Step) Unexpected() bool { return s.Excluded && s.Failed[bench.ErrWrong] > 0 }

// DriftWords returns "still warming up in 2 of 6 rounds"; "" if all were in a steady state.
func (s Step) DriftWords() string {
	if s.Drifting == 0 {
		return ""
	}
	name := bench.Unstable
	if s.Warming > 0 {
		name = bench.StillWarmingUp
	}
	if s.Rounds == 1 {
		return name
	}
	return fmt.Sprintf("%s in %d of %d rounds", name, s.Drifting, s.Rounds)
}
