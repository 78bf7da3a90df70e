package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// Steps chosen by Config.Next end when it returns false; two steps without success do not end them.
func TestRun_StepsChosenByNext(t *testing.T) {
	var connections []int
	f := start(t, func(f *fakeRun) {
		f.rounds(1)
		f.site.engine = fakeEngine(func(_ context.Context, s bench.Step) (bench.Load, error) {
			connections = append(connections, s.Connections)
			return bench.Load{Elapsed: time.Second}, nil
		})
		f.cfg.Next = func(_ context.Context, trial bench.Trial, done []bench.StepResult) (bench.Step, bool) {
			for i, r := range done {
				testenv.Check(t, r.Index == i && trial.Contender == "a", "%s: step %d has index %d", trial, i, r.Index)
			}
			return bench.Step{Connections: 10 * (len(done) + 1)}, len(done) < 4
		}
	})
	testenv.OK(t, f.err)
	testenv.Check(t, slices.Equal(connections, []int{10, 20, 30, 40}) && len(f.trials["a-1"].Steps) == 4,
		"steps %v, %d in the result", connections, len(f.trials["a-1"].Steps))
	for _, r := range f.records {
		e, ok := r.Event.(bench.StepStarted)
		testenv.Check(t, !ok || e.Of >= e.Index+1, "step %d of %d", e.Index+1, e.Of)
	}
}

// The first requests are timed once, between the ready response and the checks, and only if the
// profile has first_requests.
func TestRun_FirstRequests(t *testing.T) {
	for _, c := range []struct {
		spec *bench.FirstRequestsSpec
		err  error
	}{
		{nil, nil},
		{&bench.FirstRequestsSpec{Requests: 3}, nil},
		{&bench.FirstRequestsSpec{Requests: 3}, errors.New("no request")},
	} {
		f := start(t, func(f *fakeRun) {
			f.rounds(1)
			f.cfg.Run.Profile.FirstRequests = c.spec
			f.site.first = func(context.Context, Place) (bench.FirstRequests, error) {
				return bench.FirstRequests{First: bench.RequestPhases{Total: time.Second}}, c.err
			}
		})
		trial, order := f.trials["a-1"], strings.Join(f.phases("a-1"), " ")
		if c.err != nil {
			testenv.Fails(t, f.err, "time the first requests: no request")
			testenv.Equal(t, trial.State, bench.TrialFailed)
			continue
		}
		testenv.OK(t, f.err)
		timed, kept := c.spec != nil, trial.FirstRequests
		if timed != (kept != nil) || timed && kept.First.Total != time.Second ||
			timed != strings.Contains(order, "ready timing check load") {
			t.Errorf("want timed: %t, kept %+v, phases %s", timed, kept, order)
		}
	}
}

// paced is an engine with a throughput for each contender; a rate is what is sent.
type paced struct {
	perSecond map[string]int64
	fail      string // the contender whose steps with a rate fail; "": none
}

func (paced) Rest(Place) {}

func (e paced) Run(_ context.Context, at Place, step bench.Step, hooks Hooks) (bench.Load, error) {
	n := e.perSecond[at.Trial.Contender]
	if step.Rate > 0 {
		n = int64(step.Rate)
	}
	hooks.OnStart()
	time.Sleep(time.Second)
	hooks.OnEnd()
	if hooks.Interleave != nil {
		hooks.Interleave.Next()
	}
	if step.Open() && at.Trial.Contender == e.fail {
		return bench.Load{}, fmt.Errorf("no more ports")
	}
	return bench.Load{Counts: bench.Counts{Sent: n}, Outcomes: bench.Outcomes{Succeeded: n}, Elapsed: time.Second}, nil
}

// TestRun_LowestPeak: a share of the lowest peak is one rate for all contenders of an interleaved
// round. One after the other, it is that of the contenders measured so far.
func TestRun_LowestPeak(t *testing.T) {
	for _, c := range []struct {
		name  string
		slice time.Duration
		fail  string
		want  map[string]float64
	}{
		{"interleaved", sliceLength, "", map[string]float64{"a-1": 50, "b-1": 50, "a-2": 50, "b-2": 50}},
		{"one after the other, the slow one first", 0, "", map[string]float64{"b-1": 50, "a-1": 50, "a-2": 50, "b-2": 50}},
		{"the slow one fails", 0, "b", map[string]float64{"b-1": 50, "a-1": 150, "a-2": 150, "b-2": 50}},
	} {
		rates := map[string]float64{}
		start(t, func(f *fakeRun) {
			f.cfg.Run.Profile.Interleave = c.slice
			f.cfg.Run.Profile.Steps = []bench.Step{{Name: "one", Connections: 1}, {Name: "half", PeakShare: 0.5, LowestPeak: true}}
			if f.cfg.Run.Trials[0].Trial.Contender != "b" {
				tr := f.cfg.Run.Trials
				tr[0], tr[1] = tr[1], tr[0]
			}
			f.site.engine = paced{map[string]int64{"a": 300, "b": 100}, c.fail}
			f.on = func(rec bench.Record) {
				if e, ok := rec.Event.(bench.StepStarted); ok && e.Index == 1 {
					rates[rec.Trial.String()] = e.Step.Rate
				}
			}
		})
		testenv.Equal(t, fmt.Sprint(rates), fmt.Sprint(c.want), c.name)
	}
}

