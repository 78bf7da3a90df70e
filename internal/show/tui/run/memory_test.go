package run

import (
	"testing"

	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

// TestMemory: a line and a row for the last trial of each contender.
func TestMemory(t *testing.T) {
	alone(newMemory, live(t)).Frames(t, "live-memory")
	alone(newMemory, stateOf(nil)).Play(t, normal, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "The memory of no contender was read yet.")
	})
}
