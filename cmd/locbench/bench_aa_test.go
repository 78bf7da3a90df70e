//go:build acceptance && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"locbench/internal/analysis"
	"locbench/internal/analysis/compare"
	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/testenv"
)

// referenceSteps has room for how long the measured step is. It wants seconds: on a virtual machine
// the speed of a CPU itself varies by 8% from half second to half second.
const referenceSteps = `contenders: [reference]
rounds: 12
runtime: docker
limits: {cpus: 1, memory: 128MiB}
%s` + requestsOfCities + `compare_bodies: none
checks: {lifecycle: none, suites: []}
steps:
  - 8 warm-up for 1s
  - 1 for 500ms
  - 8 for %s
`

// BenchmarkAA asks how often something is found that is not there, and something that is. The
// reference contender runs as two that are the same, and as a third whose requests cost so much
// more CPU time, under a quota, that its throughput is 10% less; they alternate. Every six rounds
// are a comparison of five headline measures, decided as 'locbench compare' does, with the noise
// floor that 'locbench calibrate' has found just before. It asserts nothing: how much noise there
// is depends on the machine.
//
// STEP is how long a step is. With AWAKE=1 something of the idle class runs on every CPU meanwhile,
// so that none is given back to a hypervisor, which takes its time to return it; what the machine
// is busy with is then wrong, and no verdict holds. With ONLY=slowed the A/A part is left out. With
// INTERLEAVE=100ms those of a round are alive side by side and take turns of so long; a comparison is
// then of eight rounds, or of ROUNDS.
//
//	make bench-aa
func BenchmarkAA(b *testing.B) {
	testenv.Docker(b)
	if os.Getenv("AWAKE") == "1" {
		stayAwake(b)
	}
	step, err := time.ParseDuration(os.Getenv("STEP"))
	if err != nil {
		step = 6 * time.Second
	}
	comparisons := 10
	if n, err := strconv.Atoi(os.Getenv("COMPARISONS")); err == nil && n > 0 {
		comparisons = n
	}
	dir := b.TempDir()
	turns, rounds := "", stats.MinInterval
	if t := os.Getenv("INTERLEAVE"); t != "" {
		turns, rounds = "interleave: "+t+"\n", stats.MinPaired
	}
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil && n >= stats.MinInterval {
		rounds = n
	}
	profile := profileFile(b, fmt.Sprintf(referenceSteps, turns, step))
	floor, cost := calibrated(b, dir, profile, step)
	say("floor: %s", floor.Words())

	// A share of 10% of the CPU time is a ninth more of it.
	slower := (cost / 9).Round(100 * time.Nanosecond)
	services := reference(b, map[string]time.Duration{"a": 0, "b": 0, "slowed": slower})
	args := []string{"run", "reference:a", "reference:slowed", "-p", profile, "--services", services, "--rounds", strconv.Itoa(comparisons * rounds), "--headless", "-o", "turns"}
	same := os.Getenv("ONLY") != "slowed"
	if same {
		args = append(args, "reference:b")
	}
	code, _, stderr := bounded(b, dir, time.Duration(comparisons*rounds)*3*(step+10*time.Second), args...)
	if code != 0 {
		b.Fatalf("exit code %d:\n%s", code, stderr)
	}
	run, trials := read(b, filepath.Join(dir, "turns"))
	if !floor.Fits(run) {
		b.Error("'locbench compare' would not take this floor for this run")
	}
	aa, slow := tally{}, tally{}
	for i := range comparisons {
		if same {
			aa.add(b, fmt.Sprintf("A/A %d", i+1), run, block(trials, "a", i, rounds), block(trials, "b", i, rounds), floor)
		}
		slow.add(b, fmt.Sprintf("slowed %d", i+1), run, block(trials, "a", i, rounds), block(trials, "slowed", i, rounds), floor)
	}
	all := analysis.Of(run, trials)
	whole, err := compare.Compare(compare.Set{Run: all, Contender: "reference:a"}, compare.Set{Run: all, Contender: "reference:slowed"}, compare.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, row := range whole.Contenders[0].Rows {
		say("slowed, all %d rounds, %s: %s", comparisons*rounds, row.Measure, row.Sentence)
	}
	say("A request of %v costs %v more. A/A: %d of %d measures were called different, %d without the floor. Slowed: throughput was called worse in %d of %d comparisons, anything worse in %d.",
		cost, slower, aa.different, aa.measures, aa.unfloored, slow.throughput, slow.comparisons, slow.anyWorse)
	if same {
		b.ReportMetric(100*float64(aa.different)/float64(aa.measures), "false-%")
	}
	b.ReportMetric(100*float64(slow.throughput)/float64(max(slow.comparisons, 1)), "found-%")
	b.ReportMetric(0, "ns/op")
}

// calibrated runs 'locbench calibrate' on the reference contender, and returns its floor and the
// CPU time of a request at peak.
func calibrated(b *testing.B, dir, profile string, step time.Duration) (compare.Floor, time.Duration) {
	b.Helper()
	code, stdout, stderr := bounded(b, dir, 16*(step+10*time.Second), "calibrate", "reference:a", "-p", profile, "--services", reference(b, map[string]time.Duration{"a": 0}), "--json", "-o", "calibrate")
	var floor compare.Floor
	if err := json.Unmarshal([]byte(stdout), &floor); err != nil {
		b.Fatalf("exit code %d, %v:\n%s", code, err, stderr)
	}
	run, trials := read(b, filepath.Join(dir, "calibrate"))
	peak, ok := stats.Summarise(run, trials)[0].PeakStep()
	each := measure.Get(measure.CPURequest).Over(peak)
	if !ok || !each.Known {
		b.Fatal("the CPU time of a request is not known")
	}
	return floor, time.Duration(each.Value)
}

// stayAwake keeps every CPU from becoming idle until the benchmark ends. Whoever else wants a CPU
// gets it at once.
func stayAwake(b *testing.B) {
	b.Helper()
	for _, cpu := range cpuset.OfThread() {
		cmd := exec.Command("taskset", "-c", strconv.Itoa(cpu), "chrt", "--idle", "0", "sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}

// say prints a line. What a benchmark logs is cut after ten.
func say(format string, a ...any) { fmt.Printf("    "+format+"\n", a...) }

// bounded returns locbench with more time.
func bounded(b *testing.B, dir string, timeout time.Duration, args ...string) (code int, stdout, stderr string) {
	b.Helper()
	c := startLocbench(b, dir, args...)
	code = c.wait(timeout)
	return code, c.stdout.String(), c.stderr.String()
}

// reference returns the folder of the contender with variants, each slower by so much CPU time a
// request.
func reference(b *testing.B, slower map[string]time.Duration) string {
	b.Helper()
	variants := map[string]map[string]string{}
	for name, by := range slower {
		variants[name] = map[string]string{"SLOWER": by.String()}
	}
	return made(b, slowedBinary, "reference", map[string]string{"ELASTICSEARCH_URL": "{{.Elastic.URL}}"}, variants)
}

// block returns the trials of a variant in the i-th so many rounds.
func block(trials []bench.TrialResult, variant string, i, rounds int) (own []bench.TrialResult) {
	for _, l := range trials {
		if l.Trial.Variant == variant && (l.Trial.Round-1)/rounds == i {
			own = append(own, l)
		}
	}
	return own
}

// tally counts what was claimed.
type tally struct{ comparisons, measures, different, unfloored, throughput, anyWorse int }

func (t *tally) add(b *testing.B, name string, run bench.Run, before, after []bench.TrialResult, floor compare.Floor) {
	b.Helper()
	decided := func(f *compare.Floor) []compare.Row {
		r, err := compare.Compare(compare.Set{Run: analysis.Of(run, before)}, compare.Set{Run: analysis.Of(run, after)}, compare.Options{Floor: f})
		if err != nil {
			b.Fatal(err)
		}
		return r.Contenders[0].Rows
	}
	t.comparisons++
	worse := false
	for _, row := range decided(&floor) {
		t.measures++
		if row.Measure == measure.Throughput {
			say("%s: %s: %s", name, row.Measure, row.Sentence)
		}
		if row.Verdict != stats.Better && row.Verdict != stats.Worse {
			continue
		}
		if row.Measure != measure.Throughput {
			say("%s: %s: %s", name, row.Measure, row.Sentence)
		}
		t.different++
		worse = worse || row.Verdict == stats.Worse
		if row.Measure == measure.Throughput && row.Verdict == stats.Worse {
			t.throughput++
		}
	}
	if worse {
		t.anyWorse++
	}
	for _, row := range decided(nil) {
		if row.Verdict == stats.Better || row.Verdict == stats.Worse {
			t.unfloored++
		}
	}
}
