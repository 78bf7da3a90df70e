//go:build acceptance && linux

package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

var burnerBinary = sync.OnceValues(func() (string, error) { return goBuild("burner", "./testdata/burner") })

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
	if code, _, stderr := bounded(b, dir, time.Minute, "profiles", "new", "default.yaml"); code != 0 {
		b.Fatal(stderr)
	}
	if os.Getenv("SPIN") == "1" {
		spin(b)
	}
	measured := func(folder string, args ...string) (bench.Run, []bench.TrialResult) {
		args = append([]string{"run", "-p", "default.yaml", "--runtime", runtime, "--headless", "-o", folder}, args...)
		if os.Getenv("QUICK") == "1" {
			args = append(args, "--duration", "1s")
		}
		if code, _, stderr := bounded(b, dir, 30*time.Minute, args...); code != 0 {
			b.Fatalf("exit code %d:\n%s", code, stderr)
		}
		return read(b, filepath.Join(dir, folder))
	}
	run, trials := measured("first", "burner:a", "--rounds", "1", "--services", burners(b, map[string]time.Duration{"a": burnt}))
	peak, ok := stats.Summarize(run, trials)[0].PeakStep()
	cost := measure.Get(measure.CPURequest).Over(peak)
	if !ok || !cost.Known {
		b.Fatal("the CPU time of a request is not known")
	}
	slower := burnt + time.Duration(cost.Value*float64(more)/100)
	services := burners(b, map[string]time.Duration{"a": burnt, "b": burnt, "slower": slower})
	say("A request takes %v of CPU time, and %v more (%d%%) of the slower contender.", time.Duration(cost.Value), slower-burnt, more)

	count := func(kind, other string) (all map[measure.ID]map[stats.Verdict]int) {
		all = map[measure.ID]map[stats.Verdict]int{}
		for i := range comparisons {
			folder := kind + strconv.Itoa(i+1)
			began := time.Now()
			run, trials := measured(folder, "burner:a", "burner:"+other, "--services", services)
			took := time.Since(began).Round(time.Second)
			of := analysis.Of(run, trials)
			result, err := compare.Compare(compare.Set{Run: of, Contender: "burner:a"}, compare.Set{Run: of, Contender: "burner:" + other}, compare.Options{})
			testenv.OK(b, err)
			say("%s, %v, interleaved %v:", folder, took, run.Profile.Interleave > 0)
			for _, row := range result.Contenders[0].Rows {
				if measure.Get(row.Measure).Comparison.Apart {
					continue
				}
				if all[row.Measure] == nil {
					all[row.Measure] = map[stats.Verdict]int{}
				}
				all[row.Measure][row.Verdict]++
				say("  %-12s %-44s %s", row.Measure, row.At, row.Sentence)
			}
		}
		for _, m := range measure.Tested() {
			n := all[m.ID]
			say("%s, %s: better %d, worse %d, same %d, inconclusive %d", kind, m.ID, n[stats.Better], n[stats.Worse], n[stats.Same], n[stats.Inconclusive])
		}
		return all
	}
	only := os.Getenv("ONLY")
	if only != "slower" {
		different, measures := 0, 0
		for _, n := range count("same", "b") {
			different += n[stats.Better] + n[stats.Worse]
			measures += n[stats.Better] + n[stats.Worse] + n[stats.Same] + n[stats.Inconclusive]
		}
		say("Equal contenders: %d of %d measures differ.", different, measures)
		b.ReportMetric(100*float64(different)/float64(max(1, measures)), "false-%")
	}
	if only != "same" {
		found := count("slower", "slower")[measure.CPURequest][stats.Worse]
		say("%d%% more CPU time per request: found in %d of %d.", more, found, comparisons)
		b.ReportMetric(100*float64(found)/float64(comparisons), "found-%")
	}
	b.ReportMetric(0, "ns/op")
}

// burners returns the folder of the contender, with one variant for each CPU time of a request.
func burners(b *testing.B, burn map[string]time.Duration) string {
	b.Helper()
	variants := map[string]map[string]string{}
	for name, each := range burn {
		variants[name] = map[string]string{"CPU": each.String()}
	}
	return made(b, burnerBinary, "burner", map[string]string{}, variants)
}

// spin keeps one CPU busy until the benchmark ends.
func spin(b *testing.B) {
	b.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testenv.OK(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}
