//go:build acceptance && engine && linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/testenv"
)

// With --limits each limit has its own results folder, whose steps are the probes.
func TestCapacity_Limits(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		code, stdout, stderr := locbench(t, dir, short("--slo", "p50<4s,errors<50%", "--runtime", runtime, "--limits", "cpus=0.5,1", "--json")...)
		testenv.Need(t, code == 0 || code == 4, "exit code %d:\n%s", code, stderr)
		kept, err := os.ReadFile(filepath.Join(dir, "out", capacity.File))
		testenv.Check(t, err == nil && string(kept) == stdout, "%s and standard output differ: %v", capacity.File, err)
		r := capacityRecord(t, kept)
		testenv.Need(t, len(r.Points) == 2 && r.SLO == "p50<4s,errors<50%", "%+v", r)
		for i, p := range r.Points {
			// The capacity depends on the machine; a test of part timing finds the bound on an idle
			// one.
			if p.Result.State == capacity.Searching || p.Result.Rate > 200 || p.Failure != "" || p.Limits.CPUs != float64(i+1)/2 || len(p.Outcomes) == 0 {
				t.Errorf("%+v", p)
			}
			run, trials := readClean(t, filepath.Join(dir, "out", p.Dir))
			if run.State != bench.RunComplete || len(trials) != 1 || len(trials[0].Steps) != 1+len(p.Outcomes) || run.Search == "" {
				t.Fatalf("run %s, %d trials, %d probes", run.State, len(trials), len(p.Outcomes))
			}
			if trials[0].Instance.Limits.CPUs != p.Limits.CPUs {
				t.Errorf("it ran with %g CPUs, not with %g", trials[0].Instance.Limits.CPUs, p.Limits.CPUs)
			}
			for j, o := range p.Outcomes {
				s := trials[0].Steps[o.Step]
				if o.Step != j+1 || s.Step.Rate != o.Rate || s.Load.Origin() != bench.FromScheduled || s.Load.Scheduled != s.Load.Sent+s.Load.Dropped {
					t.Errorf("probe %+v was step %+v", o, s.Step)
				}
			}
		}
		if code, stdout, stderr := locbench(t, dir, "report", "out"); code != 0 || strings.Count(stdout, "report.html") != 3 {
			t.Errorf("report: exit code %d\n%s%s", code, stdout, stderr)
		}
		if code, _, stderr := locbench(t, dir, "run", "--resume", "out/cpus-1"); code != 2 || !strings.Contains(stderr, "capacity search") {
			t.Errorf("resume: exit code %d\n%s", code, stderr)
		}
		if code, _, stderr := locbench(t, dir, short("--slo", "p50<4s", "--limits", "cpus=0.5")...); code != 2 || !strings.Contains(stderr, "already holds a search") {
			t.Errorf("again into the same folder: exit code %d\n%s", code, stderr)
		}
	})
}

// An SLO that cannot be met ends the search at the lowest rate, with its own exit code and table.
func TestCapacity_ImpossibleSLO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, stdout, stderr := locbench(t, dir, short("--slo", "p50<1ns", "--runtime", "process", "--guess", "2")...)
	testenv.Check(t, code == 4 && strings.Contains(stdout, "even 1.00/s misses the SLO: p50 is"),
		"exit code %d\n%s%s", code, stdout, stderr)
	testenv.OK(t, testenv.Err(os.Stat(filepath.Join(dir, "out", "report.html"))))
	succeeds(t, dir, "report", "out")
}

// Ctrl-C ends a search gracefully: nothing is left, and the finished probes are kept.
func TestCapacity_Interrupted(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		c := startLocbench(t, dir, short("--slo", "p50<4s", "--runtime", runtime, "--max-rate", "1000000", "--resolution", "1%")...)
		c.waitEvent(filepath.Join(dir, "out"), stepStarted(2))
		c.signal(os.Interrupt)
		if code := c.wait(time.Minute); code != 130 {
			t.Errorf("exit code %d\n%s", code, c.stderr.String())
		}
		run, trials := readClean(t, filepath.Join(dir, "out"))
		if run.State != bench.RunInterrupted || trials[0].State != bench.TrialAborted {
			t.Errorf("run %s, trial %s", run.State, trials[0].State)
		}
		data := readFile(t, filepath.Join(dir, "out", capacity.File))
		if p := capacityRecord(t, []byte(data)).Points[0]; len(p.Outcomes) < 1 || p.Result.State != capacity.Searching || !strings.Contains(p.Failure, "interrupted") {
			t.Errorf("%+v", p)
		}
	})
}

// A contender that dies under load ends its search, not those of the other limits.
func TestCapacity_ContenderDies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := short("--slo", "p50<4s", "--runtime", "process", "--services", faulty(t, "exit", 60), "--limits", "cpus=0.5,1", "--accept-failed-checks")
	args[1] = "faulty"
	code, stdout, stderr := locbench(t, dir, args...)
	if code != 3 || strings.Count(stdout, "stopped early") != 2 || !strings.Contains(stdout, "exit code 7") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// TestInterleaving interleaves two contenders: load and counters of each cover its own slices only.
func TestInterleaving(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir, services := t.TempDir(), wellAndTwice(t)
		stdout, stderr := succeeds(t, dir, "run", "-p", twoInterleaved(t, runtime, "2"), "--services", services, "--headless", "-o", "out")
		says(t, "standard error", stderr, "faulty:a, round 1 of 2", "faulty:b, round 2 of 2", "\n faulty:b\n")
		says(t, "standard output", stdout, "faulty:b")
		run, trials := readClean(t, filepath.Join(dir, "out"))
		testenv.Need(t, len(trials) == 4 && run.Profile.Interleave == 100*time.Millisecond,
			"%d trials, interleaved every %s", len(trials), run.Profile.Interleave)
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
				testenv.Check(t, succeeded == l.Succeeded,
					"%s, %s: %d succeeded in the windows, %d in all", trial.Trial, s.Step.Name, succeeded, l.Succeeded)
				// Its counters cover its own slices: the time between them is recorded too.
				if cpu, ok := s.CPU(); !ok || cpu <= 0 || s.Interleave.Count > 1 && s.Interleave.Waited <= 0 || s.Interleave.WaitedCPU < 0 {
					t.Errorf("%s, %s: %s of CPU time, waited %s", trial.Trial, s.Step.Name, cpu, s.Interleave.Waited)
				}
			}
		}
		code, stdout, stderr := locbench(t, dir, "compare", "out", "faulty:a", "faulty:b")
		testenv.Check(t, code == 0 && strings.Contains(stdout, "need ≥ 6"), "exit code %d\n%s%s", code, stdout, stderr)
	})
}
