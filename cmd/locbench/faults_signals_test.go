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

// killPoints returns moments of a run, in their order.
func killPoints() []killPoint {
	return []killPoint{
		{"store", phaseStarted(bench.PhaseNeeds)}, {"seed", phaseStarted(bench.PhaseSeed)},
		{"build", phaseStarted(bench.PhaseBuild)}, {"check", phaseStarted(bench.PhaseCheck)},
		{"launch", phaseStarted(bench.PhaseLaunch)}, {"ready", phaseStarted(bench.PhaseReady)},
		{"load", stepStarted(1)}, {"stop", phaseStarted(bench.PhaseStop)},
	}
}

type killPoint struct {
	name  string
	event func(bench.Record) bool
}

// reached returns a run at that moment.
func (p killPoint) reached(t *testing.T, runtime string, more ...string) *disturbed {
	t.Helper()
	args := append([]string{"run", "--headless", "-p", small(t, "go-nethttp", runtime), "--duration", "1s"}, more...)
	if p.name != "check" {
		args = append(args, "--no-checks") // checks take a while
	}
	d := disturb(t, nil, args...)
	d.waitEvent(d.out, p.event)
	return d
}

// TestSignal_EachPhase ends locbench in every phase by the signals that people, machines and closing
// terminals send. Measured results are kept, everything that was started is gone (after a SIGKILL:
// after clean), and --resume completes the run. The SIGHUPs of a closing terminal, one from the
// kernel and one from the shell, change nothing of a run that stops; a second signal forces it.
func TestSignal_EachPhase(t *testing.T) {
	ends := []struct {
		name string
		end  func(d *disturbed, phase string)
	}{
		{"SIGINT", func(d *disturbed, phase string) {
			d.signal(syscall.SIGINT)
			d.interrupted(phase)
			d.resumes()
		}},
		{"SIGTERM", func(d *disturbed, phase string) {
			d.signal(syscall.SIGTERM)
			d.interrupted(phase)
			d.resumes()
		}},
		{"SIGKILL", func(d *disturbed, phase string) {
			d.signal(syscall.SIGKILL)
			d.killed(phase)
			d.resumes()
		}},
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
		for i, point := range killPoints() {
			for k, c := range ends {
				if !inRuntime(i+k, runtime) {
					continue
				}
				t.Run(point.name+" "+c.name, func(t *testing.T) {
					t.Parallel()
					rounds := "1"
					if point.name == "stop" {
						rounds = "2" // a stop is too short to hit reliably
					}
					c.end(point.reached(t, runtime, "--rounds", rounds), point.name)
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
	forced := func(second syscall.Signal) func(d *disturbed) {
		return func(d *disturbed) {
			d.signal(syscall.SIGINT)
			d.recorded()
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
			d.signal(syscall.SIGHUP)
			d.recorded()
			for range 3 {
				time.Sleep(300 * time.Millisecond)
				d.signal(syscall.SIGHUP)
			}
			run, _ := d.ends(130, "SIGHUP: stopping gracefully", "SIGTERM and was killed")
			testenv.Equal(d.t, run.State, bench.RunInterrupted)
		},
		"thrice": func(d *disturbed) {
			d.signal(syscall.SIGINT)
			d.recorded()
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
				end(deaf(t, runtime))
			})
		}
	})
}

// recorded waits until the results say that the run is interrupted.
func (d *disturbed) recorded() {
	d.t.Helper()
	testenv.Until(d.t, time.Minute, "the stop is recorded", func() bool { return runState(d.out) == bench.RunInterrupted })
}

// deaf returns a run in its first step, whose contender ignores the request to stop.
func deaf(t *testing.T, runtime string) *disturbed {
	t.Helper()
	d := disturb(t, nil, "run", "--headless", "-p", small(t, "faulty", runtime), "--services", faulty(t, "deaf", 0), "--duration", "60s")
	d.waitEvent(d.out, stepStarted(0))
	return d
}
