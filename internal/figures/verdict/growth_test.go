package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// growing returns a step of 20 s in which 1,000 requests a second end. Memory grows by kib for each
// second, from MiB used at its beginning.
func growing(mib, kib int64) bench.StepResult {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	usage := func(second int64) bench.Usage {
		used := mib<<20 + kib<<10*second
		return bench.Usage{At: start.Add(time.Duration(second) * time.Second), Memory: &bench.Memory{Used: used}}
	}
	before, after := usage(0), usage(20)
	s := bench.StepResult{
		Step: bench.Step{Connections: 16}, Before: &before, After: &after,
		Load: bench.Load{Definition: bench.Interval, Succeeded: 20_000, Elapsed: 20 * time.Second},
	}
	for second := range int64(20) {
		s.Samples = append(s.Samples, usage(second))
		s.Load.Windows = append(s.Load.Windows, bench.Window{
			Start: time.Duration(second) * time.Second, Length: time.Second, Succeeded: 1000,
		})
	}
	return s
}

// Memory grows with the requests of steps of the same, constant load only.
func TestMemoryGrowth(t *testing.T) {
	short := func(mib int64) bench.StepResult { // 8 readings and 8 MiB: too little alone
		s := growing(mib, 1024)
		s.Samples, s.Load.Windows = s.Samples[:7], s.Load.Windows[:8]
		s.Load.Succeeded = 8000
		s.After.At, s.After.Memory.Used = s.Before.At.Add(8*time.Second), (mib+8)<<20
		return s
	}
	with := func(s bench.StepResult, change func(*bench.StepResult)) bench.StepResult { change(&s); return s }
	const grew = "memory use grew by 1.02 KiB per request at an unchanged load"
	for name, test := range map[string]struct {
		steps []bench.StepResult
		limit int64
		want  string // "": no warning
	}{
		"no step":            {},
		"constant":           {steps: []bench.StepResult{growing(100, 0)}},
		"a leak":             {steps: []bench.StepResult{growing(100, 1024)}, want: grew},
		"below a limit":      {steps: []bench.StepResult{growing(100, 1024)}, limit: 256 << 20, want: grew + ": 256 MiB are full after another 2"},
		"above its limit":    {steps: []bench.StepResult{growing(100, 1024)}, limit: 110 << 20, want: grew},
		"a limit far away":   {steps: []bench.StepResult{growing(100, 1024)}, limit: 1 << 60, want: grew},
		"a short step":       {steps: []bench.StepResult{short(100)}},
		"two short steps":    {steps: []bench.StepResult{short(100), short(108)}, want: grew},
		"after another load": {steps: []bench.StepResult{with(short(100), func(s *bench.StepResult) { s.Step.Connections = 1 }), short(108)}},
		"after another rate": {steps: []bench.StepResult{with(short(100), func(s *bench.StepResult) { s.Step.Rate = 10 }), short(108)}},
		"after another request": {
			steps: []bench.StepResult{with(short(100), func(s *bench.StepResult) { s.Step.Request = "b" }), short(108)},
		},
		"an aborted step": {steps: []bench.StepResult{with(growing(100, 1024), func(s *bench.StepResult) { s.Aborted = "x" })}},
		"a ramp":          {steps: []bench.StepResult{with(growing(100, 1024), func(s *bench.StepResult) { s.Step.RampTo = 64 })}},
		"a ramp down":     {steps: []bench.StepResult{with(growing(100, 1024), func(s *bench.StepResult) { s.Step.RampFrom = 64 })}},
		"a wave":          {steps: []bench.StepResult{with(growing(100, 1024), func(s *bench.StepResult) { s.Step.Wave = &bench.Wave{} })}},
		"arrivals":        {steps: []bench.StepResult{with(growing(100, 1024), func(s *bench.StepResult) { s.Step.Arrivals = &bench.Arrivals{} })}},
	} {
		got := MemoryGrowth(test.steps, test.limit)
		text := got.Join("|")
		if !strings.HasPrefix(text, test.want) || (text == "") != (test.want == "") || test.want == grew && text != grew {
			t.Errorf("%s: %q, want %q", name, text, test.want)
		}
		if test.want != "" && len(got) == 1 && (got[0].Kind != bench.WarnMemoryGrowth || got[0].Values[bench.GrowthRate] < 1000 || got[0].Values[bench.GrowthRate] > 1050) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
