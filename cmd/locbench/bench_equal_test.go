//go:build acceptance && linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// referenceSteps allows for the length of the measured step. It needs seconds: on a virtual machine
// the speed of a CPU varies by 8% from half second to half second.
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

// BenchmarkAA counts false differences, and real ones that are found. The reference contender runs
// as two identical variants, and as a third with more CPU time per request: under a quota its
// throughput is 10% lower. The variants alternate. Every six rounds are one comparison of five
// headline measures, decided as 'locbench compare' does, with the noise floor of a 'locbench
// calibrate' just before. It asserts nothing: the noise depends on the machine.
//
// STEP is the length of a step. With AWAKE=1 a process of the idle class runs on every CPU, and
// none is given back to a hypervisor, which is slow to return it; the CPU use of the machine is
// wrong then, and so are all bottlenecks. ONLY=slowed skips the A/A part. With INTERLEAVE=100ms the
// contenders of a round are interleaved; a comparison is then of eight rounds, or of ROUNDS.
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
	comparisons := number("COMPARISONS", 10)
	dir := b.TempDir()
	interleave, rounds := "", stats.MinInterval
	if t := os.Getenv("INTERLEAVE"); t != "" {
		interleave, rounds = "interleave: "+t+"\n", stats.MinPaired
	}
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil && n >= stats.MinInterval {
		rounds = n
	}
	profile := profileFile(b, fmt.Sprintf(referenceSteps, interleave, step))
	floor, cost := calibrated(b, dir, profile, step)
	say("floor: %s", floor.Words())

	// A share of 10% of the CPU time is a ninth more of it.
	slower := (cost / 9).Round(100 * time.Nanosecond)
	services := reference(b, map[string]time.Duration{"a": 0, "b": 0, "slowed": slower})
	args := []string{"run", "reference:a", "reference:slowed", "-p", profile, "--services", services, "--rounds", strconv.Itoa(comparisons * rounds), "--headless", "-o", "runs"}
	same := os.Getenv("ONLY") != "slowed"
	if same {
		args = append(args, "reference:b")
	}
	code, _, stderr := bounded(b, dir, time.Duration(comparisons*rounds)*3*(step+10*time.Second), args...)
	testenv.Need(b, code == 0, "exit code %d:\n%s", code, stderr)
	run, trials := read(b, filepath.Join(dir, "runs"))
	testenv.Check(b, floor.Fits(run), "'locbench compare' would not take this floor for this run")
	block := func(variant string, i int) compare.Set { // the trials of a variant in the i-th block of rounds
		return compare.Set{Run: analysis.Of(run, slices.DeleteFunc(slices.Clone(trials), func(t bench.TrialResult) bool {
			return t.Trial.Variant != variant || (t.Trial.Round-1)/rounds != i
		}))}
	}
	aa, unfloored, slow := tally{}, tally{}, tally{}
	for i := range comparisons {
		if same {
			aa.add(b, fmt.Sprint("A/A ", i+1), block("a", i), block("b", i), &floor)
			unfloored.add(b, "", block("a", i), block("b", i), nil)
		}
		slow.add(b, fmt.Sprint("slowed ", i+1), block("a", i), block("slowed", i), &floor)
	}
	whole := analysis.Of(run, trials)
	tally{}.add(b, fmt.Sprint("slowed, all rounds ", comparisons*rounds), compare.Set{Run: whole, Contender: "reference:a"}, compare.Set{Run: whole, Contender: "reference:slowed"}, nil)
	say("A request of %v costs %v more. Without the floor %d of %d measures of equal contenders differ.", cost, slower, unfloored.different(), unfloored.all())
	if same {
		aa.reportEqual(b)
	}
	slow.reportFound(b, measure.Throughput, comparisons)
}

