package conclusion

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// Sections have what did not go as planned, and nothing else; text from outside is harmless.
func TestSections(t *testing.T) {
	met := bench.ThresholdResult{Condition: "p99<50ms", Passed: true, Text: "p99 is 20ms, <50ms"}
	missed := bench.ThresholdResult{Condition: "p99<50ms", Text: "p99 is 71.2ms, not <50ms\x1b[31m"}
	stopped := bench.ThresholdResult{Condition: "errors<1%", Text: "errors is 9%, not <1%", Stopped: bench.ScopeTrial}
	of := func(thresholds ...bench.ThresholdResult) func(*bench.StepResult) {
		return func(s *bench.StepResult) { s.Thresholds = thresholds }
	}
	for name, c := range map[string]struct {
		change  func(*bench.StepResult)
		planned []bench.Threshold
		want    string // the rows, each cell after a bar
	}{
		"nothing": {of(), nil, ""},
		"thresholds that were not checked": {of(), []bench.Threshold{{Condition: "p99<50ms"}}, "Thresholds: not checked\n" +
			"|p99<50ms|not checked|–|–|–\n"},
		"thresholds": {of(met, missed, stopped), nil, "Thresholds: 2 of 3 missed\n" +
			"|p99<50ms|missed|a-1|64 connections|p99 is 71.2ms, not <50ms␛[31m\n" +
			"|errors<1%|missed, stopped the trial|a-1|64 connections|errors is 9%, not <1%\n|p99<50ms|met in 1 step|–|–|–\n"},
		"errors": {func(s *bench.StepResult) {
			benchtest.Errors(bench.ErrTimeout, 30)(s)
			s.Load.Examples = map[bench.ErrorKind]string{bench.ErrTimeout: "no\x1b response"}
		}, nil, "Failed requests\n|a|all|timeout|25.2%|30|no␛ response\n"},
		"rejected": {func(s *bench.StepResult) { s.Load.Rejected = bench.Statuses{429: 10} }, nil,
			"Responses by status\n|a|64 connections||429: 10|10.1%\n"},
		"sessions": {func(s *bench.StepResult) {
			s.Load.Sessions = []bench.SessionLoad{{Name: "buy", Begun: 9, Completed: 5, Rejected: 1, Failed: map[string]int64{"pay": 2, "cart": 1}}}
		}, nil, "Sessions\n|a|buy|9|5|1|3|cart: 1, pay: 2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			trials := rounds("a", 1, 9, 9e4, c.change)
			run := benchtest.Run(trials...)
			run.Profile.Thresholds = c.planned
			got := ""
			for _, s := range Of(analysis.Of(run, trials), nil).Sections {
				got += s.Title + "\n"
				for _, row := range s.Table.Rows {
					for _, cell := range row.Cells {
						got += "|" + cell.Text
					}
					got += "\n"
				}
				for _, line := range s.Table.Lines(60, nil) {
					testenv.Check(t, len([]rune(line)) <= 60 && !strings.ContainsAny(line, "\x1b\n"), "%q", line)
				}
			}
			testenv.Equal(t, got, c.want)
		})
	}
}
