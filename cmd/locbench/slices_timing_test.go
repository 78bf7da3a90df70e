//go:build acceptance && timing && linux

package main

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
)

// values are those of a step, over the trials of a run; times are in ms, held is 1 or 0.
type values struct{ cpus, throughput, mean, p50, p99, held float64 }

// medians returns the medians of a step over all trials of a run.
func medians(trials []bench.TrialResult, step int) (f values) {
	medianOf := func(of func(bench.StepResult) float64) float64 {
		var all []float64
		for _, trial := range trials {
			all = append(all, of(trial.Steps[step]))
		}
		m, _ := stats.Median(all)
		return m
	}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	return values{
		cpus:       medianOf(func(s bench.StepResult) float64 { cpus, _ := s.CPUs(); return cpus }),
		throughput: medianOf(func(s bench.StepResult) float64 { return s.Load.Throughput() }),
		mean:       medianOf(func(s bench.StepResult) float64 { return ms(s.Load.Latency.Mean) }),
		p50:        medianOf(func(s bench.StepResult) float64 { return ms(s.Load.Latency.P50) }),
		p99:        medianOf(func(s bench.StepResult) float64 { return ms(s.Load.Latency.P99) }),
		held: medianOf(func(s bench.StepResult) float64 {
			if verdict.Held(s.Load) {
				return 1
			}
			return 0
		}),
	}
}

// differs says by how much a value is from another one, if that is more than a share.
func differs(what string, got, want, share float64) error {
	if change := got/want - 1; math.Abs(change) > share {
		return fmt.Errorf("%s %.4g, expected %.4g ± %.0f%%: %+.1f%%", what, got, want, 100*share, 100*change)
	}
	return nil
}

// burning is a profile of two equal contenders under a quota.
func burning(t testing.TB, cpus float64, steps string) string {
	return profileFile(t, fmt.Sprintf("contenders: ['burner:a', 'burner:b']\nrounds: 3\nruntime: process\nlimits: {cpus: %v, memory: 256MiB}\n"+
		"isolation: off\nrequests: [{get: /a}]\nchecks: {lifecycle: none, suites: []}\nstep_duration: 3s\nsteps: %s\n", cpus, steps))
}

// bothWays runs a profile plainly and interleaved, and returns the trials of each.
func bothWays(t testing.TB, file, services string) (trials [2][]bench.TrialResult, err error) {
	for i, way := range []string{"off", "500ms"} {
		dir := t.TempDir()
		code, _, stderr := locbench(t, dir, "run", "--headless", "-o", "out", "-p", file, "--services", services, "--interleave", way)
		if code != 0 {
			return trials, fmt.Errorf("exit code %d\n%s", code, stderr)
		}
		_, trials[i] = read(t, dir+"/out")
	}
	return trials, nil
}

// TestSlicesAreAPlainRun: under a quota that is used up, an interleaved contender has its quota, and
// no more; its throughput and latency are those of a plain run. Its requests take a known CPU time,
// so the speed of the machine does not matter. p99 may be half a period off: at 0.25 CPUs a hundredth
// of the requests wait for two periods, or three.
func TestSlicesAreAPlainRun(t *testing.T) {
	services := burners(t, map[string]time.Duration{"a": 300 * time.Microsecond, "b": 300 * time.Microsecond})
	for _, cpus := range []float64{.25, .5, 1, 1.5} {
		t.Run(fmt.Sprint(cpus), func(t *testing.T) {
			file := burning(t, cpus, "[16 warm-up for 1s, 16]")
			testenv.Judge(t, 4, 50*time.Millisecond, func(t testing.TB) error {
				trials, err := bothWays(t, file, services)
				if err != nil {
					return err
				}
				plain, sliced := medians(trials[0], 1), medians(trials[1], 1)
				t.Logf("%v CPUs: plain %+v, interleaved %+v", cpus, plain, sliced)
				var over error
				if sliced.cpus > 1.03*cpus {
					over = fmt.Errorf("%.3f CPUs in use of %v", sliced.cpus, cpus)
				}
				return errors.Join(over, differs("throughput", sliced.throughput, plain.throughput, .03), differs("p99", sliced.p99, plain.p99, max(.15, 50/plain.p99)))
			})
		})
	}
}

