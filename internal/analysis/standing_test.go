package analysis

import (
	"fmt"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// describe returns everything that a standing says, in a line for each place.
func describe(s Standing) string {
	leaders, behind := s.Leaders()
	var members []string
	for i := range s.Members {
		members = append(members, s.Member(i).Contender)
	}
	text := fmt.Sprintf("  paired %v, members %v, tiers %v, leaders %v, behind %v, alike %v",
		s.Paired, members, s.Tiers, leaders, behind, s.Alike())
	for _, p := range s.Places {
		text += fmt.Sprintf("\n  %s at %q: tier %d, %.4g of %d rounds; %q", p.Contender, p.Step.Name, p.Tier,
			p.Value.Median, len(p.Value.Values), p.Out)
	}
	for b := range s.Members {
		for a := range b {
			if c, ok := s.Pair(a, b); ok {
				text += fmt.Sprintf("\n  members %d and %d: %s, p %.2g", a, b, c.Verdict, c.Adjusted)
			}
		}
	}
	if open := s.Open(); len(open) > 0 {
		text += fmt.Sprintf("\n  %d open, first %+v", len(open), open[0])
	}
	return text
}

func TestRun_Standing(t *testing.T) {
	text := ""
	never := func(t *bench.TrialResult) { t.StartUp = nil }
	for _, c := range []struct {
		name string
		run  *Run
		of   measure.ID
		rule stats.Rule
	}{
		{"no contender", analyzed(), measure.Throughput, stats.Rule{}},
		{"alone", analyzed(rounds("a", 6, 1)), measure.Throughput, stats.Rule{}},
		{"six rounds, and five", analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 5, 3)), measure.Throughput, stats.Rule{}},
		{"lower is better", analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 6, 1.99)), measure.CPURequest, stats.Rule{}},
		{"at half peak", analyzed(rounds("a", 6, 1), rounds("b", 6, 2)), measure.P99Half, stats.Rule{}},
		{"of whole trials", analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 1, 1, never)), measure.StartUp, stats.Rule{}},
		{"a value of zero", analyzed(rounds("a", 6, 1), rounds("b", 6, 2, in(3, func(t *bench.TrialResult) { *t.StartUp = 0 }))), measure.StartUp, stats.Rule{}},
		{"the same", analyzed(rounds("a", 6, 1), rounds("b", 6, 1)), measure.MemoryPeak, stats.Rule{}},
		{"below the noise floor", analyzed(rounds("a", 6, 1), rounds("b", 6, 1.1)), measure.Throughput, stats.Rule{Floor: .2}},
		{"another margin", analyzed(rounds("a", 6, 1), rounds("b", 6, 1.01)), measure.Throughput, stats.Rule{Margin: .1}},
		{"left out", analyzed(rounds("a", 6, 1), rounds("b", 6, 1, in(1, failed)), rounds("c", 6, 1, clientBound), rounds("d", 6, 1, driftAt(3)),
			rounds("e", 6, 1, errorsInAll), rounds("f", 6, 1.2)), measure.Throughput, stats.Rule{}},
		{"interleaved", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.02, interleaved)), measure.Throughput, stats.Rule{}},
		{"2.9% apart", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.029, interleaved)), measure.Throughput, stats.Rule{}},
		{"3.1% apart", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.031, interleaved)), measure.Throughput, stats.Rule{}},
		{"2.9% apart, lower is better", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.029, interleaved)), measure.StartUp, stats.Rule{}},
		{"one is not interleaved", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.02, interleaved), rounds("c", 8, 1.3)), measure.Throughput, stats.Rule{}},
		{"interleaved, one has too few rounds", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.1, interleaved), rounds("c", 5, 1.3, interleaved)), measure.Throughput, stats.Rule{}},
		{"interleaved, one is left out", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.1, interleaved, clientBound)),
			measure.Throughput, stats.Rule{}},
		{"a measure is missing", analyzed(rounds("a", 6, 1, never), rounds("b", 6, 1.1), rounds("c", 6, 1.2, never)), measure.Throughput, stats.Rule{}},
		{"eight at six rounds", analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 6, 3), rounds("d", 6, 4), rounds("e", 6, 5), rounds("f", 6, 6), rounds("g", 6, 7), rounds("h", 6, 8)), measure.Throughput, stats.Rule{}},
	} {
		text += c.name + "\n" + describe(c.run.Standing(c.of, c.rule)) + "\n\n"
	}
	testenv.Golden(t, "testdata/standings.txt", text)
}
