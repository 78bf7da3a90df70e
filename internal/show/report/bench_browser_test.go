//go:build acceptance

package report

import (
	"testing"
	"time"
)

// BenchmarkReportShown opens a report: the time to the first paint and to the end of the page's
// script, both since the navigation began.
func BenchmarkReportShown(b *testing.B) {
	run, trials := fixtureOf(manyContenders, manyRounds)
	doc := render(b, run, trials)
	shared := startBrowser(b)
	var paint, ready, chart float64
	n := 0
	for b.Loop() {
		shown := open(b, shared, doc, 1280, "light")
		shown.until("the first paint", `performance.getEntriesByName('first-contentful-paint').length > 0 && performance.getEntriesByType('navigation')[0].domComplete > 0`)
		paint += eval[float64](shown, `performance.getEntriesByName('first-contentful-paint')[0].startTime`)
		ready += eval[float64](shown, `performance.getEntriesByType('navigation')[0].domComplete`)
		begun := time.Now()
		shown.click(`#charts`)
		shown.until("a chart", `document.querySelector('#plot-throughput svg') !== null`)
		chart += time.Since(begun).Seconds()
		n++
	}
	b.ReportMetric(paint/float64(n)/1000, "s/first-paint")
	b.ReportMetric(ready/float64(n)/1000, "s/whole-page")
	b.ReportMetric(chart/float64(n), "s/charts-after-scroll")
}
