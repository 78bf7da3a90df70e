//go:build acceptance && timing && linux

package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/testenv"
)

// timed runs a profile in a runtime, and judges what of says about the run.
func timed(
	t *testing.T, runtime string, attempts int, stall time.Duration, args []string,
	of func(bench.Run, []bench.TrialResult) error,
) {
	t.Run(runtime, func(t *testing.T) {
		if runtime == "docker" {
			testenv.Docker(t)
		}
		testenv.Judge(t, attempts, stall, func(t testing.TB) error {
			dir := t.TempDir()
			if code, _, stderr := locbench(t, dir, append([]string{"run", "--headless", "-o", "out"},
				args...)...); code != 0 {
				return fmt.Errorf("exit code %d\n%s", code, stderr)
			}
			return of(read(t, filepath.Join(dir, "out")))
		})
	})
}

// TestTry: with built images, "try" of two contenders takes at most 5 s longer than
// their start-up.
func TestTry(t *testing.T) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm", "node:20-bookworm-slim")
	dir := ordersFolder(t)
	for _, runtime := range []string{"docker", "process"} {
		t.Run(runtime, func(t *testing.T) {
			try := func() (time.Duration, string) {
				began := time.Now()
				c := startIn(t, dir, []string{"PASSWORD=" + ordersPassword}, "try", "bench.yaml", "--services", "svc", "--runtime", runtime)
				c.succeeds(10 * time.Minute)
				return time.Since(began), c.stdout.String()
			}
			try() // builds
			testenv.Judge(t, 6, 50*time.Millisecond, func(t testing.TB) error {
				took, text := try()
				ready := regexp.MustCompile(`ready after ([0-9.]+) (µs|ms|s)\n`).FindAllStringSubmatch(text, -1)
				testenv.Need(t, len(ready) == 2, "%d contenders were ready:\n%s", len(ready), text)
				beyond := took
				for _, m := range ready {
					startUp, err := time.ParseDuration(m[1] + m[2])
					testenv.OK(t, err)
					beyond -= startUp
				}
				t.Logf("%v, %v of it beyond the start-ups", took, beyond)
				if beyond > 5*time.Second {
					return fmt.Errorf("it took %v, of which %v beyond the start-ups", took, beyond)
				}
				return nil
			})
		})
	}
}

// TestEstimateLast: the estimate before the start of an interleaved comparison is within 25% of its
// time, with the checks that `profiles new` leaves on.
func TestEstimateLast(t *testing.T) {
	for _, runtime := range []string{"process", "docker"} {
		file := profileFile(t, "contenders: [go-nethttp, {go-nethttp: {env: {GOGC: '50'}, as: b}}]\nruntime: "+runtime+"\n"+
			requestsOfCities+"checks: {suites: []}\nstep_duration: 2s\nsteps: [4 warm-up, 4, 16]\n")
		timed(t, runtime, 3, 50*time.Millisecond, []string{"-p", file}, func(run bench.Run,
			trials []bench.TrialResult) error {
			from, to := trials[0].Started, trials[0].Ended
			for _, trial := range trials {
				from = slices.MinFunc([]time.Time{from, trial.Started}, time.Time.Compare)
				to = slices.MaxFunc([]time.Time{to, trial.Ended}, time.Time.Compare)
			}
			took, estimated := to.Sub(from), event.Total(run.Profile)
			if difference := (took - estimated).Abs(); difference > took/4 {
				return fmt.Errorf("estimated %v, took %v", estimated, took)
			}
			return nil
		})
	}
}
