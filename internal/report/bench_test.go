package report

import (
	"io"
	"testing"

	"locbench/internal/analysis"
)

// The bars of a large report: 8 contenders × 6 rounds × 16 steps with windows in at most 5 MB, made
// in at most 2 s, with a first paint within 1 s. The size is the same everywhere and is tested;
// times are measured by make bench-report.
const (
	manyContenders = 8
	manyRounds     = 6
	maxSize        = 5_000_000
)

func TestSize(t *testing.T) {
	run, legs := fixtureOf(manyContenders, manyRounds)
	doc := render(t, run, legs)
	t.Logf("%d bytes", len(doc))
	if len(doc) > maxSize {
		t.Errorf("the report of %d legs has %d bytes, more than %d", len(legs), len(doc), maxSize)
	}
}

func BenchmarkReportMade(b *testing.B) {
	run, legs := fixtureOf(manyContenders, manyRounds)
	for b.Loop() {
		if err := HTML(io.Discard, analysis.Of(run, legs), Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/report")
}
