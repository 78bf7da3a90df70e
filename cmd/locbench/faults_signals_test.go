//go:build linux

package main

import (
	"syscall"
	"testing"
	"time"

	"locbench/internal/bench"
)

// killPoints are moments of a run.
func killPoints() map[string]func(bench.Record) bool {
	return map[string]func(bench.Record) bool{
		"store": phaseStarted(bench.PhaseStore), "seed": phaseStarted(bench.PhaseSeed), "build": phaseStarted(bench.PhaseBuild),
		"check": phaseStarted(bench.PhaseCheck), "launch": phaseStarted(bench.PhaseLaunch), "ready": phaseStarted(bench.PhaseReady), "load": stepStarted(1), "stop": phaseStarted(bench.PhaseStop),
	}
}

// TestSignalInEachPhase ends locbench in every phase by every signal that people and machines send it. What was measured is kept, what was
// launched is gone (after a SIGKILL: when it is cleaned up), and --resume completes the run.
func TestSignalInEachPhase(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		for name, point := range killPoints() {
			for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
				t.Run(name+" "+signal.String(), func(t *testing.T) {
					t.Parallel()
					args := []string{"run", "--headless", "-p", small(t, "go-nethttp", runtime), "--duration", "300ms"}
					if name != "check" {
						args = append(args, "--no-checks") // they take their time
					}
					if name != "stop" {
						args = append(args, "--rounds", "1") // a stop is so short that the signal may come after it
					}
					d := disturb(t, nil, args...)
					d.waitEvent(d.out, point)
					d.signal(signal)
					if signal == syscall.SIGKILL {
						d.killed(name)
					} else {
						d.interrupted(name)
					}
					d.resumes()
				})
			}
		}
	})
}

// killed is what is left of a run after SIGKILL, and what "locbench clean" leaves of it.
func (d *disturbed) killed(phase string) {
	d.t.Helper()
	d.wait(10 * time.Second)
	run, legs := read(d.t, d.out)
	if run.State != bench.RunRunning {
		d.t.Errorf("a killed run says it is %s", run.State)
	}
	if phase == "load" && (len(legs) != 1 || len(legs[0].Steps) < 1) {
		d.t.Fatalf("the finished step is not on disk: %+v", legs)
	}
	time.Sleep(time.Second) // the engine finishes what it was asked for last, even if nobody waits for it any more
	if code, stdout, stderr := locbench(d.t, d.dir, "clean", "--run", run.ID); code != 0 {
		d.t.Errorf("clean: exit code %d\n%s%s", code, stdout, stderr)
	}
	nothingLeft(d.t, run.ID)
}

// interrupted is a run that was asked to end, and has done so in order.
func (d *disturbed) interrupted(phase string) {
	d.t.Helper()
	run, legs := d.ends(130, "interrupted", "--resume out", "stopping in order")
	if run.State != bench.RunInterrupted {
		d.t.Errorf("run %s", run.State)
	}
	if phase == "load" && (len(legs) == 0 || len(legs[0].Steps) < 2 || legs[0].Steps[1].Aborted == "" || legs[0].Lost == nil) {
		d.t.Errorf("legs %+v", legs)
	}
}