// TestOverloadIsAPlainRun: a rate that a contender does not hold has its queue in an interleaved
// run, too; one that it holds easily is interleaved.
func TestOverloadIsAPlainRun(t *testing.T) {
	services := burners(t, map[string]time.Duration{"a": time.Millisecond, "b": time.Millisecond})
	const most = 940. // a second of one CPU, with what HTTP takes
	for _, c := range []struct{ cpus, load float64 }{{.5, .5}, {.5, .9}, {.5, 1.1}, {.5, 1.5}, {1.5, .5}, {1.5, .9}, {1.5, 1.1}, {1.5, 1.5}} {
		load := c.load
		t.Run(fmt.Sprintf("%v at %v CPUs", load, c.cpus), func(t *testing.T) {
			file := burning(t, c.cpus, fmt.Sprintf("[4 warm-up for 1s, {rate: %.0f}]", load*c.cpus*most))
			testenv.Judge(t, 4, 50*time.Millisecond, func(t testing.TB) error {
				trials, err := bothWays(t, file, services)
				if err != nil {
					return err
				}
				plain, sliced, alternated := medians(trials[0], 1), medians(trials[1], 1), trials[1][0].Steps[1].Interleave.Alternated
				t.Logf("%v of what it can do: plain %+v, interleaved %+v; alternated: %q", load, plain, sliced, alternated)
				var wrong error
				if plain.held != sliced.held || (load > 1) != (plain.held == 0) || (load > .7) != (alternated != "") {
					wrong = fmt.Errorf("held %v plainly, %v interleaved; alternated: %q", plain.held, sliced.held, alternated)
				}
				if load != .9 { // a few throttled periods make its p99, in plain runs more or less of them, too
					wrong = errors.Join(wrong, differs("p99", sliced.p99, plain.p99, .25))
				}
				return errors.Join(wrong, differs("throughput", sliced.throughput, plain.throughput, .03), differs("p50", sliced.p50, plain.p50, .25))
			})
		})
	}
}

// TestLockIsAPlainRun: what a lock costs that keeps one of one and a half CPUs busy is the same in
// an interleaved run, though the contender without it is at its quota and this one never is.
func TestLockIsAPlainRun(t *testing.T) {
	services := made(t, burnerBinary, "burner", map[string]string{"CPU": "300µs"}, map[string]map[string]string{"a": {}, "b": {"LOCK": "1"}})
	file := burning(t, 1.5, "[16 warm-up for 1s, 16]")
	testenv.Judge(t, 4, 50*time.Millisecond, func(t testing.TB) error {
		trials, err := bothWays(t, file, services)
		if err != nil {
			return err
		}
		var left [2]float64
		for way, all := range trials {
			of := map[string][]bench.TrialResult{}
			for _, trial := range all {
				of[trial.Trial.Variant] = append(of[trial.Trial.Variant], trial)
			}
			a, b := medians(of["a"], 1), medians(of["b"], 1)
			t.Logf("%s: %+v, with a lock %+v", []string{"plain", "interleaved"}[way], a, b)
			left[way] = b.throughput / a.throughput
		}
		return differs("throughput with a lock", left[1], left[0], .02)
	})
}

// TestSlicesOfSlowResponses: throughput and latency of interleaved contenders that sleep are those
// that they have, in the time that the run announces.
func TestSlicesOfSlowResponses(t *testing.T) {
	for _, c := range []struct {
		waits [2]time.Duration
		steps string
	}{
		{[2]time.Duration{time.Millisecond, 10 * time.Millisecond}, "[1, 4]"}, // more use up the CPUs
		{[2]time.Duration{60 * time.Millisecond, 90 * time.Millisecond}, "[1, 16, 64]"},
		{[2]time.Duration{120 * time.Millisecond, 300 * time.Millisecond}, "[1, 16, 64]"},
		{[2]time.Duration{1500 * time.Millisecond, 300 * time.Millisecond}, "[2 for 6s, 64 for 6s]"},
	} {
		t.Run(fmt.Sprint(c.waits), func(t *testing.T) {
			services := made(t, burnerBinary, "burner", map[string]string{"CPU": "20µs"}, map[string]map[string]string{
				"a": {"WAIT": c.waits[0].String()}, "b": {"WAIT": c.waits[1].String()},
			})
			file := burning(t, 1, c.steps)
			testenv.Judge(t, 4, 50*time.Millisecond, func(t testing.TB) error {
				dir := t.TempDir()
				code, _, stderr := locbench(t, dir, "run", "--headless", "-o", "out", "-p", file, "--services", services, "--interleave", "500ms")
				if code != 0 {
					return fmt.Errorf("exit code %d\n%s", code, stderr)
				}
				run, trials := read(t, dir+"/out")
				var wrong error
				for _, trial := range trials {
					wait := c.waits[0]
					if trial.Trial.Variant == "b" {
						wait = c.waits[1]
					}
					took := trial.Ended.Sub(trial.Started)
					for _, s := range trial.Steps {
						mean := s.Load.Latency.Mean.Seconds()
						what := fmt.Sprintf("%s, %s:", trial.Trial, s.Step.Name)
						t.Log(what, s.Load.Throughput(), s.Load.Latency.Mean, s.Load.Elapsed, s.Load.Wall)
						wrong = errors.Join(wrong, differs(what+" throughput × latency", s.Load.Throughput()*mean, float64(s.Step.Connections), .01),
							differs(what+" latency", mean, wait.Seconds()+.0003, max(.02, .0003/wait.Seconds())))
						if s.Load.Wall > s.Step.Duration*125/100 {
							wrong = errors.Join(wrong, fmt.Errorf("%s took %s", what, s.Load.Wall))
						}
					}
					if of := 2 * run.Profile.LoadDuration(); took > of*125/100+2*time.Second {
						wrong = errors.Join(wrong, fmt.Errorf("%s took %s of %s of load", trial.Trial, took, of))
					}
				}
				return wrong
			})
		})
	}
}
