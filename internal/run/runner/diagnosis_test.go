package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSilentAtEnd: a contender is silent if it stopped responding, not if only some requests fail
// or none was sent.
func TestSilentAtEnd(t *testing.T) {
	timeouts := map[bench.ErrorKind]int64{bench.ErrTimeout: 2}
	responding, none := bench.Window{Succeeded: 600}, bench.Window{}
	for name, test := range map[string]struct {
		load bench.Load
		want bool
	}{
		"all is well":                    {bench.Load{Windows: []bench.Window{responding}, Backlog: 2, Counts: bench.Counts{Drain: 2}}, false},
		"no request was sent":            {bench.Load{Windows: []bench.Window{none}}, false},
		"some requests fail":             {bench.Load{Outcomes: bench.Outcomes{Failed: timeouts}, Windows: []bench.Window{responding}, Backlog: 2, Counts: bench.Counts{Drain: 1}}, false},
		"no success in the last second":  {bench.Load{Outcomes: bench.Outcomes{Failed: timeouts}, Windows: []bench.Window{responding, none}}, true},
		"stopped within the last second": {bench.Load{Outcomes: bench.Outcomes{Failed: timeouts}, Windows: []bench.Window{responding, responding}, Backlog: 2}, true},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Equal(t, silentAtEnd(test.load), test.want, "silent")
		})
	}
}

// TestStuckAtEnd: the requests of the load are sent again only if at least half of those in flight
// at the end of the last step, or all in its last second, had no response.
func TestStuckAtEnd(t *testing.T) {
	for name, test := range map[string]struct {
		timeouts, backlog, drain, last int64
		want                           bool
	}{
		"all":                         {16, 16, 0, 1, true},
		"half":                        {8, 16, 8, 1, true},
		"fewer than half":             {7, 16, 9, 1, false},
		"none in flight":              {5, 0, 0, 1, false},
		"none in flight at a timeout": {5, 0, 0, 0, true},
		"no response, but no timeout": {0, 16, 0, 0, false},
	} {
		l := bench.Load{
			Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: test.timeouts}}, Backlog: test.backlog, Counts: bench.Counts{Drain: test.drain},
			Windows: []bench.Window{{Succeeded: test.last}},
		}
		testenv.Equal(t, stuckAtEnd(l), test.want, name)
	}
}

// TestWithoutResponse: a step without any response, of any status.
func TestWithoutResponse(t *testing.T) {
	for name, test := range map[string]struct {
		load bench.Load
		want bool
	}{
		"timeouts, refused and reset": {bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 1, bench.ErrRefused: 1, bench.ErrReset: 1}}}, true},
		"another status":              {bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9, "5xx": 1}}}, false},
		"no other status":             {bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9, "5xx": 0}}}, true},
		"a success":                   {bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9}, Succeeded: 1}}, false},
		"a success in the lead-in":    {bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9}}, Counts: bench.Counts{Lead: 1}}, false},
	} {
		testenv.Equal(t, withoutResponse(test.load), test.want, name)
	}
}

// TestKilledProcesses: the first step after which the kernel counts a kill is named, with the kills
// of all.
func TestKilledProcesses(t *testing.T) {
	after := func(kills int64) bench.StepResult {
		return bench.StepResult{After: &bench.Usage{Memory: &bench.Memory{OOMKills: kills}}}
	}
	for want, steps := range map[string][]bench.StepResult{
		"": {after(0), {}, {After: &bench.Usage{}}},
		"lost 1 process, killed out of memory, first in step 2":   {after(0), after(1), after(1)},
		"lost 3 processes, killed out of memory, first in step 1": {after(1), {}, after(3)},
	} {
		l := &trialRun{steps: steps, inst: &fakeInstance{}}
		got := ""
		if err := l.killedProcesses(); err != nil {
			got = err.Error()
		}
		testenv.Equal(t, got, want)
	}
}

// TestNeverReady: a contender that runs and never responds in its first round is not started again
// in later ones, unless the user requests it. One that exits, has responded before, or had an
// incident is. The outcomes are in testdata/ready.
func TestNeverReady(t *testing.T) {
	silent := errors.New("not ready after 1m0s: last response of GET /: connection refused")
	// The contender b is always ready; a has the response in its three rounds.
	responds := func(response func(f *fakeRun, inst bench.Instance) error) func(*fakeRun) {
		return func(f *fakeRun) {
			f.cfg.Run.Profile.Rounds = 3
			f.cfg.Run.Trials = Order(f.cfg.Run.Profile.Contenders, 3, 42)
			f.ready(func(_ context.Context, inst bench.Instance, svc bench.Service) error {
				if svc.Name != "a" {
					return nil
				}
				return response(f, inst)
			})
		}
	}
	never := responds(func(*fakeRun, bench.Instance) error { return silent })
	outcomes(t, "ready", map[string]func(*fakeRun){
		"never": never,
		"never, and each round is requested": func(f *fakeRun) {
			never(f)
			f.cfg.RetryNotReady = true
		},
		"not in its second round": responds(func(_ *fakeRun, inst bench.Instance) error {
			if inst.BaseURL() == "http://a-2" {
				return silent
			}
			return nil
		}),
		"it exits": responds(func(_ *fakeRun, inst bench.Instance) error {
			inst.(*fakeInstance).die(bench.Exit{Code: 3})
			return silent
		}),
		"paused externally": responds(func(f *fakeRun, _ bench.Instance) error {
			f.launcher.onIncident(bench.Incident{Kind: bench.IncidentPaused, Text: "paused externally"})
			return silent
		}),
		"ready before the run was resumed": func(f *fakeRun) {
			f.rounds(3)
			f.cfg.Run.Trials[0].State = bench.TrialComplete
			f.ready(func(context.Context, bench.Instance, bench.Service) error { return silent })
		},
	})
}

