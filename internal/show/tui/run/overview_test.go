package run

import (
	"testing"

	"github.com/locbench/locbench/internal/show/tui/tuitest"
)

func TestOverview(t *testing.T) {
	state := stateOf(inAStep(t))
	alone(newOverview, state).Frames(t, "live-overview")
	alone(newOverview, state, "down", "enter", "left", "left").Frames(t, "live-chart")
	alone(newOverview, stateOf(tuitest.Records(t, "limits")[:12])).Frames(t, "live-waiting")
}