// calibrated runs 'locbench calibrate' on the reference contender, and returns its noise floor and
// the CPU time per request at peak.
func calibrated(b *testing.B, dir, profile string, step time.Duration) (compare.Floor, time.Duration) {
	b.Helper()
	code, stdout, stderr := bounded(b, dir, 16*(step+10*time.Second), "calibrate", "reference:a", "-p", profile, "--services", reference(b, map[string]time.Duration{"a": 0}), "--json", "-o", "calibrate")
	var floor compare.Floor
	err := json.Unmarshal([]byte(stdout), &floor)
	testenv.Need(b, err == nil, "exit code %d, %v:\n%s", code, err, stderr)
	return floor, costOf(b, filepath.Join(dir, "calibrate"))
}

// costOf returns the CPU time of a request of the first contender of a run, at its peak.
func costOf(b *testing.B, dir string) time.Duration {
	b.Helper()
	run, trials := read(b, dir)
	peak, ok := stats.Summarize(run, trials)[0].PeakStep()
	each := measure.Get(measure.CPURequest).Over(peak)
	testenv.Need(b, ok && each.Known, "the CPU time of a request is not known")
	return time.Duration(each.Value)
}

// stayAwake keeps every CPU from becoming idle until the benchmark ends. It yields to other work at
// once.
func stayAwake(b *testing.B) {
	b.Helper()
	for _, cpu := range cpuset.OfThread() {
		spin(b, "taskset", "-c", strconv.Itoa(cpu), "chrt", "--idle", "0")
	}
}

