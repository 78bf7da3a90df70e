package plain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestTableReportsThresholds(t *testing.T) {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete, Steps: []bench.StepResult{stepResult(0, 4, 100, false), stepResult(1, 8, 100, false)}}
	trials := []bench.TrialResult{trial}
	text := func() string {
		var b bytes.Buffer
		testenv.OK(t, End(&b, analysis.Of(bench.Run{Profile: bench.Profile{Rounds: 1}}, trials), nil, 0, false))
		return b.String()
	}
	testenv.Check(t, !strings.Contains(text(), "threshold"), "thresholds are reported although none was checked")
	trial.Steps[0].Thresholds = []bench.ThresholdResult{{Condition: "p99<50ms", Passed: true, Text: "p99 is 1ms, <50ms"}}
	trial.Steps[1].Thresholds = []bench.ThresholdResult{{Condition: "errors<1%", Text: "errors is 9%, not <1%\x1b[31m", Stopped: bench.ScopeTrial}}
	for _, want := range []string{"thresholds: 1 of 2 missed", "missed: a-1, step 2 (8 connections): errors is 9%, not <1%", "; stopped the trial"} {
		testenv.Check(t, strings.Contains(text(), want), "no %q in\n%s", want, text())
	}
	testenv.Check(t, !strings.Contains(text(), "\x1b"), "a control character is printed")
}
