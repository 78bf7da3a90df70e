//go:build acceptance && engine

package hostusage_test

import (
	"context"
	"errors"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/testenv"
)

// TestHostReadings checks the counters of /proc and the group that a known piece of work must
// change.
func TestHostReadings(t *testing.T) {
	o := newObedient(t)
	inst := o.start(t, bench.Limits{CPUs: 1, Memory: 128 << 20})
	before, err1 := hostusage.BeginInstance(t.Context(), inst)
	ask(t, inst, "yield", 5000)
	ask(t, inst, "touch", 40)
	ask(t, inst, "send", 5<<20)
	after, err2 := hostusage.ReadInstance(t.Context(), inst)
	testenv.OK(t, errors.Join(err1, err2))
	step := bench.StepResult{Before: before, After: after}
	v, i, ok := step.Switches()
	testenv.Check(t, ok && v >= 5000 && v <= 100_000 && i >= 0, "context switches %d and %d, %v", v, i, ok)
	if minor, major, ok := step.Faults(); !ok || minor < 40<<20/4096 || minor > 2*40<<20/4096 || major > 100 {
		t.Errorf("page faults %d and %d, %v", minor, major, ok)
	}
	if in, out, ok := step.Network(); !ok || out < 5<<20 || out > 6<<20 || in < 100 || in > 1<<20 {
		t.Errorf("network: %d in, %d out, %v", in, out, ok)
	}
	if after.Took <= 0 || after.Processes == nil || *after.Processes != 1 || after.Threads == nil || *after.Threads < 3 {
		t.Errorf("%+v", after)
	}
	t.Logf("a reading took %v", after.Took)
	// The engine's counters measure the same things.
	stats := testenv.Must(o.stats(t, inst))(t)
	if stats.Network == nil || stats.Network.Sent < 5<<20 || stats.Memory.MinorFaults == nil || *stats.Memory.MinorFaults < *after.Memory.MinorFaults {
		t.Errorf("docker stats: %+v %+v", stats.Network, stats.Memory)
	}
}

func (o *obedient) stats(t testing.TB, inst bench.Instance) (bench.Usage, error) {
	t.Helper()
	c, ok := inst.(interface {
		EngineUsage(context.Context) (bench.Usage, error)
	})
	testenv.Need(t, ok, "%T cannot reach its engine", inst)
	return c.EngineUsage(t.Context())
}
