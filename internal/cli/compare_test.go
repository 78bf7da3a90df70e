package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// resultsFolder writes a run of n rounds of the contenders in rates, with their throughput ± 1%.
func resultsFolder(t *testing.T, n int, cpus float64, rates map[string]int64) string {
	t.Helper()
	var trials []bench.TrialResult
	for round := 1; round <= n; round++ {
		for _, name := range []string{"b", "a", "c"} {
			if rate, ok := rates[name]; ok {
				step := benchtest.Step(rate + rate*int64(round%3-1)/100)
				trials = append(trials, benchtest.Trial(name, round, step))
			}
		}
	}
	run := benchtest.Run(trials...)
	run.Profile.Limits = bench.Limits{CPUs: cpus}
	return writeResults(t, run, trials)
}

// writeResults writes a results folder and returns it.
func writeResults(t *testing.T, run bench.Run, trials []bench.TrialResult) string {
	t.Helper()
	dir := t.TempDir()
	for i, trial := range trials {
		testenv.OK(t, results.WriteJSON(filepath.Join(dir, run.Trials[i].File), trial))
	}
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, results.RunFile), run))
	return dir
}

func TestCompare(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000, "b": 10_000})
	again := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000, "b": 10_000})
	slower := resultsFolder(t, 6, 1.5, map[string]int64{"a": 9_000, "b": 10_000})
	brief := resultsFolder(t, 3, 1.5, map[string]int64{"a": 5_000})
	silent := resultsFolder(t, 6, 1.5, map[string]int64{"a": 0})
	silent1 := resultsFolder(t, 1, 1.5, map[string]int64{"a": 0})
	other := resultsFolder(t, 6, 2, map[string]int64{"a": 5_000})
	three := resultsFolder(t, 1, 2, map[string]int64{"a": 5_000, "b": 5_000, "c": 5_000})
	for _, test := range []struct {
		name     string
		args     []string
		code     int
		out, err string // that standard output and standard error hold
	}{
		{"the same", []string{base, again}, console.ExitOK, "same within 3%: 0.0% (", ""},
		{"the same, gated", []string{base, again, "--fail-on", "throughput<-5%"}, console.ExitOK, "", "passed  a throughput<-5%"},
		{"a run.json", []string{filepath.Join(base, results.RunFile), again}, console.ExitOK, "6 rounds → 6 rounds", ""},
		{"slower, no gate", []string{base, slower}, console.ExitOK, "worse: −10.0% (", ""},
		{"slower, gated", []string{base, slower, "--fail-on", "throughput<-5%"}, console.ExitThreshold, "worse: −10.0% (", "1 change fails --fail-on"},
		{"slower, allowed", []string{base, slower, "--fail-on", "throughput<-15%"}, console.ExitOK, "worse", "passed  a throughput<-15%"},
		{"slower, as a comment", []string{base, slower, "--format", "md", "--fail-on", "throughput<-5%"}, console.ExitThreshold,
			"### ✗ a: peak throughput 10.0% lower", "1 change fails --fail-on"},
		{"another format", []string{base, slower, "--format", "html"}, console.ExitUsage, "", "expected text, md or json"},
		{"as JSON", []string{base, slower, "--json", "--fail-on", "throughput<-5%"}, console.ExitThreshold,
			`"measure": "throughput"…"verdict": "worse"…"measure": "cpu"…"gates": […"contender": "a", "gate": "throughput…"outcome": "failed"`, ""},
		{"on the edge", []string{base, slower, "--fail-on", "throughput<-10%"}, console.ExitOK, "worse", "unsure  a throughput<-10%: −10.0% ("},
		{"a wide margin", []string{base, slower, "--same", "15%"}, console.ExitOK, "same within 15%", ""},
		{"below the floor", []string{base, slower, "--floor", "20%"}, console.ExitOK, "below the noise floor (20%)", ""},
		{"gated, below the floor", []string{base, slower, "--floor", "20%", "--fail-on", "throughput<-5%"}, console.ExitOK, "", "unsure  a throughput<-5%"},
		{"a floor of a busy machine", []string{base, slower, "--floor", "753.2%"}, console.ExitOK, "below the noise floor (753%)", ""},
		{"no floor", []string{base, slower, "--floor", "low"}, console.ExitUsage, "", "--floor: "},
		{"three rounds", []string{base, brief, "--fail-on", "throughput<-5%"}, console.ExitUndecided, "3 rounds, need ≥ 6: 3 more rounds per side",
			"open    a throughput<-5%"},
		{"three rounds, the error", []string{base, brief, "--fail-on", "throughput<-5%,start-up>+5%"}, console.ExitUndecided, "",
			"locbench: --fail-on not decided: 2 of 2 changes open (--fail-on-open pass returns 0)"},
		{"three rounds, open passes", []string{base, brief, "--fail-on", "throughput<-5%", "--fail-on-open", "pass"}, console.ExitOK,
			"need ≥ 6", "open    a throughput<-5%"},
		{"three rounds, open fails", []string{base, brief, "--fail-on", "throughput<-5%", "--fail-on-open", "fail"}, console.ExitUndecided,
			"need ≥ 6", "open    a throughput<-5%"},
		{"another outcome of open", []string{base, brief, "--fail-on", "throughput<-5%", "--fail-on-open", "maybe"}, console.ExitUsage, "",
			`--fail-on-open "maybe": expected fail or pass`},
		{"nothing succeeded", []string{base, silent, "--fail-on", "throughput<-5%"}, console.ExitThreshold,
			"1,000/s  0/s  worse: 1,000/s → 0/s: nothing succeeded in new, p", "failed  a throughput<-5%: 1,000/s → 0/s: nothing succeeded in new"},
		{"nothing succeeded, one round", []string{base, silent1, "--fail-on", "throughput<-5%", "--fail-on-open", "pass"}, console.ExitThreshold,
			"", "failed  a throughput<-5%: nothing succeeded in new"},
		{"two contenders", []string{slower, "a", "b"}, console.ExitOK, "a → b", ""},
		{"unknown contender", []string{slower, "a", "c"}, console.ExitFailure, "",
			`no contender "c"; choose one of b, a`},
		{"other limits", []string{base, other}, console.ExitOK, "limits: 1.5 CPUs → 2 CPUs: not comparable", ""},
		{"other limits, gated", []string{base, other, "--fail-on", "throughput<-5%"}, console.ExitFailure, "not comparable: −50.0%", "--fail-on not checked: "},
		{"other limits, forced", []string{base, other, "--fail-on", "throughput<-5%", "--force"}, console.ExitThreshold, "worse: −50.0%", "1 change fails --fail-on"},
		{"no folder", []string{base, t.TempDir()}, console.ExitFailure, "", "is not a results folder"},
		{"contenders only", []string{"a", "b:x"}, console.ExitFailure, "", "two contenders of one run: locbench compare DIR a b:x"},
		{"an improvement", []string{base, again, "--fail-on", "throughput>+5%"}, console.ExitUsage, "", "throughput<-5%"},
		{"no margin", []string{base, again, "--same", "3"}, console.ExitUsage, "", "expected 0% to 100%, such as 3%"},
		{"one folder with two contenders", []string{slower}, console.ExitOK, "b → a", ""},
		{"one folder with one contender", []string{other}, console.ExitUsage, "", "has one contender, a: name a second results folder"},
		{"one folder with three contenders", []string{three}, console.ExitUsage, "",
			"has 3 contenders: name two: b, a, c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, out, errs := shell(nil).runs(t, append([]string{"compare"}, test.args...)...)
			testenv.Equal(t, code, test.code)
			has(t, "standard output", out, test.out)
			has(t, "standard error", errs, test.err)
		})
	}
}

