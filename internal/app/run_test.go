package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

func TestTheRecordHoldsNoPassword(t *testing.T) {
	run := bench.Run{
		Profile: bench.Profile{Needs: []bench.NeedSpec{{From: bench.NeedExternal, URL: "http://elastic:secret@10.0.0.5:9200"}}},
		Targets: []bench.Target{{Name: "target", URL: "http://me:secret@127.0.0.1:8080"}},
		Command: []string{"locbench", "run", "--elastic", "http://elastic:secret@10.0.0.5:9200", "--target=http://me:secret@127.0.0.1:8080", "--target", "old=http://me:secret@127.0.0.1:8081", "--rounds", "6"},
	}
	data, err := json.Marshal(public(run))
	testenv.OK(t, err)
	testenv.Check(t, !strings.Contains(string(data), "secret"), "the record holds a password: %s", data)
	testenv.Check(t, strings.Contains(string(data), "http://10.0.0.5:9200") && strings.Contains(string(data), `"6"`),
		"the record lost more than the passwords: %s", data)
	testenv.Check(t, strings.Contains(run.Profile.Needs[0].URL, "secret"), "the running plan lost its password")
}

func TestResumingOnAChangedMachineWarns(t *testing.T) {
	was := bench.Run{Software: bench.Software{Locbench: "0.1.0", Docker: "20.10"}, Machine: bench.Machine{CPUs: 4}}
	if got := changes(was, was); len(got) > 0 {
		t.Errorf("nothing has changed, but: %q", got)
	}
	is := was
	is.Software.Docker, is.Machine.CPUs = "28.5", 2
	got := changes(was, is)
	if len(got) != 2 || !strings.Contains(got[0].Text, `a different Docker: was "20.10", now "28.5"`) || !strings.Contains(got[1].Text, "a different number of CPUs") {
		t.Errorf("%q", got)
	}
}

func TestMemoryOvercommit(t *testing.T) {
	run := bench.Run{Profile: bench.Profile{Interleave: 1, Limits: bench.Limits{Memory: 3 << 30}, Contenders: make([]bench.Selection, 3)}, Machine: bench.Machine{MemoryBytes: 8 << 30}}
	if got := memoryOvercommit(run); len(got) != 1 || got[0].Text != "3 contenders run at the same time and may use 9 GiB; this machine has 8 GiB" {
		t.Errorf("%q", got)
	}
	run.Profile.Contenders = run.Profile.Contenders[:1] // interleaved with itself
	if got := memoryOvercommit(run); got != nil {
		t.Errorf("%q", got)
	}
	run.Profile.Contenders, run.Profile.Interleave = make([]bench.Selection, 9), 0
	if got := memoryOvercommit(run); got != nil {
		t.Errorf("%q", got)
	}
}

// saved writes the record of an interrupted run, and an empty result of each trial that has begun,
// and returns its folder.
func saved(t testing.TB, run bench.Run) (dir string) {
	t.Helper()
	dir = t.TempDir()
	run.State = cmp.Or(run.State, bench.RunInterrupted)
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, results.RunFile), run))
	for _, e := range run.Trials {
		if e.State != bench.TrialPending {
			writeTrial(t, dir, e)
		}
	}
	return dir
}

// resumedPlan plans to resume a run.
func resumedPlan(t testing.TB, run bench.Run, o RunOptions) (Plan, error) {
	t.Helper()
	run.State = bench.RunInterrupted
	o.Resume, o.Getenv = saved(t, run), noEnv.Getenv
	return NewPlan(o)
}

func writeTrial(t testing.TB, dir string, e bench.TrialEntry) {
	t.Helper()
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, e.File), bench.TrialResult{Schema: bench.SchemaVersion, Trial: e.Trial, State: e.State}))
}

