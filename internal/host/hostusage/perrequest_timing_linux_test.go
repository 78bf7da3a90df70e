//go:build acceptance && timing

package hostusage_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/testenv"
)

// spent requests from the contender the CPU time that the kernel has counted for its process, and
// how many requests it has worked on.
func spent(t testing.TB, inst bench.Instance) (cpu time.Duration, requests int64) {
	t.Helper()
	resp, err := http.Get(inst.BaseURL() + "/spent")
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 100))
	if err == nil {
		_, err = fmt.Sscan(string(text), (*int64)(&cpu), &requests)
	}
	testenv.Check(t, err == nil, "%q: %v", text, err)
	return cpu, requests
}

// TestCPUPerRequestOfAStep loads a server that uses a known CPU time for each request, under a
// quota, with one connection and with a queue. The expected value is the time that the kernel
// counted for its process, divided by the requests that the process has worked on, both read by the
// process at the two ends.
func TestCPUPerRequestOfAStep(t *testing.T) {
	o := newObedient(t)
	for _, each := range []int{200, 2000} { // µs
		for _, connections := range []int{1, 64, 400} {
			t.Run(fmt.Sprintf("%d µs/%d connections", each, connections), func(t *testing.T) {
				inst := o.start(t, bench.Limits{CPUs: 0.5, Memory: 128 << 20})
				// Both sides read at the two ends, one after the other. In between, a busy machine
				// may let time pass: 20 ms are 1.3% of what the quota gives.
				testenv.Judge(t, 5, 20*time.Millisecond, func(t testing.TB) error {
					return cpuPerRequest(t, inst, each, connections)
				})
			})
		}
	}
}

// cpuPerRequest makes one attempt. Whatever the machine does, every request sent must be worked on.
func cpuPerRequest(t testing.TB, inst bench.Instance, each, connections int) error {
	var before, after *bench.Usage
	var beforeErr, afterErr error
	var cpuFrom, cpuTo time.Duration
	var from, to int64
	_, first := spent(t, inst)
	l, err := load.Engine{}.Run(t.Context(), load.Plan{
		BaseURL:  inst.BaseURL(),
		Step:     bench.Step{Name: "cpu", Connections: connections, Duration: 3 * time.Second},
		Requests: []bench.Request{{Name: "cpu", Path: fmt.Sprintf("/cpu?n=%d", each), ExpectStatus: 200}},
		OnStart: func() {
			before, beforeErr = hostusage.BeginInstance(t.Context(), inst)
			cpuFrom, from = spent(t, inst)
		},
		OnEnd: func() {
			after, afterErr = hostusage.ReadInstance(t.Context(), inst)
			cpuTo, to = spent(t, inst)
		},
	}, nil)
	_, last := spent(t, inst)
	if err := errors.Join(err, beforeErr, afterErr); err != nil {
		return err
	}
	testenv.Check(t, l.AllSucceeded() == last-first && l.FailedTotal() == 0,
		"%d succeeded, the contender worked for %d; failed %v", l.AllSucceeded(), last-first, l.Failed)
	got, ok := bench.StepResult{Load: l, Before: before, After: after}.CPUPerRequest()
	if !ok || to <= from {
		return fmt.Errorf("CPU time known: %v; %d requests between the ends", ok, to-from)
	}
	truth := (cpuTo - cpuFrom) / time.Duration(to-from)
	ratio := float64(got) / float64(truth)
	t.Logf("%.0f/s, CPU per request %s, by the process %s: %.4f", l.Throughput(), got, truth, ratio)
	if ratio < .98 || ratio > 1.02 {
		return fmt.Errorf("CPU per request %s, by the kernel's account of the process %s: ratio %.3f", got, truth, ratio)
	}
	return nil
}
