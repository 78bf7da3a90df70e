//go:build acceptance && engine

package hostusage_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/testenv"
)

// TestHighWaterMarkOfAStep: a program touches memory and gives it back at once. No
// sample sees it, but the kernel's mark does.
func TestHighWaterMarkOfAStep(t *testing.T) {
	o := newObedient(t)
	inst := o.start(t, bench.Limits{CPUs: 1, Memory: 256 << 20})
	step := func(mebibytes int) (bench.StepResult, int64) {
		before, err1 := hostusage.BeginInstance(t.Context(), inst)
		if mebibytes > 0 {
			ask(t, inst, "touch", mebibytes)
		}
		after, err2 := hostusage.ReadInstance(t.Context(), inst)
		testenv.OK(t, errors.Join(err1, err2))
		res := bench.StepResult{Before: before, After: after}
		peak, ok := res.StepPeak()
		if !ok {
			t.Skipf("this kernel keeps no mark that can begin again (%s)", after.Source)
		}
		return res, peak - *before.Memory.StepPeak
	}
	const tolerance = 2 << 20
	highest := int64(0)
	for _, mebibytes := range []int{100, 40, 0, 60} {
		res, grown := step(mebibytes)
		t.Logf("%d MiB touched: the step's mark grew by %.2f MiB; used %.2f MiB after it, since start at most %.2f MiB",
			mebibytes, float64(grown)/(1<<20), float64(res.After.Memory.Used)/(1<<20), float64(res.After.Memory.Peak)/(1<<20))
		if want := int64(mebibytes) << 20; grown < want-tolerance || grown > want+tolerance {
			t.Errorf("%d MiB touched: the mark grew by %d bytes", mebibytes, grown)
		}
		if used := res.After.Memory.Used; used > 40<<20 {
			t.Errorf("%d MiB touched: %d bytes are in use after they were given back", mebibytes, used)
		}
		testenv.Check(t, res.After.Memory.Peak >= highest, "the mark since start fell from %d to %d", highest,
			res.After.Memory.Peak)
		highest = max(highest, res.After.Memory.Peak)
	}
	testenv.Check(t, highest >= 100<<20 && highest <= 130<<20,
		"since start %d bytes, though 100 MiB were touched in the first step", highest)
}

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

// TestThreadTime: the times of all threads are the CPU time of the container, those of a process that starts between
// frequent readings included.
func TestThreadTime(t *testing.T) {
	o := newObedient(t)
	inst := o.start(t, bench.Limits{CPUs: 1, Memory: 128 << 20})
	before := testenv.Must(hostusage.BeginInstance(t.Context(), inst))(t)
	samples := hostusage.Sample(t.Context(), inst, 100*time.Millisecond, nil)
	id := strings.TrimSpace(string(testenv.Must(exec.Command("docker", "ps", "-q", "--filter", "ancestor="+o.image).Output())(t)))
	testenv.OK(t, exec.Command("docker", "exec", "-d", id, "/helper", "spin", "1", "sleep").Run())
	time.Sleep(2 * time.Second)
	samples.Stop()
	step := bench.StepResult{Before: before, After: testenv.Must(hostusage.ReadInstance(t.Context(), inst))(t)}
	cpu, _ := step.CPU()
	of, _, ok := step.ThreadTime()
	if share := float64(of.Served) / float64(cpu); !ok || cpu < time.Second || share < .98 || share > 1.02 {
		t.Errorf("%v of %v are those of its threads", of, cpu)
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