// spin runs a process that keeps a CPU busy until the benchmark ends, by the command before it.
func spin(b *testing.B, before ...string) {
	b.Helper()
	command := append(before, "sh", "-c", "while :; do :; done")
	cmd := exec.Command(command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testenv.OK(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// say prints a line. A benchmark's own log is cut after ten lines.
func say(format string, a ...any) { fmt.Printf("    "+format+"\n", a...) }

// bounded runs locbench with a longer timeout.
func bounded(b *testing.B, dir string, timeout time.Duration, args ...string) (code int, stdout, stderr string) {
	b.Helper()
	c := startLocbench(b, dir, args...)
	code = c.wait(timeout)
	return code, c.stdout.String(), c.stderr.String()
}

// reference returns the folder of the contender with variants, each slower by that CPU time per
// request.
func reference(b *testing.B, slower map[string]time.Duration) string {
	b.Helper()
	return made(b, "reference", map[string]string{"ELASTICSEARCH_URL": "{{.Elastic.URL}}"},
		variants("SLOWER", slower))
}

// variants gives each variant a time in a variable of the environment.
func variants(variable string, times map[string]time.Duration) map[string]map[string]string {
	all := map[string]map[string]string{}
	for name, each := range times {
		all[name] = map[string]string{variable: each.String()}
	}
	return all
}

// tally counts the verdicts on each measure.
type tally map[measure.ID]map[stats.Verdict]int

// add compares as 'locbench compare' does, and prints it under a name.
func (t tally) add(b *testing.B, name string, before, after compare.Set, floor *compare.Floor) {
	b.Helper()
	r := testenv.Must(compare.Compare(before, after, compare.Options{Floor: floor}))(b)
	for _, row := range r.Contenders[0].Rows {
		if measure.Get(row.Measure).Comparison.Apart {
			continue
		}
		if t[row.Measure] == nil {
			t[row.Measure] = map[stats.Verdict]int{}
		}
		if t[row.Measure][row.Verdict]++; name != "" {
			say("%s: %-12s %-44s %s", name, row.Measure, row.At, row.Sentence)
		}
	}
}

func (t tally) different() (n int) {
	for _, of := range t {
		n += of[stats.Better] + of[stats.Worse]
	}
	return n
}

func (t tally) all() (n int) {
	for _, of := range t {
		n += of[stats.Better] + of[stats.Worse] + of[stats.Same] + of[stats.Inconclusive]
	}
	return n
}

// reportEqual reports how many measures of equal contenders differ.
func (t tally) reportEqual(b *testing.B) {
	say("Equal contenders: %d of %d measures differ.", t.different(), t.all())
	b.ReportMetric(100*float64(t.different())/float64(max(1, t.all())), "false-%")
	b.ReportMetric(0, "ns/op")
}

// reportFound reports in how many comparisons a measure was called worse.
func (t tally) reportFound(b *testing.B, m measure.ID, comparisons int) {
	for id, of := range t {
		say("%s: better %d, worse %d, same %d, inconclusive %d", id, of[stats.Better], of[stats.Worse], of[stats.Same], of[stats.Inconclusive])
	}
	b.ReportMetric(100*float64(t[m][stats.Worse])/float64(comparisons), "found-%")
	b.ReportMetric(0, "ns/op")
}

// burnt is the CPU time that a request of the contender burns, in addition to what HTTP takes.
const burnt = 200 * time.Microsecond

// BenchmarkDefaults counts, at the default settings of 'locbench profiles new', how many measures
// of equal contenders differ, and how often MORE percent (15) more CPU time per request is found.
// Each comparison is a separate run, decided as 'locbench compare DIR' does. The peaks are flat:
// the contender is bound by its CPU time from a few connections on. It asserts nothing.
//
// COMPARISONS is the number of both kinds (10), ONLY=same or ONLY=slower leaves out the other kind,
// SPIN=1 runs a spinning process next to it, RUNTIME is docker (default) or process, and QUICK=1 is
// one second a step, for a look at the harness itself.
//
//	make bench-default
func BenchmarkDefaults(b *testing.B) {
	runtime := cmp.Or(os.Getenv("RUNTIME"), "docker")
	if runtime == "docker" {
		testenv.Docker(b)
	}
	comparisons, more := number("COMPARISONS", 10), number("MORE", 15)
	dir := b.TempDir()
	code, _, stderr := bounded(b, dir, time.Minute, "profiles", "new", "default.yaml")
	testenv.Need(b, code == 0, "%v", stderr)
	if os.Getenv("SPIN") == "1" {
		spin(b)
	}
	measured := func(folder string, args ...string) (bench.Run, []bench.TrialResult) {
		args = append([]string{"run", "-p", "default.yaml", "--runtime", runtime, "--headless", "-o", folder}, args...)
		if os.Getenv("QUICK") == "1" {
			args = append(args, "--duration", "1s")
		}
		code, _, stderr := bounded(b, dir, 30*time.Minute, args...)
		testenv.Need(b, code == 0, "exit code %d:\n%s", code, stderr)
		return read(b, filepath.Join(dir, folder))
	}
	measured("first", "burner:a", "--rounds", "1", "--services", burners(b, map[string]time.Duration{"a": burnt}))
	cost := costOf(b, filepath.Join(dir, "first"))
	slower := burnt + cost*time.Duration(more)/100
	services := burners(b, map[string]time.Duration{"a": burnt, "b": burnt, "slower": slower})
	say("A request takes %v of CPU time, and %v more (%d%%) of the slower contender.", cost, slower-burnt, more)
	count := func(kind, other string) tally {
		all := tally{}
		for i := range comparisons {
			folder := kind + strconv.Itoa(i+1)
			began := time.Now()
			run, trials := measured(folder, "burner:a", "burner:"+other, "--services", services)
			say("%s, %v, interleaved %v:", folder, time.Since(began).Round(time.Second), run.Profile.Interleave > 0)
			of := analysis.Of(run, trials)
			all.add(b, folder, compare.Set{Run: of, Contender: "burner:a"}, compare.Set{Run: of, Contender: "burner:" + other}, nil)
		}
		return all
	}
	only := os.Getenv("ONLY")
	if only != "slower" {
		count("same", "b").reportEqual(b)
	}
	if only != "same" {
		count("slower", "slower").reportFound(b, measure.CPURequest, comparisons)
	}
}

// burners returns the folder of the contender, with one variant for each CPU time of a request.
func burners(b testing.TB, burn map[string]time.Duration) string {
	b.Helper()
	return made(b, "burner", map[string]string{}, variants("CPU", burn))
}