// A target is neither built nor stopped, and its limits are not reported.
func TestRun_Target(t *testing.T) {
	f := start(t, func(f *fakeRun) {
		f.rounds(1)
		f.cfg.Run.Profile.Runtime = bench.RuntimeURL
		f.site.checks = noChecks{}
		f.site.launcher = launching(func(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
			inst, err := f.launcher.Launch(ctx, spec)
			inst.(*fakeInstance).info = bench.InstanceInfo{Runtime: bench.RuntimeURL}
			return inst, err
		})
		f.site.awaits = func(
			context.Context, bench.Instance, bench.Service, func(level, text string),
		) (bench.InstanceReady, error) {
			return bench.InstanceReady{}, nil
		}
	})
	testenv.OK(t, f.err)
	trial := f.trials["a-1"]
	if trial.StartUp != nil || trial.Stop != nil || len(trial.Warnings) > 0 || len(trial.Steps) != 3 ||
		len(f.phases("")) != 1 {
		t.Errorf("trial %+v, phases of the run %v", trial, f.phases(""))
	}
}

type launching func(context.Context, bench.LaunchSpec) (bench.Instance, error)

func (l launching) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	return l(ctx, spec)
}

// noChecks launches nothing, as for a target.
type noChecks struct{ fakeChecks }

func (noChecks) Launching(
	context.Context, Launcher, bench.LaunchSpec, bench.Service, func(bench.CheckResult),
) error {
	return nil
}

// Memory that grows in all steps is a warning of the last one, also if the contender is killed in it,
// and then without the time until the limit is reached.
func TestMemoryGrowth(t *testing.T) {
	for name, test := range map[string]struct {
		killed bool
		leaks  int64 // MiB per second
		want   string
	}{
		"grows":              {leaks: 4, want: "memory use grew by 4.10 KiB per request and did not come back: 1 GiB are full after another 4m00s"},
		"grows to its death": {killed: true, leaks: 4, want: "memory use grew by 4.10 KiB per request and did not come back"},
		"is killed":          {killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, func(f *fakeRun) {
				f.rounds(1)
				f.cfg.Run.Profile.Steps = append(f.cfg.Run.Profile.Steps[:2:2], bench.Step{Name: "two", Connections: 2}, f.cfg.Run.Profile.Steps[2])
				f.launcher.leaks = test.leaks << 20
				f.launcher.info = bench.InstanceInfo{LimitsEnforced: true, Limits: bench.Limits{Memory: 1 << 30}}
				f.site.engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
					load := bench.Load{Definition: bench.Interval}
					for second := range 4 {
						select {
						case <-time.After(time.Second):
						case <-ctx.Done():
							return load, ctx.Err()
						}
						load.Windows = append(load.Windows, bench.Window{Start: time.Duration(second) * time.Second,
							Length: time.Second, Succeeded: 1000})
						load.Succeeded, load.Sent, load.Elapsed = load.Succeeded+1000, load.Sent+1000, load.Elapsed+time.Second
						if test.killed && step.Connections == 4 && second == 2 {
							f.launcher.last().die(bench.Exit{Code: 137, OOMKilled: true})
						}
					}
					return load, nil
				})
			})
			steps := f.first().Steps
			var got bench.Warnings
			for _, w := range steps[len(steps)-1].Warnings {
				if w.Kind == bench.WarnMemoryGrowth {
					got = append(got, w)
				}
			}
			testenv.Equal(t, got.Join("|"), test.want)
			testenv.Equal(t, steps[3].Aborted != "", test.killed)
		})
	}
}

// A step has the CPU time of its busiest thread, interleaved or not; the fake one uses a second for each
// reading.
func TestBusiestThread(t *testing.T) {
	for name, interleave := range map[string]time.Duration{"plain": 0, "interleaved": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			f := start(t, func(f *fakeRun) { f.cfg.Run.Profile.Interleave = interleave })
			for _, s := range f.first().Steps {
				testenv.Check(t, s.BusiestThread != nil && *s.BusiestThread == s.After.CPU-s.Before.CPU && *s.BusiestThread > 0,
					"%v of %v", s.BusiestThread, s.After.CPU-s.Before.CPU)
				for _, u := range append(s.Samples, *s.Before, *s.After) {
					testenv.Check(t, u.ThreadCPU == nil, "a reading keeps the times of threads: %v", u.ThreadCPU)
				}
			}
		})
	}
}

