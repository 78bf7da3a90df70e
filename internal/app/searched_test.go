package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/testenv"
)

// A search with several limits has its own reports next to those of its runs. If a run is lost, the
// other reports are still written.
func TestRewriteSearchReports(t *testing.T) {
	dir, r := t.TempDir(), capacitytest.Record(capacitytest.Several()...)
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, capacity.File), r))
	for _, p := range r.Points[1:] {
		trial := benchtest.Trial("go-nethttp", 1, benchtest.Step(1000))
		trial.Steps[0].Warnings = bench.Warnings{{Text: "of a probe"}}
		run := benchtest.Run(trial)
		run.Machine, run.Profile.Limits = bench.Machine{CPUModel: "the model"}, p.Limits
		run.Warnings = bench.Warnings{{Text: "the machine was busy"}}
		folder := filepath.Join(dir, p.Dir)
		testenv.OK(t, os.Mkdir(folder, 0o700))
		testenv.OK(t, results.WriteJSON(filepath.Join(folder, results.RunFile), run))
		testenv.OK(t, results.WriteJSON(filepath.Join(folder, run.Trials[0].File), trial))
	}
	testenv.Equal(t, SearchesLimits(dir), true)
	written, err := RewriteSearchReports(dir)
	testenv.Check(t, err != nil && strings.Contains(err.Error(), r.Points[0].Dir), "%v", err)
	testenv.Equal(t, len(written), 2*len(r.Points))
	page := string(testenv.Must(os.ReadFile(filepath.Join(dir, results.ReportFile)))(t))
	for _, want := range []string{"Run go-nethttp with 1 CPU", "the model", "the machine was busy", "cpus-2/report.html"} {
		testenv.Check(t, strings.Contains(page, want), "no %q", want)
	}
	testenv.Check(t, !strings.Contains(page, "of a probe"), "a warning that belongs into the report of its limit")
	testenv.Equal(t, strings.Count(page, "<li>Run warning: “the machine was busy”"), 1, "warnings")

	elsewhere := filepath.Join(t.TempDir(), "x.html")
	written, err = WriteSearchReports(dir, elsewhere)
	testenv.OK(t, err)
	testenv.Equal(t, written, []string{elsewhere})
}

func TestReadSearch_Invalid(t *testing.T) {
	for want, change := range map[string]func(*capacity.Record){
		"outside the record's folder": func(r *capacity.Record) { r.Points[0].Dir = "../x" },
		"-1 is not a rate":            func(r *capacity.Record) { r.Points[0].Result.Rate = -1 },
		"1e+300 is not a rate":        func(r *capacity.Record) { r.Points[0].Limits.CPUs = 1e300 },
		"1e-300 is not a rate":        func(r *capacity.Record) { r.Points[0].Result.Rate = 1e-300 },
	} {
		t.Run(want, func(t *testing.T) {
			dir, r := t.TempDir(), capacitytest.Record(capacitytest.Service{CPUs: 1, Holds: 100})
			change(&r)
			testenv.OK(t, results.WriteJSON(filepath.Join(dir, capacity.File), r))
			_, err := ReadSearch(dir)
			testenv.Check(t, err != nil && strings.Contains(err.Error(), want), "%v", err)
		})
	}
}
