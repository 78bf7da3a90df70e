//go:build acceptance && engine

package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/text/console"
)

// A target that does not respond is reported while it is still asked, and why it failed is said
// once.
func TestNothingRanWithoutItsTarget(t *testing.T) {
	t.Parallel()
	out, talk := runsNothing(t, console.ExitContender, "run", "--headless", "--target", nobody)
	if early, end := strings.Count(talk, "not ready at "+nobody+" yet: connection refused"), strings.Count(talk, "connection refused"); out != "" || early != 1 || end != 2 {
		t.Errorf("standard output %q; it says %d times that it waits, and %d times why:\n%s", out, early, end-early, talk)
	}
	out, _ = runsNothing(t, console.ExitContender, "run", "--json", "--target", nobody)
	var order []string // how soon it is reported is tested where time is virtual, in package app
	for line := range strings.Lines(out) {
		var rec bench.Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		switch e := rec.Event.(type) {
		case bench.RunStarted:
			order = append(order, "begins")
		case bench.Notice:
			if strings.Contains(e.Text, "not ready at") {
				order = append(order, "not ready")
			}
		case bench.TrialEnded:
			order = append(order, "trial ends")
		}
	}
	if !slices.Equal(order, []string{"begins", "not ready", "trial ends"}) {
		t.Errorf("events in the order %q", order)
	}
}

func TestNothingRanOfASearch(t *testing.T) {
	t.Parallel()
	out, talk := runsNothing(t, console.ExitContender, "capacity", "--target", nobody, "--slo", "p99<1s")
	if out != "" || !strings.Contains(talk, "not ready at "+nobody+" yet: connection refused") {
		t.Errorf("it says:\n%s%s", out, talk)
	}
}
