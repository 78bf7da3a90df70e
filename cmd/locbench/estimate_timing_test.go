//go:build acceptance && timing && linux

package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/testenv"
)

// TestEstimateLast: the estimate before the start of an interleaved comparison is within 25% of its
// time, with the checks that `profiles new` leaves on.
func TestEstimateLast(t *testing.T) {
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			if runtime == "docker" {
				testenv.Docker(t)
			}
			file := profileFile(t, "contenders: [go-nethttp, {go-nethttp: {env: {GOGC: '50'}, as: b}}]\nruntime: "+runtime+"\n"+
				requestsOfCities+"checks: {suites: []}\nstep_duration: 2s\nsteps: [4 warm-up, 4, 16]\n")
			testenv.Judge(t, 3, 50*time.Millisecond, func(t testing.TB) error {
				dir := t.TempDir()
				if code, _, stderr := locbench(t, dir, "run", "-p", file, "--headless", "-o", "out"); code != 0 {
					return fmt.Errorf("exit code %d\n%s", code, stderr)
				}
				run, trials := read(t, filepath.Join(dir, "out"))
				from, to := trials[0].Started, trials[0].Ended
				for _, trial := range trials {
					if trial.Started.Before(from) {
						from = trial.Started
					}
					if trial.Ended.After(to) {
						to = trial.Ended
					}
				}
				took, estimated := to.Sub(from), event.Total(run.Profile)
				if difference := (took - estimated).Abs(); difference > took/4 {
					return fmt.Errorf("estimated %v, took %v", estimated, took)
				}
				return nil
			})
		})
	}
}
