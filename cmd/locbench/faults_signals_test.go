//go:build acceptance && faults && linux

package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSignal_EachPhase ends locbench in every phase by the signals that people, machines and closing
// terminals send. Measured results are kept, everything that was started is gone (after a SIGKILL:
// after clean), and --resume completes the run. The SIGHUPs of a closing terminal, one from the
// kernel and one from the shell, change nothing of a run that stops; a second signal forces it.
func TestSignal_EachPhase(t *testing.T) {
	stops := func(signal syscall.Signal) func(*disturbed, string) {
		return func(d *disturbed, phase string) {
			d.endsBy(signal, phase)
			d.resumes()
		}
	}
	ends := []struct {
		name string
		end  func(d *disturbed, phase string)
	}{
		{"SIGINT", stops(syscall.SIGINT)}, {"SIGTERM", stops(syscall.SIGTERM)}, {"SIGKILL", stops(syscall.SIGKILL)},
		{"SIGINT and a closing terminal", func(d *disturbed, phase string) {
			d.signal(syscall.SIGINT)
			testenv.Until(d.t, time.Minute, "the signal is handled", func() bool {
				return strings.Contains(d.stderr.String(), "stopping gracefully")
			})
			for range 2 {
				_ = d.cmd.Process.Signal(syscall.SIGHUP) // it may have ended by now
				time.Sleep(2 * time.Millisecond)
			}
			d.interrupted(phase)
		}},
		{"SIGINT and SIGTERM", func(d *disturbed, _ string) {
			d.signal(syscall.SIGINT)
			time.Sleep(10 * time.Millisecond)
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			run, _ := d.ends(130, "interrupted")
			testenv.Equal(d.t, run.State, bench.RunInterrupted)
		}},
	}
	runtimes(t, func(t *testing.T, runtime string) {
		for i, phase := range []bench.Phase{bench.PhaseNeeds, bench.PhaseSeed, bench.PhaseBuild, bench.PhaseCheck, bench.PhaseLaunch,
			bench.PhaseReady, "load", bench.PhaseStop} {
			for k, c := range ends {
				// Every second one in each runtime. Without Docker all are processes.
				if testenv.Engine() == nil && (i+k)%2 == 0 != (runtime == "docker") {
					continue
				}
				t.Run(string(phase)+" "+c.name, func(t *testing.T) {
					t.Parallel()
					args := []string{"run", "--headless", "-p", small(t, "go-nethttp", runtime), "--duration", "1s"}
					if phase != bench.PhaseCheck {
						args = append(args, "--no-checks") // checks take a while
					}
					if phase != bench.PhaseStop { // too short to hit reliably
						args = append(args, "--rounds", "1")
					}
					d, reached := disturb(t, nil, args...), phaseStarted(phase)
					if phase == "load" {
						reached = stepStarted(1)
					}
					d.waitEvent(d.out, reached)
					c.end(d, string(phase))
				})
			}
		}
	})
}

// TestSignal_DeafContender: a run waits for a contender that ignores the request to stop, and kills
// it, whatever a closing terminal sends. A second signal makes locbench kill what does not stop and
// remove everything, and the record is true. A third one ends it at once, and the record still says
// how the run ended.
func TestSignal_DeafContender(t *testing.T) {
	stopped := func(d *disturbed, s syscall.Signal) {
		d.signal(s)
		testenv.Until(d.t, time.Minute, "the stop is recorded", func() bool { return runState(d.out) == bench.RunInterrupted })
	}
	forced := func(second syscall.Signal) func(d *disturbed) {
		return func(d *disturbed) {
			stopped(d, syscall.SIGINT)
			d.signal(second)
			run, trials := d.ends(130, "stopping gracefully", "killing; press again")
			// By force, not by the timeout of 15 s.
			if run.State != bench.RunInterrupted || len(trials) != 1 || !trials[0].Stop.Forced ||
				strings.Contains(d.stderr.String(), "did not stop within") {
				d.t.Errorf("run %s, %s; it said:\n%s", run.State, states(trials), d.stderr.String())
			}
		}
	}
	ends := map[string]func(d *disturbed){
		"SIGINT": forced(syscall.SIGINT), "SIGTERM": forced(syscall.SIGTERM),
		"closing terminal": func(d *disturbed) {
			stopped(d, syscall.SIGHUP)
			for range 3 {
				time.Sleep(300 * time.Millisecond)
				d.signal(syscall.SIGHUP)
			}
			run, _ := d.ends(130, "SIGHUP: stopping gracefully", "SIGTERM and was killed")
			testenv.Equal(d.t, run.State, bench.RunInterrupted)
		},
		"thrice": func(d *disturbed) {
			stopped(d, syscall.SIGINT)
			d.signal(syscall.SIGKILL)
			d.wait(time.Minute)
			run, _ := read(d.t, d.out)
			testenv.Equal(d.t, run.State, bench.RunInterrupted)
			d.cleaned(run.ID)
		},
	}
	runtimes(t, func(t *testing.T, runtime string) {
		for name, end := range ends {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := disturb(t, nil, "run", "--headless", "-p", small(t, "faulty", runtime), "--services", faulty(t, "deaf", 0), "--duration", "60s")
				d.waitEvent(d.out, stepStarted(0))
				end(d)
			})
		}
	})
}
