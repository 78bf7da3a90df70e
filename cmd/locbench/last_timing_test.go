//go:build acceptance && timing && linux

package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
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

// TestInterleavingLast: with slices of 100 ms there are some switches in a second, a rate keeps its
// number of requests, and a waiting contender gets no load.
func TestInterleavingLast(t *testing.T) {
	for _, runtime := range []string{"process", "docker"} {
		args := []string{"-p", twoInterleaved(t, runtime, "1"), "--services", wellAndTwice(t)}
		timed(t, runtime, 5, 20*time.Millisecond, args, interleavingLasts)
	}
}

func interleavingLasts(_ bench.Run, trials []bench.TrialResult) error {
	var wrong []error
	for _, trial := range trials {
		for _, s := range trial.Steps {
			say := func(format string, args ...any) {
				wrong = append(wrong, fmt.Errorf("%s, %s: %s", trial.Trial, s.Step.Name, fmt.Sprintf(format, args...)))
			}
			l := s.Load
			if s.Interleave == nil || s.Interleave.Count < 4 || s.Interleave.Count > 10 {
				say("interleaving %+v", s.Interleave)
				continue
			}
			if l.Elapsed < 900*time.Millisecond || // the lead-in of each slice is not counted
				l.Elapsed > 2*time.Second {
				say("took %s", l.Elapsed)
			}
			var scheduled int64
			for _, w := range l.Windows {
				scheduled += w.Scheduled
			}
			if s.Step.Rate > 0 && (scheduled < 290 || scheduled > 310 || l.Scheduled < scheduled) { // one more or less per slice
				say("%d were scheduled in the windows, %d in all", scheduled, l.Scheduled)
			}
			cpu, ok := s.CPU()
			if between := s.After.At.Sub(s.Before.At); !ok || cpu <= 0 || cpu > 2*time.Second || (between-l.Wall).Abs() > l.Wall/2 {
				say("%s of CPU time in %s; the load took %s", cpu, between, l.Wall)
			}
			if w := s.Interleave.Waited; w < 500*time.Millisecond || s.Interleave.WaitingCPUs() > .5 {
				say("waited %s, and used %s of CPU time", w, s.Interleave.WaitedCPU)
			}
		}
	}
	return errors.Join(wrong...)
}

// TestLimitsApply checks the values in the results, not the settings of the engine.
func TestLimitsApply(t *testing.T) {
	const quota, tolerance = 0.5, 0.05
	args := []string{"-p", small(t, "faulty", "docker"), "--services", faulty(t, "spin", 0), "--cpus", "0.5",
		"--rounds", "1",
		"--connections", "1", "--duration", "4s"}
	timed(t, "docker", 6, 50*time.Millisecond, args, func(run bench.Run, trials []bench.TrialResult) error {
		s := trials[0].Steps[0]
		cpu, _ := s.CPU()
		if cpus := cpu.Seconds() / s.After.At.Sub(s.Before.At).Seconds(); math.Abs(cpus-quota) > quota*tolerance {
			return fmt.Errorf("two spinners under a quota of %v used %.3f CPUs", quota, cpus)
		}
		if th, ok := s.Throttling(); !ok || th.Throttled == 0 || th.Time <= 0 {
			return fmt.Errorf("throttling %+v %v", th, ok)
		}
		if v := verdict.Trial(run.Machine.CPUs, trials[0])[0]; v.Bound != verdict.Quota {
			return fmt.Errorf("%s", v)
		}
		return nil
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
				if len(ready) != 2 {
					t.Fatalf("%d contenders were ready:\n%s", len(ready), text)
				}
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
