//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/testenv"
)

// twoInTurns is a profile of two variants of one contender that take turns of 100 ms.
func twoInTurns(t *testing.T, runtime string, rounds string) string {
	t.Helper()
	return profileFile(t, "contenders: ['faulty:a', 'faulty:b']\nrounds: "+rounds+"\nruntime: "+runtime+"\nlimits: {cpus: 1, memory: 64MiB}\nturns: 100ms\n"+littleData+
		"timeout: 500ms\nvalidate: none\nchecks: {lifecycle: none, suites: []}\nstep_duration: 1s\nsteps: [2, {rate: 300}, 4]\n")
}

// wellAndTwice is a contender with two variants, which both do what they should.
func wellAndTwice(t *testing.T) string {
	t.Helper()
	return made(t, faultyBinary, "faulty", map[string]string{"FAULT": "", "AFTER": "0"}, map[string]map[string]string{"a": {}, "b": {}})
}

// TestTurns runs two contenders side by side: the load of each is what its own turns were, and
// their counters are of those alone.
func TestTurns(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir, services := t.TempDir(), wellAndTwice(t)
		code, stdout, stderr := locbench(t, dir, "run", "-p", twoInTurns(t, runtime, "2"), "--services", services, "--headless", "-o", "out")
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		says(t, "standard error", stderr, "faulty:a, round 1 of 2", "faulty:b, round 2 of 2", "\n faulty:b\n")
		says(t, "standard output", stdout, "faulty:b")
		run, legs := read(t, filepath.Join(dir, "out"))
		nothingLeft(t, run.ID)
		if len(legs) != 4 || run.Profile.Turns != 100*time.Millisecond {
			t.Fatalf("%d legs in turns of %s", len(legs), run.Profile.Turns)
		}
		since := map[int]time.Time{}
		for _, leg := range legs {
			began, ok := leg.TookTurns()
			if other, known := since[leg.Leg.Round]; !ok || known && !other.Equal(began) {
				t.Errorf("%s took turns since %s, the other one since %s", leg.Leg, began, other)
			}
			since[leg.Leg.Round] = began
			for _, s := range leg.Steps {
				if s.Turns == nil || s.Turns.Count < 9 || s.Turns.Count > 10 || len(s.Turns.With) != 1 {
					t.Fatalf("%s, %s: turns %+v", leg.Leg, s.Step.Name, s.Turns)
				}
				// A busy machine may be too slow for the time-out of half a second, but nothing else fails.
				if l := s.Load; l.Succeeded == 0 || l.FailedTotal() != l.Failed[bench.ErrTimeout] || l.Elapsed < time.Second || l.Elapsed > 2*time.Second || l.Latency.Count != l.Succeeded {
					t.Errorf("%s, %s: %d succeeded in %s, failed %v", leg.Leg, s.Step.Name, l.Succeeded, l.Elapsed, l.Failed)
				}
				var due int64
				for _, w := range s.Load.Windows {
					due += w.Due
				}
				if s.Step.Rate > 0 && (due < 290 || due > 310 || s.Load.Scheduled < due) { // one more or less in each turn
					t.Errorf("%s: %d came due in the intervals, %d in all", leg.Leg, due, s.Load.Scheduled)
				}
				cpu, ok := s.CPU()
				if between := s.After.At.Sub(s.Before.At); !ok || cpu <= 0 || cpu > 2*time.Second || (between-s.Load.Wall).Abs() > s.Load.Wall/2 {
					t.Errorf("%s, %s: %s of CPU time in %s; the load took %s", leg.Leg, s.Step.Name, cpu, between, s.Load.Wall)
				}
				// While it waits it does nothing, for as long as the other one is loaded.
				if w := s.Turns.Waited; w < 500*time.Millisecond || s.Turns.Restless() > .5 {
					t.Errorf("%s, %s: waited %s, and used %s of CPU time", leg.Leg, s.Step.Name, w, s.Turns.WaitedCPU)
				}
			}
		}
		code, stdout, stderr = locbench(t, dir, "compare", "out", "faulty:a", "faulty:b")
		if code != 0 || !strings.Contains(stdout, "need ≥ 6") {
			t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
		}
	})
}

// TestInterruptedTurns interrupts the second round: both of it run again, and belong together then;
// the first round is kept.
func TestInterruptedTurns(t *testing.T) {
	testenv.Docker(t)
	t.Parallel()
	services := wellAndTwice(t)
	d := disturb(t, nil, "run", "--headless", "--services", services, "-p", twoInTurns(t, "docker", "2"))
	d.waitEvent(d.out, func(r bench.Record) bool {
		e, ok := r.Event.(bench.StepEnded)
		return ok && r.Leg.Round == 2 && e.Result.Index == 0
	})
	d.signal(syscall.SIGINT)
	run, legs := d.ends(130)
	if len(legs) != 4 || run.State != bench.RunInterrupted {
		t.Fatalf("%d legs, state %s", len(legs), run.State)
	}
	after := d.resumes("--services", services)
	byRound := map[int][]bench.LegResult{}
	for _, leg := range after {
		byRound[leg.Leg.Round] = append(byRound[leg.Leg.Round], leg)
	}
	for round, pair := range byRound {
		a, okA := pair[0].TookTurns()
		b, okB := pair[1].TookTurns()
		if len(pair) != 2 || !okA || !okB || !a.Equal(b) || pair[0].State != bench.LegComplete || pair[1].State != bench.LegComplete {
			t.Errorf("round %d: %s and %s, %v and %v", round, pair[0].State, pair[1].State, a, b)
		}
	}
}
