package report

import (
	"bytes"
	"strings"
	"testing"

	"locbench/internal/analysis"
	"locbench/internal/bench"
)

// While a run goes on, that it has not ended is no trouble; what did go wrong is reported all the
// same.
func TestARunThatGoesOn(t *testing.T) {
	run, legs := small()
	run.State = bench.RunRunning
	last := &legs[len(legs)-1]
	last.State, last.Failure, last.Exit, last.LastLog = bench.LegRunning, "", nil, nil
	for i := range last.Steps {
		last.Steps[i].Aborted = ""
	}
	run.Legs[len(legs)-1].State = bench.LegRunning
	page := func(o Options) string {
		var b bytes.Buffer
		if err := HTML(&b, analysis.Of(run, legs), o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const open = "did not run to the end"
	if !strings.Contains(page(Options{}), open) {
		t.Error("a run that was killed is not reported")
	}
	live := page(Options{Live: true})
	if strings.Contains(live, open) {
		t.Error("a run that goes on is reported to be broken")
	}
	legs[0].State, legs[0].Failure = bench.LegFailed, "it was killed for want of memory"
	if live = page(Options{Live: true}); !strings.Contains(live, "it was killed for want of memory") {
		t.Error("what went wrong is not reported while the run goes on")
	}
}
