package report

import (
	"io"
	"strconv"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The limits of a large report: 8 contenders × 6 rounds × 16 steps with windows take at most 2.5 MB,
// are made in at most 1 s, and have a first paint within 0.3 s. A test checks the size, which is the
// same everywhere; make bench-report measures the times.
const (
	manyContenders = 8
	manyRounds     = 6
	maxSize        = 2_500_000
)

func TestSize(t *testing.T) {
	run, trials := fixtureOf(manyContenders, manyRounds)
	doc := render(t, run, trials)
	t.Logf("%d bytes", len(doc))
	testenv.Check(t, len(doc) <= maxSize, "the report of %d trials has %d bytes, more than %d", len(trials),
		len(doc), maxSize)
}

func BenchmarkReportMade(b *testing.B) {
	run, trials := fixtureOf(manyContenders, manyRounds)
	for b.Loop() {
		testenv.OK(b, HTML(io.Discard, analysis.Of(run, trials), Options{}))
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/report")
}

// BenchmarkReportSteps makes a report of trials with many steps and checks: ten times as many
// should take about ten times as long.
func BenchmarkReportSteps(b *testing.B) {
	for _, n := range []int{300, 3000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			run, trials := fixtureOf(3, 2)
			for i := range trials {
				base := trials[i].Steps
				trials[i].Steps = nil
				for k := range n {
					s := base[k%len(base)]
					s.Index, s.Step.Name, s.Samples, s.Load.Windows = k, "s"+strconv.Itoa(k), nil, nil
					trials[i].Steps = append(trials[i].Steps, s)
					trials[i].Checks = append(trials[i].Checks, bench.CheckResult{Group: "g", Name: "n" + strconv.Itoa(k), Status: bench.CheckFailed})
				}
			}
			for b.Loop() {
				testenv.OK(b, HTML(io.Discard, analysis.Of(run, trials), Options{}))
			}
		})
	}
}
