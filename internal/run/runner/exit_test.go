package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locbench/internal/bench"
)

// gone is an instance whose process has ended, as the kernel has it.
type gone struct {
	*fakeInstance
	is bool
}

func (g gone) Gone() bool { return g.is }

// TestDead_EngineIsLate: the kernel knows of the end at once, the runtime says of it later.
func TestDead_EngineIsLate(t *testing.T) {
	killed := bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}
	for name, tt := range map[string]struct {
		gone  bool
		tells time.Duration // after so long; 0: never
		want  bool
		waits time.Duration
	}{
		"lives":             {false, 0, false, 0},
		"told seconds late": {true, 12 * time.Second, true, 12 * time.Second},
		"never told":        {true, 0, false, lateEnd},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inst := gone{newFakeInstance(bench.InstanceInfo{}), tt.gone}
				if tt.tells > 0 {
					time.AfterFunc(tt.tells, func() { inst.die(killed) })
				}
				l, began := &trialRun{inst: inst}, time.Now()
				if got := l.dead(t.Context()); got != tt.want || time.Since(began) != tt.waits {
					t.Errorf("dead: %v after %v", got, time.Since(began))
				}
			})
		})
	}
}

// TestDead_IsNoSilence: one that has died by the end of a step that ended in silence is not said to
// hang, and its trial ends there.
func TestDead_IsNoSilence(t *testing.T) {
	refused := bench.Load{Failed: map[bench.ErrorKind]int64{"connect": 45}, Examples: map[bench.ErrorKind]string{"connect": "connection refused"}}
	f, err := start(t, context.Background(), func(f *fakeRun) {
		f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
		f.launcher.gone = true
		f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
			if step.Connections == 2 {
				inst := f.launcher.last()
				time.AfterFunc(10*time.Millisecond, func() { inst.die(bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}) })
				return refused, nil
			}
			return good(ctx, step)
		})
	})
	trial := f.trials[f.order[0]]
	if !errors.Is(err, ErrTrials) || trial.State != bench.TrialFailed || trial.Exit == nil || !trial.Exit.OOMKilled || !strings.Contains(trial.Failure, "out of memory") {
		t.Errorf("%v; trial %s, %q, exit %+v", err, trial.State, trial.Failure, trial.Exit)
	}
	if len(trial.Steps) != 2 || trial.Steps[1].Ending != bench.EndedByDeath || !strings.Contains(trial.Steps[1].Aborted, "died") {
		t.Errorf("steps %+v", trial.Steps)
	}
}
