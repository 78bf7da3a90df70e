package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestThresholds(t *testing.T) {
	run, trials := small()
	if got := thresholds(run, newLayout(analysis.Of(run, trials))); len(got.Rows) != 0 {
		t.Fatalf("rows without thresholds: %+v", got.Rows)
	}
	run.Profile.Thresholds = []bench.Threshold{{Condition: "p99<50ms"}}
	if got := thresholds(run, newLayout(analysis.Of(run, trials))); len(got.Rows) != 1 || got.Rows[0].Outcome != "not checked" {
		t.Errorf("without a result: %+v", got.Rows)
	}
	v, bad := 2e7, 7.12e7
	met := bench.ThresholdResult{Condition: "p99<50ms", Value: &v, Passed: true, Text: "p99 is 20ms, <50ms"}
	missed := bench.ThresholdResult{Condition: "p99<50ms", Value: &bad, Text: "p99 is 71.2ms, not <50ms <script>|"}
	stopped := bench.ThresholdResult{Condition: "errors<1%", Text: "errors is 9%, not <1%", Stopped: bench.ScopeTrial}
	trials[0].Steps[2].Thresholds = []bench.ThresholdResult{met}
	trials[0].Steps[3].Thresholds = []bench.ThresholdResult{missed, stopped}
	got := thresholds(run, newLayout(analysis.Of(run, trials)))
	if len(got.Rows) != 3 || !got.Rows[0].Missed || got.Rows[2].Outcome != "met in 1 step" || !strings.HasPrefix(got.Note, "2 of 3 missed") {
		t.Fatalf("%+v", got)
	}
	if r := got.Rows[1]; r.Threshold != "errors<1%" || r.Outcome != "missed, stopped the trial" || r.Value != cleanText(stopped.Text) {
		t.Errorf("%+v", r)
	}
	var page, summary bytes.Buffer
	testenv.OK(t, HTML(&page, analysis.Of(run, trials), Options{}))
	testenv.OK(t, Markdown(&summary, analysis.Of(run, trials), Options{}))
	for what, text := range map[string]string{"page": page.String(), "summary": summary.String()} {
		t.Run(what, func(t *testing.T) { testenv.Contains(t, text, "not &lt;50ms &lt;script&gt;") })
	}
}
