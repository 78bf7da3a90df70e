package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// gone is an instance whose process has ended according to the kernel.
type gone struct {
	*fakeInstance
	is bool
}

func (g gone) Gone() bool { return g.is }

// TestExited: the kernel knows of the exit at once, the runtime reports it later.
func TestExited(t *testing.T) {
	killed := bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}
	for name, tt := range map[string]struct {
		gone    bool
		reports time.Duration // when the runtime reports the exit; 0: never
		want    bool
		waits   time.Duration
	}{
		"runs":                  {false, 0, false, 0},
		"reported seconds late": {true, 12 * time.Second, true, 12 * time.Second},
		"never reported":        {true, 0, false, exitTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inst := gone{newFakeInstance(bench.InstanceInfo{}), tt.gone}
				if tt.reports > 0 {
					time.AfterFunc(tt.reports, func() { inst.die(killed) })
				}
				l, began := &trialRun{inst: inst}, time.Now()
				if got := l.exited(t.Context()); got != tt.want || time.Since(began) != tt.waits {
					t.Errorf("exited: %v after %v", got, time.Since(began))
				}
			})
		})
	}
}

// said is an instance with a log.
type said struct {
	*fakeInstance
	log []string
}

func (s said) Logs() (lines []bench.LogLine) {
	for _, text := range s.log {
		lines = append(lines, bench.LogLine{Text: text})
	}
	return lines
}

// TestCause_Log: one sentence with the line that explains it; the log follows once.
func TestCause_Log(t *testing.T) {
	trace := []string{"node:internal/loader", "  throw err;", "Error: cannot read config.json", "    at main", "Node.js v18"}
	for name, tt := range map[string]struct {
		exit *bench.Exit
		want string
	}{
		"exits":            {&bench.Exit{Code: 1}, "the contender died: exit code 1: Error: cannot read config.json"},
		"does not respond": {nil, "not ready after 20s; its log: Error: cannot read config.json"},
		"killed":           {&bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}, "killed out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, func(f *fakeRun) {
				f.only(1)
				f.site.launcher = launching(func(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
					inst, err := f.launcher.Launch(ctx, spec)
					return said{inst.(*fakeInstance), trace}, err
				})
				f.ready(func(_ context.Context, inst bench.Instance, _ bench.Service) error {
					if tt.exit != nil {
						inst.(said).die(*tt.exit)
					}
					return errors.New("not ready after 20s")
				})
			})
			trial := f.first()
			testenv.Check(t, trial.Failure == tt.want && len(trial.LastLog) == len(trace),
				"%q, want %q; log %+v", trial.Failure, tt.want, trial.LastLog)
			c := trial.WhyFailed()
			testenv.Check(t, tt.exit == nil || c != nil && c.String() == tt.want, "cause %+v, want %q", c, tt.want)
		})
	}
}

// TestRun_IgnoredSIGTERM: a contender that ignored SIGTERM in its first round is killed at
// once in later ones, unless a check times the stop or the teardown had no response.
func TestRun_IgnoredSIGTERM(t *testing.T) {
	twice := []time.Duration{15 * time.Second, 15 * time.Second}
	for name, c := range map[string]struct {
		change func(*fakeRun)
		graces []time.Duration // of contender a in its rounds
		warned int
	}{
		"ignores it":                {func(f *fakeRun) { f.launcher.killed = true }, []time.Duration{15 * time.Second, 0}, 1},
		"handles it, does not stop": {func(f *fakeRun) { f.launcher.killed, f.launcher.handles = true, true }, twice, 0},
		"handles it, after another failure": {func(f *fakeRun) {
			f.launcher.killed, f.launcher.handles = true, true
			f.site.ask = func(context.Context, Place) error { return errors.New("got 404") }
		}, twice, 2},
		"stops on it": {func(*fakeRun) {}, twice, 0},
		"its stop is checked": {func(f *fakeRun) {
			f.launcher.killed = true
			f.cfg.Run.Profile.Checks.Lifecycle = []string{bench.CheckStops}
		}, twice, 2},
		"teardown without response": {func(f *fakeRun) {
			f.launcher.killed = true
			f.site.setUp = func(context.Context, Place) error { return nil }
			f.site.tearDown = func(context.Context, Place) error { return timeoutError{"i/o timeout"} }
		}, twice, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, c.change)
			var graces []time.Duration
			for _, inst := range f.launcher.instances {
				if strings.HasPrefix(inst.name, "a-") {
					graces = append(graces, inst.grace)
				}
			}
			graces = graces[1:] // without that of the lifecycle checks
			warned := 0
			for _, r := range f.records {
				if n, ok := r.Event.(bench.Notice); ok && n.Kind == bench.WarnHung && r.Trial.Contender == "a" {
					warned++
				}
			}
			testenv.Check(t, slices.Equal(graces, c.graces) && warned == c.warned,
				"graces %v, want %v; warned %d times, want %d", graces, c.graces, warned, c.warned)
			last := f.trials["a-2"].Stop
			testenv.Check(t, c.graces[1] != 0 || last.Killed && last.Forced, "stop %+v", last)
		})
	}
}
