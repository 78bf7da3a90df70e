package measure

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

// The error rate of a step and of a contender is an estimate where unexpected bodies were found
// in a sample.
func TestErrorRateIsAnEstimate(t *testing.T) {
	for name, test := range map[string]struct {
		checked, wrong int64
		want           bool
	}{
		"a sample":      {114, 3, true},
		"all compared":  {1000, 3, false},
		"all right":     {114, 0, false},
		"none compared": {0, 0, false},
	} {
		r := bench.StepResult{Load: bench.Load{Succeeded: 1000 - test.wrong, Checked: test.checked,
			Failed: map[bench.ErrorKind]int64{bench.ErrWrong: test.wrong}}}
		c := stats.Summarize(bench.Run{}, []bench.TrialResult{{State: bench.TrialComplete, Steps: []bench.StepResult{r}}})[0]
		m := Get(ErrorRate)
		if got := m.Over(c.Steps[0]); got.Estimate != test.want {
			t.Errorf("%s: step %+v", name, got)
		}
		if got := m.Contender(c); got.Estimate != test.want {
			t.Errorf("%s: contender %+v", name, got)
		}
		if n, estimate := c.Compared(); n != test.checked || estimate != test.want {
			t.Errorf("%s: compared %d, %v", name, n, estimate)
		}
	}
}
