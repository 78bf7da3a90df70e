//go:build acceptance && timing && linux

package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
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
func medians(trials []bench.TrialResult, step int) (v values) {
	all := map[*float64][]float64{}
	for _, trial := range trials {
		s, held := trial.Steps[step], 0.
		cpus, _ := s.CPUs()
		if verdict.Held(s.Load) {
			held = 1
		}
		l := s.Load.Latency
		for of, value := range map[*float64]float64{&v.cpus: cpus, &v.throughput: s.Load.Throughput(), &v.held: held,
			&v.mean: l.Mean.Seconds() * 1e3, &v.p50: l.P50.Seconds() * 1e3, &v.p99: l.P99.Seconds() * 1e3} {
			all[of] = append(all[of], value)
		}
	}
	for of, values := range all {
		*of, _ = stats.Median(values)
	}
	return v
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

// loaded runs a profile, interleaved as way says.
func loaded(t testing.TB, file, services, way string) (bench.Run, []bench.TrialResult) {
	dir := t.TempDir()
	succeeds(t, dir, "run", "--headless", "-o", "out", "-p", file, "--services", services, "--interleave", way)
	return read(t, dir+"/out")
}

// bothWays judges the trials of a plain and of an interleaved run of a profile.
func bothWays(t *testing.T, file, services string, of func(t testing.TB, plain, sliced []bench.TrialResult) error) {
	testenv.Judge(t, 4, 50*time.Millisecond, func(t testing.TB) error {
		_, plain := loaded(t, file, services, "off")
		_, sliced := loaded(t, file, services, "500ms")
		return of(t, plain, sliced)
	})
}

// TestSlicesAreAPlainRun: under a quota that is used up, an interleaved contender has its quota, and
// no more; its throughput and latency are those of a plain run. Its requests take a known CPU time,
// so the speed of the machine does not matter. p99 may be half a period off: at 0.25 CPUs a hundredth
// of the requests wait for two periods, or three.
func TestSlicesAreAPlainRun(t *testing.T) {
	services := burners(t, map[string]time.Duration{"a": 300 * time.Microsecond, "b": 300 * time.Microsecond})
	for _, cpus := range []float64{.25, .5, 1, 1.5} {
		t.Run(fmt.Sprint(cpus), func(t *testing.T) {
			bothWays(t, burning(t, cpus, "[16 warm-up for 1s, 16]"), services, func(t testing.TB, before, after []bench.TrialResult) error {
				plain, sliced := medians(before, 1), medians(after, 1)
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
			bothWays(t, file, services, func(t testing.TB, before, after []bench.TrialResult) error {
				plain, sliced, alternated := medians(before, 1), medians(after, 1), after[0].Steps[1].Interleave.Alternated
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

// variant is the place of a burner.
func variant(trial bench.TrialResult) int { return strings.Index("ab", trial.Trial.Variant) }

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
			services := made(t, "burner", map[string]string{"CPU": "20µs"}, map[string]map[string]string{
				"a": {"WAIT": c.waits[0].String()}, "b": {"WAIT": c.waits[1].String()},
			})
			file := burning(t, 1, c.steps)
			testenv.Judge(t, 4, 50*time.Millisecond, func(t testing.TB) error {
				run, trials := loaded(t, file, services, "500ms")
				var plain [2][]bench.TrialResult // of short waits, next to which timers and the client's own time count
				if c.waits[0] < 20*time.Millisecond {
					_, all := loaded(t, file, services, "off")
					for _, trial := range all {
						plain[variant(trial)] = append(plain[variant(trial)], trial)
					}
				}
				var wrong error
				for _, trial := range trials {
					of := variant(trial)
					took := trial.Ended.Sub(trial.Started)
					for i, s := range trial.Steps {
						mean, users, want, within := s.Load.Latency.Mean.Seconds(), float64(s.Step.Connections), c.waits[of].Seconds()+.0003, .02
						if plain[of] != nil {
							p := medians(plain[of], i)
							want, users, within = p.mean/1e3, p.throughput*p.mean/1e3, .04
						}
						what := fmt.Sprintf("%s, %s:", trial.Trial, s.Step.Name)
						t.Log(what, s.Load.Throughput(), s.Load.Latency.Mean, s.Load.Elapsed, s.Load.Wall, want)
						wrong = errors.Join(wrong, differs(what+" throughput × latency", s.Load.Throughput()*mean, users, .01),
							differs(what+" latency", mean, want, within))
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

// TestLockIsAPlainRun: what a lock costs that keeps one of one and a half CPUs busy is the same in
// an interleaved run, though the contender without it is at its quota and this one never is.
func TestLockIsAPlainRun(t *testing.T) {
	services := made(t, "burner", map[string]string{"CPU": "300µs"}, map[string]map[string]string{"a": {}, "b": {"LOCK": "1"}})
	left := func(t testing.TB, trials []bench.TrialResult) float64 {
		of := map[string][]bench.TrialResult{}
		for _, trial := range trials {
			of[trial.Trial.Variant] = append(of[trial.Trial.Variant], trial)
		}
		a, b := medians(of["a"], 1), medians(of["b"], 1)
		t.Logf("%+v, with a lock %+v", a, b)
		return b.throughput / a.throughput
	}
	bothWays(t, burning(t, 1.5, "[16 warm-up for 1s, 16]"), services, func(t testing.TB, plain, sliced []bench.TrialResult) error {
		return differs("throughput with a lock", left(t, sliced), left(t, plain), .02)
	})
}
