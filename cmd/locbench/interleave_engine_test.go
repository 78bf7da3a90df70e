//go:build acceptance && engine && linux

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestInterleaving interleaves two contenders: load and counters of each cover its own slices only.
func TestInterleaving(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir, services := t.TempDir(), wellAndTwice(t)
		stdout, stderr := succeeds(t, dir, "run", "-p", twoInterleaved(t, runtime, "2"), "--services", services, "--headless", "-o", "out")
		says(t, "standard error", stderr, "faulty:a, round 1 of 2", "faulty:b, round 2 of 2", "\n faulty:b\n")
		says(t, "standard output", stdout, "faulty:b")
		run, trials := readClean(t, filepath.Join(dir, "out"))
		if len(trials) != 4 || run.Profile.Interleave != 100*time.Millisecond {
			t.Fatalf("%d trials, interleaved every %s", len(trials), run.Profile.Interleave)
		}
		since := map[int]time.Time{}
		for _, trial := range trials {
			began, ok := trial.Interleaved()
			if other, known := since[trial.Trial.Round]; !ok || known && !other.Equal(began) {
				t.Errorf("%s is interleaved since %s, the other one since %s", trial.Trial, began, other)
			}
			since[trial.Trial.Round] = began
			for _, s := range trial.Steps {
				if s.Interleave == nil || s.Interleave.Count == 0 || s.Interleave.Length != 100*time.Millisecond || len(s.Interleave.With) != 1 {
					t.Fatalf("%s, %s: interleaving %+v", trial.Trial, s.Step.Name, s.Interleave)
				}
				// A busy machine may be too slow for the timeout of half a second, but nothing else
				// fails.
				l := s.Load
				if l.Succeeded == 0 || l.FailedTotal() != l.Failed[bench.ErrTimeout] || l.Latency.Count != l.Succeeded {
					t.Errorf("%s, %s: %d succeeded, %d of them with a latency, failed %v", trial.Trial, s.Step.Name, l.Succeeded, l.Latency.Count, l.Failed)
				}
				if l.Sent != l.AllSucceeded()+l.FailedTotal()+l.Cut || l.Scheduled != l.Sent+l.Dropped {
					t.Errorf("%s, %s: of %d scheduled %d were sent, %d succeeded, %d failed, %d cut", trial.Trial, s.Step.Name, l.Scheduled, l.Sent, l.AllSucceeded(), l.FailedTotal(), l.Cut)
				}
				var succeeded int64
				for _, w := range l.Windows {
					succeeded += w.Succeeded
				}
				if succeeded != l.Succeeded {
					t.Errorf("%s, %s: %d succeeded in the windows, %d in all", trial.Trial, s.Step.Name, succeeded, l.Succeeded)
				}
				// Its counters cover its own slices: the time between them is recorded too.
				if cpu, ok := s.CPU(); !ok || cpu <= 0 || s.Interleave.Waited <= 0 || s.Interleave.WaitedCPU < 0 {
					t.Errorf("%s, %s: %s of CPU time, waited %s", trial.Trial, s.Step.Name, cpu, s.Interleave.Waited)
				}
			}
		}
		code, stdout, stderr := locbench(t, dir, "compare", "out", "faulty:a", "faulty:b")
		if code != 0 || !strings.Contains(stdout, "need ≥ 6") {
			t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
		}
	})
}

// TestInterleaving_Interrupted interrupts the second round: both of its trials run again, together;
// the first round is kept.
func TestInterleaving_Interrupted(t *testing.T) {
	testenv.Docker(t)
	t.Parallel()
	services := wellAndTwice(t)
	d := disturb(t, nil, "run", "--headless", "--services", services, "-p", twoInterleaved(t, "docker", "2"))
	d.waitEvent(d.out, func(r bench.Record) bool {
		e, ok := r.Event.(bench.StepEnded)
		return ok && r.Trial.Round == 2 && e.Result.Index == 0
	})
	d.signal(syscall.SIGINT)
	run, trials := d.ends(130)
	if len(trials) != 4 || run.State != bench.RunInterrupted {
		t.Fatalf("%d trials, state %s", len(trials), run.State)
	}
	after := d.resumes("--services", services)
	byRound := map[int][]bench.TrialResult{}
	for _, trial := range after {
		byRound[trial.Trial.Round] = append(byRound[trial.Trial.Round], trial)
	}
	for round, pair := range byRound {
		a, okA := pair[0].Interleaved()
		b, okB := pair[1].Interleaved()
		if len(pair) != 2 || !okA || !okB || !a.Equal(b) || pair[0].State != bench.TrialComplete || pair[1].State != bench.TrialComplete {
			t.Errorf("round %d: %s and %s, %v and %v", round, pair[0].State, pair[1].State, a, b)
		}
	}
}
