package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/locbench/locbench/internal/bench"
)

// startsOf returns the trials with checks that launched their contender.
func startsOf(f *fakeRun) (checked []string) {
	for _, name := range f.launcher.names {
		if trial, ok := strings.CutSuffix(name, "-without-environment"); ok {
			checked = append(checked, trial)
		}
	}
	slices.Sort(checked)
	return checked
}

// TestStartsAreCheckedOnce: checks that launch a contender run in its first round, and again only
// if they could not end there.
func TestStartsAreCheckedOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fakeRun)
		want   []string
	}{
		{"plain", nil, []string{"a-1", "b-1"}},
		{"interleaved", interleave(&slicing{}), []string{"a-1", "b-1"}},
		{"interleaved with itself", func(f *fakeRun) {
			interleave(&slicing{})(f)
			f.cfg.Run.Profile.Contenders = f.cfg.Run.Profile.Contenders[:1]
			f.cfg.Run.Trials = Order(f.cfg.Run.Profile.Contenders, 4, 1)
		}, []string{"a-1"}},
		{"resumed", func(f *fakeRun) {
			for i, e := range f.cfg.Run.Trials {
				if e.Trial.Round == 1 {
					f.cfg.Run.Trials[i].State = bench.TrialComplete
				}
			}
		}, []string{"a-2", "b-2"}},
		{"not launched in round 1", func(f *fakeRun) {
			f.cfg.Spec = func(name string, _ bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
				if name == "b-1" {
					return bench.LaunchSpec{}, errors.New("no free port")
				}
				return bench.LaunchSpec{Name: name, Artifact: a}, nil
			}
		}, []string{"a-1", "b-2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, _ := start(t, context.Background(), c.change)
				if got := startsOf(f); !slices.Equal(got, c.want) {
					t.Errorf("checked the starts in %v, want %v", got, c.want)
				}
				if c.name == "plain" && len(f.trials["a-2"].Checks) != 3 {
					t.Errorf("round 2 lacks checks of the running contender: %+v", f.trials["a-2"].Checks)
				}
			})
		})
	}
}