// Interleaved contenders run again together.
func TestResumeOfInterleaving(t *testing.T) {
	run := bench.Run{Schema: bench.SchemaVersion, ID: "r1", State: bench.RunInterrupted,
		Trials: []bench.TrialEntry{
			benchtest.Entry("a", 1, bench.TrialComplete), benchtest.Entry("b", 1, bench.TrialComplete),
			benchtest.Entry("b", 2, bench.TrialComplete), benchtest.Entry("a", 2, bench.TrialAborted),
		}}
	p, err := profile.Parse("p.yaml", []byte("contenders: [a, b]\nrounds: 2\ninterleave: 100ms\nrequests: [{path: /x}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	for interleave, want := range map[time.Duration]string{100 * time.Millisecond: "complete complete pending pending", 0: "complete complete complete pending"} {
		run.Profile = p
		run.Profile.Interleave = interleave
		again, err := resumable(saved(t, run))
		testenv.OK(t, err)
		var got []string
		for _, l := range again.Trials {
			got = append(got, string(l.State))
		}
		testenv.Equal(t, strings.Join(got, " "), want, interleave)
	}
}

// A complete trial whose file cannot be read is repeated, and said: in resume, and by all who read.
func TestResumeRepeatsWhatIsLost(t *testing.T) {
	p, err := profile.Parse("p.yaml", []byte("contenders: [a]\nrounds: 2\nrequests: [{path: /x}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	run := bench.Run{Schema: bench.SchemaVersion, ID: "r1", State: bench.RunComplete, Profile: p,
		Trials: []bench.TrialEntry{benchtest.Entry("a", 1, bench.TrialComplete), benchtest.Entry("a", 2, bench.TrialComplete)}}
	for name, c := range map[string]struct {
		damage func(path string) error
		want   string
	}{
		"lost":    {os.Remove, "a-2.json is missing"},
		"empty":   {func(path string) error { return os.Truncate(path, 0) }, "a-2.json: line 1: unexpected end of JSON input"},
		"cut":     {func(path string) error { return os.Truncate(path, 30) }, "a-2.json: line 4: unexpected end of JSON input"},
		"swapped": {func(path string) error { return os.Rename(filepath.Join(filepath.Dir(path), "a-1.json"), path) }, "a-2.json holds trial a-1"},
		"bytes of something else behind it": {func(path string) error {
			was, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, append(was, 1, 0, 0, 0, 0, 0, 0, 0), 0o600))
		}, `invalid character '\x01' after top-level value`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := saved(t, run)
			testenv.Fails(t, testenv.Err(resumable(dir)), "nothing to resume")
			testenv.OK(t, c.damage(filepath.Join(dir, "a-2.json")))
			again, err := resumable(dir)
			testenv.OK(t, err)
			testenv.Equal(t, again.Trials[1].State, bench.TrialPending)
			testenv.Contains(t, strings.Join(lostOnRecord(dir), "\n"), "repeated trial a-2 is lost: ", c.want)
			_, _, err = results.Read(dir)
			testenv.Fails(t, err, c.want, "run again what is lost: locbench run --resume "+dir)
		})
	}
}

