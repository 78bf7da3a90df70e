package stats

import (
	"fmt"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/figures/hdr"
)

// Step is one step of a contender over all rounds that completed it.
type Step struct {
	Index      int
	Step       bench.Step
	Rounds     int   // rounds that completed it; all values except Succeeded and Failed are of these
	Aborted    int   // rounds in which it ended early
	Excluded   bool  // error rate above max_errors: it is never the peak, and not compared
	Drifting   int   // of Rounds: with a bench.Drift
	Warming    int   // of Drifting: rounds in which the contender became faster
	Succeeded  int64 // in all rounds, aborted ones included, with lead-ins and drains
	Failed     map[bench.ErrorKind]int64
	Throughput Value              // successes per second
	Latency    bench.Latencies    // of the successes of all rounds; see Histogram
	Results    []bench.StepResult // of the rounds that completed it; package measure takes all other values from them
}

// FailedTotal returns the number of errors in all rounds.
func (s Step) FailedTotal() int64 { return bench.Load{Failed: s.Failed}.FailedTotal() }

// ErrorRate returns errors / (errors + successes) of all rounds together; 0 without any request.
func (s Step) ErrorRate() float64 {
	return bench.Load{Failed: s.Failed, Succeeded: s.Succeeded}.ErrorRate()
}

// newStep summarises one step. An error is about the latency only.
func newStep(rounds []bench.StepResult, merge bool) (Step, error) {
	s := Step{Index: rounds[0].Index, Step: rounds[0].Step, Failed: map[bench.ErrorKind]int64{}}
	var throughput []float64
	for _, r := range rounds {
		s.Succeeded += r.Load.AllSucceeded()
		for kind, n := range r.Load.Failed {
			s.Failed[kind] += n
		}
		if r.Aborted != "" {
			s.Aborted++
			continue
		}
		s.Rounds++
		if r.Drift != nil {
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

// worstErrors returns the rate of bench.Load.WorstErrors over all rounds.
func (s Step) worstErrors(rounds []bench.StepResult) float64 {
	all := bench.Load{Succeeded: s.Succeeded, Failed: s.Failed}
	for _, r := range rounds {
		for _, kind := range r.Load.Requests {
			i := slices.IndexFunc(all.Requests, func(k bench.RequestLoad) bool { return k.Name == kind.Name })
			if i < 0 {
				i = len(all.Requests)
				all.Requests = append(all.Requests, bench.RequestLoad{Name: kind.Name, Failed: map[bench.ErrorKind]int64{}})
			}
			all.Requests[i].Succeeded += kind.Succeeded
			for k, n := range kind.Failed {
				all.Requests[i].Failed[k] += n
			}
		}
	}
	ratio, _ := all.WorstErrors()
	return ratio
}

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
