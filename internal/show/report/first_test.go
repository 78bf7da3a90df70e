package report

import (
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
			fmt.Fprintf(&b, "%s: %s (%s), in %q, marks %v\n", name, ch.Title, ch.Note, ch.Unit, ch.Marks)
			for _, l := range ch.Lines {
				first, last := l.points[0], l.points[len(l.points)-1]
				fmt.Fprintf(&b, "  %d %s, faint %v: %d points from %.6g, %.6g to %.6g, %.6g\n", l.Contender, l.Name, l.Faint, len(l.points),
					first.x, first.y, last.x, last.y)
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
	c := byRound(l, measure.Throughput, "", "/s")
	for i, want := range [][]float64{{1, 2, 3}, {1, 3}} {
		var rounds []float64
		for _, p := range c.Lines[i].points {
			rounds = append(rounds, p.x)
		}
		testenv.Equal(t, rounds, want)
	}
}
