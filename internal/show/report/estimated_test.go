package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/summary"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The error rate of a kind of request is that of its compared bodies, over all rounds.
func TestErrorRateOfARequestIsEstimated(t *testing.T) {
	step := bench.StepResult{Load: bench.Load{Requests: []bench.RequestLoad{
		{Name: "a", Succeeded: 4997, Checked: 57, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 3}},
		{Name: "b", Succeeded: 57, Checked: 60, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 3}},
	}}}
	var c contender
	c.of = analysis.Contender{Results: []bench.TrialResult{{Steps: []bench.StepResult{step}}, {Steps: []bench.StepResult{step}}}}
	want := map[string]string{"a": "~5.26%", "b": "5.00%"}
	for _, r := range requestLoads(c, 0) {
		testenv.Equal(t, errorRate(bench.Load{Succeeded: r.Succeeded, Failed: r.Failed, Checked: r.Checked}),
			want[r.Name], r.Name)
	}
}

// The tables of results say how many bodies were compared, and mark error rates that
// are estimates from these.
func TestComparedBodiesInResults(t *testing.T) {
	run, trials := grown(10, 0)
	load := &trials[1].Steps[1].Load
	load.Failed, load.Checked = map[bench.ErrorKind]int64{bench.ErrWrong: 3}, 1140
	trials[0].Steps[1].Load.Unread = map[bench.ErrorKind]int64{bench.UnreadLong: 1000, bench.UnreadBroken: 200}
	a := analysis.Of(run, trials)
	l := newLayout(a)
	results := newResults(run, l, summary.New(a, summary.Rules{}), nil)
	testenv.Contains(t, strings.Join(results.Footnotes, "\n"),
		"Bodies compared with the expected ones: a 0 (1,200 not looked at), b 1,140.")
	at := slices.Index(results.Columns, "Errors")
	for i, want := range []string{"0.500%", "~0.331%"} {
		testenv.Equal(t, results.Rows[i].Cells[at].Main, want, i)
	}
	for _, ch := range newCharts(run, l) {
		if ch.ID == "errors" && (!strings.HasPrefix(ch.Rows[1].Cells[1], "~0.263%") || strings.Contains(ch.Rows[1].Cells[0], "~")) {
			t.Errorf("chart: %+v", ch.Rows)
		}
	}
}

// A step with too many unexpected bodies has no bottleneck, in the charts and in the table.
func TestNoBottleneckOfUnexpectedBodies(t *testing.T) {
	for unexpected, want := range map[int64]bool{0: true, 3: false} {
		run, trials := grown(10, 0)
		load := &trials[1].Steps[1].Load
		load.Failed, load.Checked = map[bench.ErrorKind]int64{bench.ErrWrong: unexpected}, 1140
		a := analysis.Of(run, trials)
		l := newLayout(a)
		table, _ := bounds(l)
		testenv.Equal(t, table.Table.Rows[1].Cells[1].Main != missing, want, unexpected,
			table.Table.Rows[1].Cells[1].Main)
		testenv.Equal(t, stepMiddle(l, l.contenders[1], plottedMeasures(run.Profile)[0]).bounds[1].Bound != "", want,
			unexpected)
	}
}
