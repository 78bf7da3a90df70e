package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/measure"
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

// A failed round moves no value to another round: the values of two versions are pairs.
func TestByRound_FailedRound(t *testing.T) {
	var trials []bench.TrialResult
	for round := 1; round <= 3; round++ {
		for _, name := range []string{"a", "b"} {
			trial := benchtest.Trial(name, round, benchtest.Step(int64(1000*round)))
			if name == "a" && round == 2 {
				trial = benchtest.Trial(name, round)
				trial.State = bench.TrialFailed
			}
			trials = append(trials, trial)
		}
	}
	l := newLayout(analysis.Of(benchtest.Run(trials...), trials))
	c := byRound(l, measure.Get(measure.Throughput), "", "/s")
	for i, want := range [][]float64{{1, 2, 3}, {1, 3}} {
		var rounds []float64
		for _, p := range c.lines[i].at {
			rounds = append(rounds, p[0])
		}
		testenv.Equal(t, rounds, want)
	}
}
