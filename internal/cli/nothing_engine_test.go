//go:build acceptance && engine

package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// A target that does not respond is reported while locbench waits, and the reason of the failure is
// printed once.
func TestNothingRanWithoutItsTarget(t *testing.T) {
	t.Parallel()
	out, stderr := runsNothing(t, console.ExitContender, "run", "--headless", "--target", refusing)
	if early, end := strings.Count(stderr, "not ready at "+refusing+" yet: connection refused"), strings.Count(stderr, "connection refused"); out != "" || early != 1 || end != 2 {
		t.Errorf("standard output %q; waiting is reported %d times, the reason %d times:\n%s", out, early, end-early, stderr)
	}
	out, _ = runsNothing(t, console.ExitContender, "run", "--json", "--target", refusing)
	var order []string // package app tests the time of the report, with virtual time
	for line := range strings.Lines(out) {
		var rec bench.Record
		testenv.OK(t, json.Unmarshal([]byte(line), &rec))
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
