package verdict_test

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
)

// growing returns a step of some seconds in which 1,000 requests a second end, some of them
// rejected and failed. Memory grows by 1 MiB each second, from MiB used at its beginning.
func growing(seconds, mib int64) step {
	usage := func(second int64) bench.Usage {
		at := time.Date(2026, 1, 1, 0, 0, int(second), 0, time.UTC)
		return bench.Usage{At: at, Memory: &bench.Memory{Used: (mib + second) << 20}}
	}
	before, after := usage(0), usage(seconds)
	failed := map[bench.ErrorKind]int64{bench.ErrReset: 100}
	s := step{
		Step: bench.Step{Connections: 16}, Before: &before, After: &after,
		Load: load{
			Definition: bench.Interval, Elapsed: time.Duration(seconds) * time.Second, Outcomes: bench.Outcomes{Succeeded: 700 * seconds, Rejected: bench.Statuses{429: 200 * seconds}, Failed: map[bench.ErrorKind]int64{bench.ErrReset: 100 * seconds}},
		},
	}
	for second := range seconds {
		s.Samples = append(s.Samples, usage(second))
		s.Load.Windows = append(s.Load.Windows, bench.Window{
			Start: time.Duration(second) * time.Second, Length: time.Second, Succeeded: 700, Rejected: 200,
			Failed: failed,
		})
	}
	return s
}

// Memory grows with the requests of steps of the same request at constant loads only.
func TestMemoryGrowth(t *testing.T) {
	with := func(s step, change func(*step)) step { change(&s); return s }
	leak, short := []step{growing(20, 100)}, []step{growing(7, 100)}
	but := func(change func(*step)) []step {
		return []step{with(growing(20, 100), change)}
	}
	after := func(change func(*step)) []step { // 8 seconds and 8 MiB are too little alone
		return []step{with(growing(7, 100), change), growing(7, 107)}
	}
	steps := func(n int, change func(int, *step)) (all []step) { // of 6 seconds each
		for i := range n {
			s := growing(5, 100+5*int64(i))
			change(i, &s)
			all = append(all, s)
		}
		return all
	}
	whole := func(int, *step) {}
	collected := func(times int) []step { // falls by 3 MiB some times
		return but(func(s *step) {
			for i := 0; i < times; i++ {
				s.Samples[4*i+2].Memory.Used += 3 << 20
			}
		})
	}
	const grew = "memory use grew by 1.02 KiB per request and did not come back"
	for _, test := range []struct {
		name  string
		steps []step
		limit int64 // MiB
		want  string
	}{
		{"no step", nil, 0, ""},
		{"a leak", leak, 0, grew},
		{"one step below a limit", leak, 256, grew},
		{"four steps", steps(4, whole), 256, grew + ": 256 MiB are full after another 3m14s"},
		{"three steps", steps(3, whole), 256, grew},
		{"four steps with a warm-up", steps(4, func(i int, s *step) { s.Step.WarmUp = i == 0 }), 256, grew},
		{"four steps, one still warming up", steps(4, func(i int, s *step) {
			if i == 0 {
				s.Drift = &bench.Drift{Compiled: 0.5}
			}
		}), 256, grew},
		{"in a warm-up after four steps", steps(5, func(i int, s *step) { s.Step.WarmUp = i == 4 }), 256, grew},
		{"four collections", collected(4), 256, grew + ": 256 MiB are full after another 3m14s"},
		{"three collections", collected(3), 256, grew},
		{"a quarter of a year below a limit", collected(4), 5_600_000, grew + ": 5.34 TiB are full after another 2222h10m"},
		{"two years below a limit", collected(4), 50_000_000, grew},
		{"at its limit", collected(4), 120, grew},
		{"above its limit", collected(4), 110, grew},
		{"only errors", but(func(s *step) { s.Load.Succeeded = 0 }), 256, grew},
		{"a short step", short, 0, ""},
		{"two short steps", after(func(*step) {}), 0, grew},
		{"after other connections", after(func(s *step) { s.Step.Connections = 1 }), 0, grew},
		{"after another rate", after(func(s *step) { s.Step.Rate = 10 }), 0, grew},
		{"after a ramp", after(func(s *step) { s.Step.RampTo = 64 }), 0, ""},
		{"after another request", after(func(s *step) { s.Step.Request = "b" }), 0, ""},
		{"an aborted step", but(func(s *step) { s.Aborted = "x" }), 0, ""},
		{"a ramp", but(func(s *step) { s.Step.RampTo = 64 }), 0, ""},
		{"a ramp of connections", but(func(s *step) { s.Step.RampFrom = 1 }), 0, ""},
		{"a wave", but(func(s *step) { s.Step.Wave = &bench.Wave{} }), 0, ""},
		{"arrivals", but(func(s *step) { s.Step.Arrivals = &bench.Arrivals{} }), 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := verdict.MemoryGrowth(test.steps, test.limit<<20)
			testenv.Check(t, got.Join("|") == test.want, "%q, want %q", got, test.want)
			if test.want != "" && (got[0].Kind != bench.WarnMemoryGrowth ||
				int(got[0].Values[bench.GrowthRate]) != 1048) {
				t.Errorf("%+v", got[0])
			}
		})
	}
}
