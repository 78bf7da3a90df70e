package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// The charts of the first screen of real runs: their lines in the order of the table, the points of
// each, and thresholds.
func TestFirstCharts(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"locations", "burst", "cold-warm", "delay-matrix"} {
		run, trials, err := results.Read("../../../testdata/results/" + name)
		testenv.OK(t, err)
		run.Profile.Thresholds = []bench.Threshold{{Condition: "p99<50ms,errors<1%"}, {Condition: "throughput>1000/s"}, {Condition: "?"}}
		a := analysis.Of(run, trials)
		for _, ch := range firstCharts(run.Profile, newLayout(a), conclusion.Of(a, nil)) {
			fmt.Fprintf(&b, "%s: %s (%s), in %q, goals %v\n", name, ch.Title, ch.Caption, ch.Unit, ch.Goals)
			var series []struct{ Data []struct{ Value [2]float64 } }
			data := testenv.Must(json.Marshal(ch.Option["series"]))(t)
			testenv.OK(t, json.Unmarshal(data, &series))
			for i, line := range ch.Lines {
				points := series[i].Data
				fmt.Fprintf(&b, "  %+v: %d points from %v to %v\n", line, len(points), points[0].Value, points[len(points)-1].Value)
			}
		}
	}
	testenv.Golden(t, "testdata/first.txt", b.String())
}
