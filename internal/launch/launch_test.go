package launch

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locbench/internal/bench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func runID(t testing.TB) string {
	return fmt.Sprintf("test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
}

func waitLog(t *testing.T, inst bench.Instance, text string) string {
	t.Helper()
	for range 1000 {
		for _, l := range inst.Logs() {
			if strings.Contains(l.Text, text) {
				return l.Text
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no %q in the log: %v", text, inst.Logs())
	return ""
}

func ended(t *testing.T, inst bench.Instance) bench.Exit {
	t.Helper()
	select {
	case <-inst.Exited():
		return *inst.Exit()
	case <-time.After(20 * time.Second):
		t.Fatal("does not end")
		panic("unreachable")
	}
}

// stopAtEnd stops the instance when the test ends.
func stopAtEnd(t *testing.T, inst bench.Instance) {
	t.Cleanup(func() {
		if _, err := inst.Stop(context.Background(), 0); err != nil {
			t.Error(err)
		}
		if _, err := inst.Usage(context.Background()); err == nil {
			t.Error("counters can be read after Stop")
		}
	})
}

// measure reads the counters at the two ends of some seconds.
func measure(t *testing.T, inst bench.Instance, d time.Duration) (before, after bench.Usage) {
	t.Helper()
	before, err := inst.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	if after, err = inst.Usage(t.Context()); err != nil {
		t.Fatal(err)
	}
	return before, after
}

// checkHalfCPU checks that a spinner under a quota of half a CPU has had that, within 5 %. It is
// the quota that is measured here, not the speed of the machine: the kernel never grants more, and
// as much where half a CPU is to be had (favour sees to that). A busy machine that has less, such
// as an emulated one, can only lower the figure: it gets more attempts.
func checkHalfCPU(t *testing.T, inst bench.Instance) {
	t.Helper()
	favour(t, inst.Info().PID)
	time.Sleep(500 * time.Millisecond)
	cpus := 0.
	for attempt := 0; attempt < 5 && cpus < 0.475; attempt++ {
		before, after := measure(t, inst, 3200*time.Millisecond)
		if before.Throttling == nil || after.Throttling == nil {
			t.Fatalf("no throttling in %+v", after)
		}
		cpus = float64(after.CPU-before.CPU) / float64(after.At.Sub(before.At))
		periods, throttled := after.Throttling.Periods-before.Throttling.Periods, after.Throttling.Throttled-before.Throttling.Throttled
		t.Logf("%s: %.4f CPUs, %d of %d periods throttled", after.Source, cpus, throttled, periods)
		if throttled < 10 || throttled > periods {
			t.Errorf("%d of %d periods throttled", throttled, periods)
		}
	}
	if cpus < 0.475 || cpus > 0.525 {
		t.Errorf("%.3f CPUs used, want 0.5 ± 5 %%", cpus)
	}
}

// favour gives the groups of a process the greatest weight while the test runs, so that others who
// want the CPUs at the same time do not keep the spinner from using up its quota. The quota stays
// what it is.
func favour(t *testing.T, pid int) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		root, file, most := "", "", ""
		switch {
		case len(f) == 3 && slices.Contains(strings.Split(f[1], ","), "cpu"):
			root, file, most = "/sys/fs/cgroup/"+f[1], "cpu.shares", "262144"
		case len(f) == 3 && f[1] == "":
			root, file, most = "/sys/fs/cgroup", "cpu.weight", "10000"
		default:
			continue
		}
		for dir := f[2]; dir != "/"; dir = filepath.Dir(dir) {
			path := filepath.Join(root, dir, file)
			old, err := os.ReadFile(path)
			if err != nil || os.WriteFile(path, []byte(most), 0) != nil {
				continue
			}
			t.Cleanup(func() { os.WriteFile(path, bytes.TrimSpace(old), 0) })
		}
	}
}

func get(t *testing.T, inst bench.Instance) {
	t.Helper()
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(inst.BaseURL() + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 404 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestCPUList(t *testing.T) {
	for _, tt := range []struct {
		n       int
		allowed []int
		want    string
	}{
		{0, []int{0, 1}, ""}, {1, []int{0, 1}, "0"}, {4, []int{0, 1}, "0-1"}, {4, []int{0, 1, 2, 3, 4, 5}, "0-3"},
		{3, []int{7, 1, 5, 4}, "1,4-5"}, {4, []int{9, 1, 5, 3}, "1,3,5,9"}, {2, nil, ""}, {-1, []int{0}, ""},
	} {
		if got := cpuList(tt.n, tt.allowed); got != tt.want {
			t.Errorf("cpuList(%d, %v) = %q, want %q", tt.n, tt.allowed, got, tt.want)
		}
	}
}

func TestPeakKeepsTheLargestSample(t *testing.T) {
	var p peak
	for _, step := range []struct{ in, want int64 }{{5, 5}, {3, 5}, {9, 9}, {1, 9}} {
		u := bench.Usage{Memory: &bench.Memory{Peak: step.in, PeakIsSample: true}}
		if p.keep(&u); u.Memory.Peak != step.want {
			t.Errorf("after %d: %d, want %d", step.in, u.Memory.Peak, step.want)
		}
	}
	real := bench.Usage{Memory: &bench.Memory{Peak: 1}}
	if p.keep(&real); real.Memory.Peak != 1 {
		t.Error("a true peak was changed")
	}
}

func TestTarget(t *testing.T) {
	for _, url := range []string{"", "localhost:8080", "ftp://x", "http://", "http://%"} {
		if _, err := (Target{URL: url}).Launch(t.Context(), bench.LaunchSpec{}); err == nil {
			t.Errorf("%q accepted", url)
		}
	}
	inst, err := Target{URL: "http://127.0.0.1:8080/base/"}.Launch(t.Context(), bench.LaunchSpec{})
	if err != nil || inst.BaseURL() != "http://127.0.0.1:8080/base" || inst.Info().Address != "127.0.0.1:8080" || inst.Info().LimitsEnforced {
		t.Fatalf("%+v, %v", inst, err)
	}
	if _, err := inst.Usage(t.Context()); err == nil {
		t.Error("counters of somebody else's service")
	}
	if _, err := inst.Stop(t.Context(), 0); err != nil || inst.Exit() != nil {
		t.Error(err)
	}
}

func TestFreePort(t *testing.T) {
	port, err := FreePort()
	if err != nil || port <= 0 || port > 65535 {
		t.Fatal(port, err)
	}
}
