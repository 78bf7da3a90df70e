package plain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestDetails(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	usage := func(n time.Duration) *bench.Usage { // n seconds into a step
		return &bench.Usage{
			At: at.Add(n * time.Second), Source: "cgroup v2", CPU: n * time.Second, CPUUser: new(n * 750 * time.Millisecond), CPUSystem: new(n * 250 * time.Millisecond),
			Throttling: &bench.Throttling{Periods: 10 * int64(n), Throttled: 6 * int64(n), Time: n * 400 * time.Millisecond},
			Memory:     &bench.Memory{Peak: 900 << 20, StepPeak: new(int64(40 << 20)), MinorFaults: new(1000 * int64(n)), MajorFaults: new(int64(n))},
			Processes:  new(1), Threads: new(12), Took: 60 * time.Microsecond,
			Pressure: &bench.Pressure{Source: "cgroup v2", CPU: &bench.Stall{Some: n * 120 * time.Millisecond}, IO: &bench.Stall{}},
			Switches: &bench.Switches{Source: "x", Voluntary: 2000 * int64(n), Involuntary: 30 * int64(n)},
			Network:  &bench.Network{Source: "x", Received: int64(n) << 20, Sent: int64(n) << 21},
			Disk:     &bench.Disk{Source: "io.stat", Written: int64(n) << 20, Writes: int64(n) * 31},
		}
	}
	host := func(n time.Duration) *bench.HostReading {
		return &bench.HostReading{
			Host:  &bench.HostUsage{At: at, Busy: n * 1500 * time.Millisecond, Idle: n * 400 * time.Millisecond, Steal: n * 100 * time.Millisecond, Pressure: &bench.Pressure{CPU: &bench.Stall{Some: n * time.Second}}},
			Needs: map[string]*bench.NeedUsage{"db": {At: at.Add(n * time.Second), Source: "cgroup v2", CPU: n * 300 * time.Millisecond}},
		}
	}
	var got []string
	for _, d := range Details(bench.StepResult{Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 1000}}, Before: usage(1), After: usage(11), HostBefore: host(1), HostAfter: host(11)}) {
		got = append(got, fmt.Sprintf("%-9s %s", d.Label, d.Text))
	}
	want := []string{
		"CPU       10.0 s, 75% user, 25% system, 4.00 s throttled in 60 of 100 periods",
		"waiting   for CPU 12%, for disk 0%",
		"memory    peak 40 MiB in this step, 10,000 minor and 10 major page faults",
		"threads   12 threads in 1 process, 20,000 voluntary and 300 involuntary context switches",
		"network   10 MiB in, 20 MiB out",
		"disk      1 MiB/s written in 31.0 operations/s",
		"other     20.3 context switches per request",
		"machine   75% busy, 5.0% steal, waited for CPU 100%",
		"need      db: 3.00 ms CPU time per request, 0.30 CPUs in use",
		"source    cgroup v2, reading took 60.0 µs",
	}
	testenv.Check(t, slices.Equal(got, want), "got\n%q\nwant\n%q", got, want)
	// Unknown results are left out, and so are counters that went back.
	testenv.Equal(t, len(Details(bench.StepResult{})), 0, "without readings")
	testenv.Equal(t, len(Details(bench.StepResult{Before: usage(11), After: usage(1)})), 3, "backwards")
}
