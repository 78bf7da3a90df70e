package sample_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/docker"
	"locbench/internal/docker/dockertest"
	"locbench/internal/launch"
	"locbench/internal/ready"
	"locbench/internal/sample"
)

// obedient starts containers of the helper that does what it is asked for, on a local engine.
type obedient struct {
	engine *docker.Engine
	docker *launch.Docker
	image  string
}

func newObedient(t testing.TB) *obedient {
	t.Helper()
	e := dockertest.Engine(t)
	if !e.SameHost() {
		t.Skip("the engine is not on this machine: its cgroup files cannot be read by hand")
	}
	o := &obedient{engine: e, image: dockertest.Image(t, e)}
	var err error
	if o.docker, err = launch.NewDocker(t.Context(), e, "sample-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(time.Now().UnixNano(), 36), false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.docker.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return o
}

func (o *obedient) start(t testing.TB, limits bench.Limits) bench.Instance {
	t.Helper()
	inst, err := o.docker.Launch(t.Context(), bench.LaunchSpec{
		RunID: "sample", Name: "leg", Artifact: bench.Artifact{Image: o.image, Command: []string{"obey", "8080"}}, Port: 8080, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := inst.Stop(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	if _, err := ready.Wait(t.Context(), inst, "/", 30*time.Second, nil); err != nil {
		t.Fatal(err)
	}
	return inst
}

func ask(t testing.TB, inst bench.Instance, what string, n int) {
	t.Helper()
	resp, err := http.Get(inst.BaseURL() + "/" + what + "?n=" + strconv.Itoa(n))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %d: %s %.200s, %v", what, n, resp.Status, text, err)
	}
}

// byHand finds a counter of a container without locbench's own way to it.
func byHand(t testing.TB, inst bench.Instance) func() time.Duration {
	t.Helper()
	for _, pattern := range []string{"/sys/fs/cgroup/cpuacct*/%s", "/sys/fs/cgroup/cpu,cpuacct/%s", "/sys/fs/cgroup/%s"} {
		for _, path := range []string{"docker/" + inst.Info().ID, "system.slice/docker-" + inst.Info().ID + ".scope"} {
			dirs, _ := filepath.Glob(fmt.Sprintf(pattern, path))
			if len(dirs) == 0 {
				continue
			}
			if _, err := os.Stat(filepath.Join(dirs[0], "cpuacct.usage")); err == nil {
				return func() time.Duration { return handNumber(t, filepath.Join(dirs[0], "cpuacct.usage"), "") }
			}
			return func() time.Duration {
				return 1000 * handNumber(t, filepath.Join(dirs[0], "cpu.stat"), "usage_usec ")
			}
		}
	}
	t.Fatal("no counter of CPU time found by hand")
	return nil
}

func handNumber(t testing.TB, file, key string) time.Duration {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return time.Duration(n)
		}
	}
	t.Fatalf("no %q in %s", key, file)
	return 0
}

// TestCPUTimeAgainstTheGroupsOwnCounter reads the counter by hand right before and right after each
// of the two readings of a step. Counters only grow: each reading lies between its neighbours,
// whatever else the machine does. How near the neighbours are is the machine's affair, so a step
// whose neighbours lie more than 1 % apart says nothing and is done again.
func TestCPUTimeAgainstTheGroupsOwnCounter(t *testing.T) {
	o := newObedient(t)
	for _, tt := range []struct {
		name   string
		cpus   float64
		during func(t *testing.T, inst bench.Instance)
	}{
		{"1.5 CPUs, two spinners", 1.5, func(t *testing.T, inst bench.Instance) { ask(t, inst, "spin", 2); time.Sleep(3 * time.Second) }},
		{"0.5 CPUs", 0.5, func(t *testing.T, inst bench.Instance) { ask(t, inst, "spin", 1); time.Sleep(3 * time.Second) }},
		{"a fixed number of loops", 1, func(t *testing.T, inst bench.Instance) { ask(t, inst, "burn", 10_000_000) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cpus := min(tt.cpus, float64(runtime.NumCPU()))
			inst := o.start(t, bench.Limits{CPUs: cpus, Memory: 64 << 20})
			hand := byHand(t, inst)
			for try := range 10 {
				ask(t, inst, "spin", 0)
				b1 := hand()
				before, err1 := sample.Begin(t.Context(), inst)
				b2 := hand()
				tt.during(t, inst)
				a1 := hand()
				after, err2 := sample.Read(t.Context(), inst)
				a2 := hand()
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				if before.CPU < b1 || before.CPU > b2 || after.CPU < a1 || after.CPU > a2 {
					t.Fatalf("%v outside %v to %v, or %v outside %v to %v", before.CPU, b1, b2, after.CPU, a1, a2)
				}
				step := bench.StepResult{Before: before, After: after}
				cpu, ok := step.CPU()
				least, most := a1-b2, a2-b1
				if !ok || cpu <= 0 {
					t.Fatalf("CPU time %v, %v", cpu, ok)
				}
				if float64(most-least) > .01*float64(most) {
					t.Logf("try %d: %v to %v by hand: the machine is too busy to tell", try, least, most)
					continue
				}
				t.Logf("%v, by hand %v to %v; %v by the clock", cpu, least, most, after.At.Sub(before.At))
				if quota := time.Duration(cpus * float64(after.At.Sub(before.At)+200*time.Millisecond)); cpu > quota {
					t.Errorf("%v of CPU time under a quota of %v", cpu, quota)
				}
				user, system, ok := step.CPUSplit()
				if !ok || user <= system {
					t.Errorf("a spinner: user %v, system %v, %v", user, system, ok)
				}
				if p := step.Pressure(); before.Pressure != nil && (p == nil || p.CPU == nil) {
					t.Errorf("pressure %+v", p)
				}
				return
			}
			t.Error("in ten tries no step whose ends could be read by hand")
		})
	}
}

// TestHighWaterMarkOfAStep is about a program that touches memory and gives it back at once: no
// sample sees it, the kernel's mark does.
func TestHighWaterMarkOfAStep(t *testing.T) {
	o := newObedient(t)
	inst := o.start(t, bench.Limits{CPUs: 1, Memory: 256 << 20})
	step := func(mebibytes int) (bench.StepResult, int64) {
		before, err1 := sample.Begin(t.Context(), inst)
		if mebibytes > 0 {
			ask(t, inst, "touch", mebibytes)
		}
		after, err2 := sample.Read(t.Context(), inst)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		res := bench.StepResult{Before: before, After: after}
		peak, ok := res.StepPeak()
		if !ok {
			t.Skipf("this kernel keeps no mark that can begin anew (%s)", after.Source)
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
		if res.After.Memory.Peak < highest {
			t.Errorf("the mark since start fell from %d to %d", highest, res.After.Memory.Peak)
		}
		highest = max(highest, res.After.Memory.Peak)
	}
	if highest < 100<<20 || highest > 130<<20 {
		t.Errorf("since start %d bytes, though 100 MiB were touched in the first step", highest)
	}
}

// TestWhatIsBeside looks at the figures of /proc and the group that a known piece of work must
// show.
func TestWhatIsBeside(t *testing.T) {
	o := newObedient(t)
	inst := o.start(t, bench.Limits{CPUs: 1, Memory: 128 << 20})
	before, err1 := sample.Begin(t.Context(), inst)
	ask(t, inst, "yield", 5000)
	ask(t, inst, "touch", 40)
	ask(t, inst, "send", 5<<20)
	after, err2 := sample.Read(t.Context(), inst)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	step := bench.StepResult{Before: before, After: after}
	if v, i, ok := step.Switches(); !ok || v < 5000 || v > 100_000 || i < 0 {
		t.Errorf("context switches %d and %d, %v", v, i, ok)
	}
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
	// The engine's own figures are of the same things.
	stats, err := o.stats(t, inst)
	if err != nil {
		t.Fatal(err)
	}
	if stats.Network == nil || stats.Network.Sent < 5<<20 || stats.Memory.MinorFaults == nil || *stats.Memory.MinorFaults < *after.Memory.MinorFaults {
		t.Errorf("docker stats: %+v %+v", stats.Network, stats.Memory)
	}
}

func (o *obedient) stats(t testing.TB, inst bench.Instance) (bench.Usage, error) {
	t.Helper()
	c, ok := inst.(interface {
		EngineUsage(context.Context) (bench.Usage, error)
	})
	if !ok {
		t.Fatalf("%T cannot ask its engine", inst)
	}
	return c.EngineUsage(t.Context())
}
