package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/table"
)

// successive returns a run of contenders a, b, … with n rounds and their successes.
func successive(n int, successes ...int64) Set {
	var trials []bench.TrialResult
	for round := 1; round <= n; round++ {
		for i, s := range successes {
			trials = append(trials, benchtest.Trial(string(rune('a'+i)), round, benchtest.Step(s+int64(7*round%5))))
		}
	}
	return Set{Run: analysis.Of(benchtest.Run(trials...), trials)}
}

// silent returns a side with n rounds of a contender in which nothing succeeded.
func silent(n int) Set {
	var trials []bench.TrialResult
	for round := range n {
		trials = append(trials, benchtest.Trial("a", round+1, benchtest.Step(0)))
	}
	return Set{Run: analysis.Of(benchtest.Run(trials...), trials)}
}

func TestBrief(t *testing.T) {
	limited := successive(10, 9_000, 20_000)
	limited.Run.Run.Profile.Limits.CPUs = 7
	for want, after := range map[string]Set{
		"a worse −10.0%":                      successive(10, 9_000, 20_000),
		"a worse −10.0%, b better +10.0%":     successive(10, 9_000, 22_000),
		"a worse −10.0%, b better +10.0%, +1": successive(10, 9_000, 22_000, 33_000),
		"same":                                successive(10, 10_000, 20_000),
		"inconclusive, 4 more rounds":         successive(2, 10_000, 20_000),
		"not comparable: other limits":        limited,
		"worse −10.0%":                        successive(10, 9_000),
		"worse 1,000/s → 0/s":                 silent(10),
	} {
		t.Run(want, func(t *testing.T) {
			before := []int64{10_000, 20_000, 30_000}[:len(after.Run.Contenders)]
			r := testenv.Must(Compare(successive(10, before...), after, Options{}))(t)
			testenv.Equal(t, r.Brief(measure.Throughput), want)
		})
	}
}

// A narrow text has no values, and the verdicts have their tones.
func TestLines(t *testing.T) {
	r := testenv.Must(Compare(successive(10, 10_000), successive(10, 9_000), Options{}))(t)
	tones := func(tone table.Tone, s string) string { return fmt.Sprintf("<%d %s>", tone, s) }
	text := func(width int) string { return strings.Join(r.Lines(width, tones), "\n") }
	bad := fmt.Sprintf("<%d worse: −10.0%%", table.Bad)
	testenv.Contains(t, text(60), "<0 peak throughput", "old>", "new>", bad)
	testenv.Contains(t, text(59), "<0 req/s>", "!peak throughput", "!old>", "!new>", bad)
	testenv.Contains(t, text(0), "old>", "new>")
	better := testenv.Must(Compare(successive(10, 9_000), successive(10, 10_000), Options{}))(t)
	testenv.Contains(t, strings.Join(better.Lines(0, tones), "\n"), fmt.Sprintf("<%d better: ", table.Good))
}

// TestBrief_LeastRounds: the contender that is settled first counts.
func TestBrief_LeastRounds(t *testing.T) {
	of := func(more int) Contender {
		return Contender{Comparable: true, Rows: []Row{{Measure: measure.Throughput, More: more}}}
	}
	testenv.Equal(t, Result{Contenders: []Contender{of(2), of(5)}}.Brief(measure.Throughput), "inconclusive, 2 more rounds")
	testenv.Equal(t, Result{}.Brief(measure.Throughput), "inconclusive")
}
