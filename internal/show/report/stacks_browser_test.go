//go:build acceptance && browser

package report

import (
	"fmt"
	"image"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
)

// Every measured phase is a part of a bar, in the color of the phase.
func TestStacksAreDrawn(t *testing.T) {
	run, trials := coldRun()
	doc := render(t, run, trials)
	phases := phaseChart(newLayout(analysis.Of(run, trials)))
	browser := startBrowser(t)
	for _, width := range []int64{375, 1280} {
		b := open(t, browser, doc, width, "light")
		img := b.photograph(fmt.Sprintf("cold-%d", width)) // a chart is drawn when it comes into view
		seen := eval[surveyed](b, survey)
		if seen.Over > 0 {
			t.Errorf("the page is %v px wider than the window of %d", seen.Over, width)
		}
		chart := seen.Charts["plot-phases"]
		for i, part := range phases.stack {
			want := 1 // the entry of the legend
			for _, s := range phases.series {
				for at := i; at < len(s.points); at += len(phases.stack) + 1 {
					if s.points[at] != nil {
						want++
					}
				}
			}
			if got := chart.Marks[seen.Parts[i]]; got != want && width > 500 { // a narrow legend has pages
				t.Errorf("%s: %d marks of its color, want %d", part, got, want)
			}
		}
		if n := inked(img, image.Rect(chart.X, chart.Y, chart.X+chart.Width, chart.Y+chart.Height)); n < 500 {
			t.Errorf("only %d pixels differ from the background", n)
		}
	}
}
