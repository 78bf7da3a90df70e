package runner

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

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
			if c.name == "plain" && len(f.trials["a-2"].Checks) != 3 {
				t.Errorf("round 2 lacks checks of the running contender: %+v", f.trials["a-2"].Checks)
			}
		})
	}
}
