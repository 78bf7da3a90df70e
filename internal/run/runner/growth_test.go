package runner

import (
	"context"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

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