// compare applies a calibrated noise floor to results of the same load next to it, and to no
// others.
func TestCompare_Floor(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000})
	slower := resultsFolder(t, 6, 1.5, map[string]int64{"a": 9_000})
	says(t, 0, "worse: −10.0%…No noise floor is known", "compare", base, slower)
	calibration := resultsFolder(t, 12, 1.5, map[string]int64{"a": 10_000})
	says(t, 0, "'locbench compare' applies this", "calibrate", "--from", calibration)
	// A floor of 1% does not hide a difference of 10%.
	says(t, 0, "worse: −10.0%…Noise floor: throughput 1.0% (a vs itself, 6 rounds per side", "compare", base, slower)
	// A newer floor of 20% hides it.
	f := testenv.Must(app.ReadFloor(filepath.Join(calibration, app.FloorFile)))(t)
	newer := filepath.Join(filepath.Dir(calibration), "newer")
	testenv.OK(t, os.Mkdir(newer, 0o755))
	f.Made, f.Measures[0].Floor = f.Made.Add(time.Hour), .2
	testenv.OK(t, app.WriteFloor(newer, f))
	says(t, 0, "below the noise floor (20%)", "compare", base, filepath.Join(slower, "run.json"))
	says(t, 0, "worse: −10.0%", "compare", base, slower, "--floor", "none")
	// Results with other limits, or of another machine, are not of the same load.
	two := resultsFolder(t, 6, 2, map[string]int64{"a": 10_000})
	half := resultsFolder(t, 6, 2, map[string]int64{"a": 5_000})
	says(t, 0, "worse…No noise floor", "compare", two, half)
	elsewhere := (bench.Run{Machine: bench.Machine{CPUs: 4}})
	testenv.Check(t, !f.Fits(elsewhere), "a floor of another machine fits")
}

// An invalid file is ignored.
func TestCompare_HostileFloor(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000})
	file := filepath.Join(base, app.FloorFile)
	for _, content := range []string{"", "[]", `{"schema":4}`, `{"measures":[{"floor":1e999}]}`, strings.Repeat("[",
		1<<16),
		`{"schema":4,"measures":null,"machine":7}`} {
		testenv.OK(t, os.WriteFile(file, []byte(content), 0o600))
		says(t, 0, "No noise floor", "compare", base, base)
	}
	// A floor that fits, with hostile texts and numbers.
	run, _ := readResults(t, base)
	hostile := compare.Floor{Schema: compare.FloorSchema, Contender: "a\x1b[31m",
		ProfileHash: compare.ProfileHash(run.Profile),
		Machine:     run.Machine, Measures: []compare.MeasureFloor{{Measure: "throughput", Floor: -1},
			{Measure: "x\x1b]0;owned\x07", Floor: 3}}}
	testenv.OK(t, app.WriteFloor(base, hostile))
	lacks(t, "compare", says(t, 0, "Noise floor: ", "compare", base, base), "\x1b", "\x07")
	testenv.OK(t, os.Remove(file))
	testenv.OK(t, os.Mkdir(file, 0o755))
	testenv.Check(t, testenv.Err(app.ReadFloor(file)) != nil, "a folder is read as a floor")
}

// The folder of a search with several limits has no run: its reports are those of the search.
func TestReport_Search(t *testing.T) {
	dir, page := t.TempDir(), filepath.Join(t.TempDir(), "x.html")
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, capacity.File), capacitytest.Record(capacitytest.Several()...)))
	says(t, 0, "Capacity of go-nethttp: Run go-nethttp with 1 CPU", "report", dir, "--format", "md")
	says(t, 0, page, "report", dir, "--out", page)
	says(t, 1, results.RunFile, "report", dir, "--format", "csv")
}
