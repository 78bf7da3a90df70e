package report

import (
	"io"
	"testing"
	"time"

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

// BenchmarkReportShown opens it: the first paint, and the end of the page's own script, both since
// the navigation began.
func BenchmarkReportShown(b *testing.B) {
	run, legs := fixtureOf(manyContenders, manyRounds)
	doc := render(b, run, legs)
	shared := startBrowser(b)
	var paint, ready, chart float64
	n := 0
	for b.Loop() {
		shown := open(b, shared, doc, 1280, "light")
		shown.until("the first paint", `performance.getEntriesByName('first-contentful-paint').length > 0 && performance.getEntriesByType('navigation')[0].domComplete > 0`)
		paint += eval[float64](shown, `performance.getEntriesByName('first-contentful-paint')[0].startTime`)
		ready += eval[float64](shown, `performance.getEntriesByType('navigation')[0].domComplete`)
		begun := time.Now()
		shown.click(`#figures`)
		shown.until("a chart", `document.querySelector('#chart-throughput svg') !== null`)
		chart += time.Since(begun).Seconds()
		n++
	}
	b.ReportMetric(paint/float64(n)/1000, "s/first-paint")
	b.ReportMetric(ready/float64(n)/1000, "s/whole-page")
	b.ReportMetric(chart/float64(n), "s/charts-after-scroll")
}
