package stats

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

func TestStatusesOfRoundsAreAdded(t *testing.T) {
	round := func(ok, rejected, failed int64) bench.StepResult {
		l := bench.Load{Succeeded: ok, Elapsed: time.Second, Statuses: bench.Statuses{200: ok}}
		if rejected > 0 {
			l.Rejected = bench.Statuses{429: rejected}
			l.Statuses[429] = rejected
		}
		if failed > 0 {
			l.Failed = map[bench.ErrorKind]int64{"5xx": failed}
			l.Statuses[500] = failed
		}
		return bench.StepResult{Load: l}
	}
	for want, rounds := range map[string][]bench.StepResult{
		"": {round(10, 0, 0), round(10, 0, 0)},
		"200: 1,449, 429: 5,798; rejected 80% of requests (429)": {round(1000, 5000, 0), round(449, 798, 0)},
		"200: 20, 500: 1": {round(10, 0, 1), round(10, 0, 0)},
	} {
		s, err := newStep(rounds, false)
		if got := s.StatusWords(); got != want || err != nil {
			t.Errorf("%q, want %q", got, want)
		}
		if rounds[0].Load.Statuses[200] == s.Statuses[200] {
			t.Error("the statuses of the first round are those of the step")
		}
	}
	s, _ := newStep([]bench.StepResult{round(90, 900, 10)}, false)
	if got := s.ErrorRate(); got != .01 {
		t.Errorf("error rate %g, want 0.01", got)
	}
}
