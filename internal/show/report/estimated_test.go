package report

import (
	"testing"

	"locbench/internal/analysis"
	"locbench/internal/bench"
)

// The error rate of a kind of request is that of its compared bodies, over all rounds.
func TestErrorRateOfARequestIsEstimated(t *testing.T) {
	step := bench.StepResult{Load: bench.Load{Requests: []bench.RequestLoad{
		{Name: "a", Succeeded: 4997, Checked: 57, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 3}},
		{Name: "b", Succeeded: 57, Checked: 60, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 3}},
	}}}
	var c contender
	c.of = analysis.Contender{Results: []bench.TrialResult{{Steps: []bench.StepResult{step}}, {Steps: []bench.StepResult{step}}}}
	want := map[string]string{"a": "~5.26%", "b": "5.00%"}
	for _, r := range requestLoads(c, 0) {
		if got := errorRate(bench.Load{Succeeded: r.Succeeded, Failed: r.Failed, Checked: r.Checked}); got != want[r.Name] {
			t.Errorf("%s: %q, want %q", r.Name, got, want[r.Name])
		}
	}
}