// TestThresholds: what is left of a run with thresholds, in testdata/thresholds. A third of the
// requests fail from the second step on.
func TestThresholds(t *testing.T) {
	with := func(th bench.Threshold, changes ...func(*fakeRun)) func(*fakeRun) {
		return func(f *fakeRun) {
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{th}
			f.site.engine = fakeEngine(func(_ context.Context, step bench.Step) (bench.Load, error) {
				load := bench.Load{Outcomes: bench.Outcomes{Succeeded: 100, Failed: map[bench.ErrorKind]int64{}}, Elapsed: time.Second}
				if step.Name != "one" {
					load.Failed["5xx"] = 50
				}
				return load, nil
			})
			for _, change := range changes {
				change(f)
			}
		}
	}
	outcomes(t, "thresholds", map[string]func(*fakeRun){
		"nothing stops":                    with(bench.Threshold{Condition: "errors<10%"}),
		"the trial stops":                  with(bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial}),
		"the run stops":                    with(bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeRun}),
		"the trial, from the third step":   with(bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial, FromStep: 3}),
		"the run, from the third step":     with(bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeRun, FromStep: 3}),
		"a passed threshold stops nothing": with(bench.Threshold{Condition: "errors<50%", Stop: bench.ScopeRun}),
		"a failed contender comes before missed thresholds": with(
			bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial},
			func(f *fakeRun) {
				f.site.build = func(_ context.Context, svc bench.Service, _ func(string)) (bench.Artifact, error) {
					if svc.Name == "b" {
						return bench.Artifact{}, errors.New("no compiler")
					}
					return bench.Artifact{}, nil
				}
			}),
		"an exit after a missed threshold": with(
			bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial},
			func(f *fakeRun) {
				f.only(1)
				f.site.setUp = func(context.Context, Place) error { return nil }
				f.site.tearDown = func(context.Context, Place) error {
					f.launcher.last().die(bench.Exit{Code: 7})
					return nil
				}
			}),
		"all interleaved trials stop": func(f *fakeRun) {
			interleave(&slicing{})(f)
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{
				{Condition: "throughput>1000000", Stop: bench.ScopeRun, FromStep: 2},
			}
		},
	})
}

// The readings before a measured interval are those of its lead-in, after the last one of the step
// before.
func TestReadingsOfTheLeadIn(t *testing.T) {
	at := func(s int) bench.Usage { return bench.Usage{At: benchtest.Start().Add(time.Duration(s) * time.Second)} }
	samples := []bench.Usage{at(1), at(2), at(3)}
	from := at(2)
	testenv.Equal(t, before(samples, &from), samples[:1])
	testenv.Equal(t, before(samples, nil), samples)
	last := at(0)
	for name, c := range map[string]struct {
		steps []bench.StepResult
		want  []bench.Usage
	}{
		"the first step":          {},
		"a step without readings": {steps: []bench.StepResult{{After: &from}, {}}},
		"a later step":            {steps: []bench.StepResult{{}, {After: &last}}, want: []bench.Usage{last}},
	} {
		testenv.Equal(t, (&trialRun{steps: c.steps}).lastReading(), c.want, name)
	}
}

// TestRun_ChecksOfStarts: checks that launch a contender run in its first round, and again only
// if they could not end there.
func TestRun_ChecksOfStarts(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fakeRun)
		want   []string
	}{
		{"plain", nil, []string{"a-1", "b-1"}},
		{"interleaved", interleave(&slicing{}), []string{"a-1", "b-1"}},
		{"interleaved with itself", func(f *fakeRun) {
			interleave(&slicing{})(f)
			f.rounds(4)
		}, []string{"a-1"}},
		{"resumed", func(f *fakeRun) {
			for i, e := range f.cfg.Run.Trials {
				if e.Trial.Round == 1 {
					f.cfg.Run.Trials[i].State = bench.TrialComplete
				}
			}
		}, []string{"a-2", "b-2"}},
		{"not launched in round 1", func(f *fakeRun) {
			f.site.spec = func(name string, _ bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
				if name == "b-1" {
					return bench.LaunchSpec{}, errors.New("no free port")
				}
				return bench.LaunchSpec{Name: name, Artifact: a}, nil
			}
		}, []string{"a-1", "b-2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, c.change)
			var checked []string
			for _, name := range f.launcher.names {
				if trial, ok := strings.CutSuffix(name, "-without-environment"); ok {
					checked = append(checked, trial)
				}
			}
			slices.Sort(checked)
			testenv.Equal(t, checked, c.want, "starts checked in")
			testenv.Check(t, c.name != "plain" || len(f.trials["a-2"].Checks) == 3,
				"round 2 lacks checks of the running contender: %+v", f.trials["a-2"].Checks)
		})
	}
}
