package load

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A request that outlasts the interval is in no quantile: how long it took is said. An interleaved
// closed loop counts it as any other.
func TestDrain_LongestIsKept(t *testing.T) {
	const straggles = 1500 * time.Millisecond
	for name, test := range map[string]struct {
		step   bench.Step
		slices bool
		warned string
	}{
		"closed":                 {bench.Step{Connections: 4}, false, "successes ended after the measured interval and took up to 1.50 s: p99 and max (5.0"},
		"open":                   {bench.Step{Rate: 400}, false, "successes ended after the measured interval and took up to 1.50 s: p99 and max (5.0"},
		"slices":                 {bench.Step{Connections: 4}, true, ""},
		"slices of an open loop": {bench.Step{Rate: 400}, true, "successes ended after their slices and took up to 1.50 s: p99 and max (5.0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newContender(t, func(n int64) time.Duration {
					if n == 100 {
						return straggles
					}
					return 5 * time.Millisecond
				})
				p := plan(virtualURL, 0, 0)
				p.Step = test.step
				p.Step.Duration = 500 * time.Millisecond
				if test.slices {
					p.Interleave = &interleaving{length: 250 * time.Millisecond, next: func() {}}
				}
				l, err := c.engine().Run(t.Context(), p, nil)
				testenv.OK(t, err)
				drained := l.DrainMax.Round(time.Millisecond)
				if test.warned == "" {
					if l.Drain != 0 || drained != 0 || l.Latency.Max.Round(time.Second/100) != straggles || l.Warnings.Has(bench.WarnSlowDrain) {
						t.Errorf("%d of the drain took up to %s, those of the interval %s: %s", l.Drain, drained, l.Latency.Max, l.Warnings)
					}
					return
				}
				if l.Drain == 0 || drained != straggles || l.Latency.Max >= straggles {
					t.Errorf("%d of the drain took up to %s, those of the interval %s", l.Drain, drained, l.Latency.Max)
				}
				testenv.Contains(t, l.Warnings.Join("|"), test.warned)
			})
		})
	}
}
