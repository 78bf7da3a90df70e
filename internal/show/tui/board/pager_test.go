package board

import (
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestPager(t *testing.T) {
	entry := func(i int) []string { return slices.Repeat([]string{itoa(i)}, 1+i%2) } // 0 1 1 2 3 3 4 5 5
	for _, c := range []struct {
		grows bool
		moves []int
		want  string
	}{
		{false, nil, "0 1 1 2"}, {false, []int{1}, "1 1 2 3"}, {false, []int{100}, "4 5 5"}, {false, []int{100, -1}, "3 3 4 5"}, {false, []int{-3}, "0 1 1 2"},
		{true, nil, "4 5 5"}, {true, []int{-1}, "3 3 4 5"}, {true, []int{-100}, "0 1 1 2"}, {true, []int{-1, 1}, "4 5 5"},
	} {
		var p pager
		got := p.show(6, 4, c.grows, entry)
		for _, d := range c.moves {
			p.move(d)
			got = p.show(6, 4, c.grows, entry)
		}
		testenv.Equal(t, strings.Join(got, " "), c.want, "grows", c.grows, c.moves, got)
	}
	var p pager
	got := p.show(1, 2, true, func(int) []string { return []string{"a", "b", "c"} })
	testenv.Check(t, len(got) == 2, "an entry that is too long: %v", got)
}

func TestWarningWords(t *testing.T) {
	usage := func(throttled, used int64) *bench.Usage {
		return &bench.Usage{Throttling: &bench.Throttling{Periods: throttled * 2, Throttled: throttled}, Memory: &bench.Memory{Used: used}}
	}
	load := func(failed int64, warnings ...bench.Warning) bench.Load {
		return bench.Load{Succeeded: 1000 - failed, Failed: map[bench.ErrorKind]int64{"5xx": failed}, Warnings: warnings}
	}
	for want, r := range map[string]bench.StepResult{
		"":                         {Load: load(0), Before: usage(0, 0), After: usage(0, 10)},
		"quota 50%":                {Load: load(0, bench.Warning{Text: "anything"}), Before: usage(0, 0), After: usage(10, 10)},
		"memory 96%":               {Load: load(0), Before: usage(0, 0), After: usage(0, 96)},
		"errors 2.1%":              {Load: load(21)},
		"client-bound":             {Load: load(0, bench.Warning{Kind: bench.WarnClientBound}, bench.Warning{Kind: bench.WarnClientMaybeBound})},
		"died, errors 0.3%":        {Load: load(3), Ending: bench.EndedByDeath},
		"skipped":                  {Load: load(0), Ending: bench.EndedBySkip},
		"aborted, missed":          {Load: load(0), Ending: bench.EndedEarly, Thresholds: []bench.ThresholdResult{{}}},
		"aborted":                  {Load: load(0), Ending: bench.EndedEarly},
		"still warming up":         {Load: load(0), Drift: &bench.Drift{Throughput: &bench.Trend{Change: .2}}},
		"errors 2.1%, unstable":    {Load: load(21), Drift: &bench.Drift{CPU: &bench.Trend{Change: .2}}},
		"paused":                   {Load: load(0), Warnings: bench.Warnings{{Kind: bench.WarnRunPaused}}},
		"warning":                  {Load: load(0), Warnings: bench.Warnings{{Kind: bench.WarnReopened}}},
		"errors 20%, dropped 5.0%": {Load: bench.Load{Succeeded: 8, Failed: map[bench.ErrorKind]int64{"5xx": 2}, Scheduled: 200, Dropped: 10}},
	} {
		t.Run(want, func(t *testing.T) { testenv.Equal(t, join(warningWords(&r, bench.Limits{Memory: 100})), want) })
	}
}