// TestResumePlansUnderTheLock: the plan is not read while another locbench continues the run.
func TestResumePlansUnderTheLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	trial := benchtest.Entry("go-nethttp", 1, bench.TrialComplete)
	p, err := profile.Parse("p.yaml", []byte("contenders: [go-nethttp]\nrequests: [{path: /x}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	other, err := results.Create(dir, bench.Run{Schema: bench.SchemaVersion, ID: "r1", State: bench.RunRunning, Profile: p, Trials: []bench.TrialEntry{trial}}, nil)
	testenv.OK(t, err)
	resume := func(want string) {
		t.Helper()
		testenv.Fails(t, Run(t.Context(), noEnv, RunOptions{Resume: dir}), want)
	}
	writeTrial(t, dir, trial)
	resume("another locbench is writing to " + dir)
	other.Close()
	resume("nothing to resume")
	resume("nothing to resume") // the first call has released the lock
}

// TestResumeUsesTheRecordedFolder: the services folder of the run needs not be named again, is
// printed, and is missed with its path; one that is named goes first.
func TestResumeUsesTheRecordedFolder(t *testing.T) {
	services := testenv.Folder(t, map[string]string{"orders/service.yaml": ofOrders("1")})
	p, err := profile.Parse("p.yaml", []byte("contenders: [orders]\nrequests: [{path: /, header: {X-A: '${RESUME_TEST}'}}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	dir := saved(t, bench.Run{Schema: bench.SchemaVersion, ID: "r1", Profile: p, Services: []string{services},
		Trials: []bench.TrialEntry{benchtest.Entry("orders", 1, bench.TrialAborted)}})
	plan, err := NewPlan(RunOptions{Resume: dir})
	testenv.Check(t, err == nil && plan.Services[bench.Selection{Contender: "orders"}].Docker.Image == "orders:1",
		"%v, %+v", err, plan.Services)
	// Without its variable of the environment the run ends before anything is started.
	for name, c := range map[string]struct {
		o       RunOptions
		printed bool
	}{
		"text":                  {RunOptions{Resume: dir}, true},
		"worker of a dashboard": {RunOptions{Resume: dir, Worker: true}, false}, // it publishes it
		"named":                 {RunOptions{Resume: dir, Services: []string{services}}, false},
	} {
		var printed strings.Builder
		err := Run(t.Context(), console.Env{Stdout: io.Discard, Stderr: &printed, Getenv: noEnv.Getenv}, c.o)
		testenv.Fails(t, err, "RESUME_TEST")
		got := strings.Contains(printed.String(), "services "+services+" (on record)")
		testenv.Equal(t, got, c.printed, name, printed.String())
	}
	testenv.OK(t, os.RemoveAll(services))
	want := "the services folder of this run, " + services + ", was not found; name it with --services DIR"
	testenv.Fails(t, testenv.Err(NewPlan(RunOptions{Resume: dir})), want)
}

// A report that does not fit on the disk is a warning with what to do; another error stays one.
func TestNoReport(t *testing.T) {
	warning, err := noReport("my results", fmt.Errorf("write report.html: %w", syscall.ENOSPC))
	testenv.OK(t, err)
	testenv.Fails(t, warning, "no report: write report.html", "free space, then: locbench report 'my results'")
	warning, err = noReport("x", errors.New("broken"))
	testenv.Fails(t, err, "broken")
	testenv.OK(t, warning)
}

// A contender that had no success is a failure, before missed thresholds; so is an excluded one.
func TestEnding(t *testing.T) {
	late := func(s *bench.StepResult) {
		s.Load.Sent, s.Load.Lead, s.Load.Drain, s.Load.FirstResponse = 2, 1, 1, 15*time.Second
	}
	missed := func(s *bench.StepResult) { s.Thresholds = []bench.ThresholdResult{{Condition: "p99<50ms"}} }
	trial := func(label string, successes int64, changes ...func(*bench.StepResult)) bench.TrialResult {
		return benchtest.Trial(label, 1, benchtest.Step(successes, changes...))
	}
	refused := benchtest.Errors(bench.ErrRefused, 9)
	const longer = "no request ended within the step: give steps of at least 1m"
	for _, c := range []struct {
		name   string
		trials []bench.TrialResult
		code   int
		text   string
	}{
		{"responds", []bench.TrialResult{trial("a", 9)}, console.ExitOK, ""},
		{"a missed threshold", []bench.TrialResult{trial("a", 9, missed)}, console.ExitThreshold, "thresholds missed: 1"},
		{"has no success", []bench.TrialResult{trial("a", 9), trial("b:lto", 0, late)}, console.ExitContender, "b:lto: " + longer},
		{"has no success, and misses a threshold", []bench.TrialResult{trial("a", 0, late, missed)}, console.ExitContender, "a: " + longer},
		{"two have no success", []bench.TrialResult{trial("a", 0, late), trial("b", 0)}, console.ExitContender,
			"a: " + longer + "; b: no request was sent in the step"},
		{"each request failed", []bench.TrialResult{trial("a", 0, refused)}, console.ExitContender,
			"a failed every request; first: connection refused: excluded from comparison"},
		{"one each", []bench.TrialResult{trial("a", 0, refused), trial("b", 0, late)}, console.ExitContender,
			"a failed every request; first: connection refused: excluded from comparison\nb: " + longer},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := benchtest.Run(c.trials...)
			for i, trial := range c.trials {
				run.Trials[i].Excluded = run.ExclusionOf(trial)
			}
			err := endingOf(analysis.Of(run, slices.Clone(c.trials))).err()
			testenv.Equal(t, console.ExitCode(t.Context(), err), c.code)
			if err != nil {
				testenv.Equal(t, err.Error(), c.text)
			}
		})
	}
}

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
