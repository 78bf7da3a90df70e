package runner

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// The readings before a measured interval are those of its lead-in, after the last one of the step
// before.
func TestReadingsOfTheLeadIn(t *testing.T) {
	at := func(s int) bench.Usage { return bench.Usage{At: benchtest.Start().Add(time.Duration(s) * time.Second)} }
	samples := []bench.Usage{at(1), at(2), at(3)}
	from := at(2)
	testenv.Equal(t, before(samples, &from), samples[:1])
	testenv.Equal(t, before(samples, nil), samples)
	last := at(0)
	for name, c := range map[string]struct {
		steps []bench.StepResult
		want  []bench.Usage
	}{
		"the first step":          {},
		"a step without readings": {steps: []bench.StepResult{{After: &from}, {}}},
		"a later step":            {steps: []bench.StepResult{{}, {After: &last}}, want: []bench.Usage{last}},
	} {
		testenv.Equal(t, (&trialRun{steps: c.steps}).lastReading(), c.want, name)
	}
}