// A measured step with a trend in its windows records a drift; a warm-up records none.
func TestDrift(t *testing.T) {
	f := start(t, func(f *fakeRun) {
		f.only(1)
		f.cfg.Run.Profile.Steps = []bench.Step{
			{Name: "warm", Connections: 1, WarmUp: true}, {Name: "one", Connections: 1}, {Name: "two", Connections: 2},
		}
		f.site.engine = &hookEngine{run: func(_ context.Context, step bench.Step, hooks Hooks) (bench.Load, error) {
			load := bench.Load{Started: time.Now(), Elapsed: 8 * time.Second}
			hooks.OnStart()
			hooks.OnEnd()
			for i := range 8 {
				rising := int64(1000)
				if step.Name != "two" {
					rising += 50 * int64(i)
				}
				start := time.Duration(i) * time.Second
				load.Windows = append(load.Windows, bench.Window{Start: start, Length: time.Second, Succeeded: rising})
				load.Succeeded += rising
			}
			return load, nil
		}}
	})
	testenv.OK(t, f.err)
	steps := f.trials["a-1"].Steps
	testenv.Need(t, len(steps) == 3, "%d steps", len(steps))
	const want = "still warming up: throughput rose by 41% over the step"
	if d := steps[1].Drift; steps[0].Drift != nil || steps[2].Drift != nil || d == nil || !strings.HasPrefix(d.String(), want) {
		t.Errorf("drifts %v, %v, %v", steps[0].Drift, d, steps[2].Drift)
	}
}

// A warm-up before a measured step continues while compilers of any of the interleaved contenders are at
// work, for all of them, at most a minute; one of a fixed length does not. What it did before is its lead-in.
func TestWarmUp(t *testing.T) {
	for _, test := range []struct {
		name     string
		compiles time.Duration // CPU time until which a compiles
		step     bench.Step
		apart    bool  // not interleaved
		before   bool  // a warm-up follows
		each     int64 // successes of a slice
		loads    [2]int
		drift    string
	}{
		{"idle", 0, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 10, [2]int{1, 1}, ""},
		{"of a fixed length", time.Hour, bench.Step{Duration: 4 * time.Second}, false, false, 10, [2]int{1, 1}, still50},
		{"for some time", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 10, [2]int{5, 5}, ""},
		{"for some time, with many requests", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 667, [2]int{3, 3}, ""},
		{"for some time, with half as many", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 334, [2]int{4, 4}, ""},
		{"alone", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, true, false, 10, [2]int{12, 1}, ""},
		{"before another warm-up", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, true, 10, [2]int{1, 1}, ""},
		{"for ever", time.Hour, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 10, [2]int{15, 15}, still50},
		{"for ever, from a long one on", time.Hour, bench.Step{UntilWarm: true, Duration: 53 * time.Second}, false, false, 10, [2]int{2, 2}, still50},
		{"longer than a minute", time.Hour, bench.Step{UntilWarm: true, Duration: 57 * time.Second}, false, false, 10, [2]int{1, 1}, still50},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &slicing{each: test.each}
			begun := 0
			f := start(t, func(f *fakeRun) {
				interleave(e)(f)
				f.only(2)
				f.launcher.compiles = map[string]time.Duration{"a-1": test.compiles}
				if test.apart {
					f.cfg.Run.Profile.Interleave = 0
				}
				test.step.Name, test.step.Connections, test.step.WarmUp = "warm", 1, true
				second := bench.Step{Name: "two", Connections: 2, WarmUp: test.before}
				f.cfg.Run.Profile.Steps = []bench.Step{test.step, second}
				f.on = func(rec bench.Record) {
					if e, ok := rec.Event.(bench.StepStarted); ok && e.Index == 0 {
						begun++
					}
				}
			})
			testenv.OK(t, f.err)
			testenv.Equal(t, begun, 2)
			for i, name := range []string{"a-1", "b-1"} {
				loads := 0
				for _, entry := range e.log {
					if entry == name+" warm" {
						loads++
					}
				}
				slices := slicesOfStep
				if test.apart {
					slices = 1
				}
				warm, two := f.trials[name].Steps[0], f.trials[name].Steps[1]
				testenv.Equal(t, loads, test.loads[i]*slices, name)
				testenv.Equal(t, warm.Load.Lead, test.each*int64(slices*(test.loads[i]-1)), name, "lead-in")
				testenv.Equal(t, warm.Step, test.step, name)
				kinds := map[bench.WarningKind]int{}
				for _, w := range warm.Warnings {
					kinds[w.Kind]++
					testenv.Equal(t, kinds[w.Kind], 1, name, w.Kind)
				}
				if want := test.drift; i == 1 && two.Drift != nil || i == 0 && (two.Drift == nil) != (want == "") ||
					two.Drift != nil && two.Drift.String() != want {
					t.Errorf("%s: %v, want %q", name, two.Drift, want)
				}
			}
		})
	}
}

const still50 = "still warming up: compilers took 50% of its CPU time in the second half of the step"
