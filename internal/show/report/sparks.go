package report

import (
	"bytes"
	"math"
	"strings"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// maxSparks is the most characters of a sparkline; of more steps it shows every second, third …
const maxSparks = 48

// spark returns values between low and high as a line of text, one character each; NaN is a gap.
func spark(values []float64, low, high float64) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range values {
		if !finite(v) {
			b.WriteRune('·')
			continue
		}
		level := 0.0
		if high > low {
			level = (v - low) / (high - low)
		}
		b.WriteRune(blocks[max(0, min(len(blocks)-1, int(level*float64(len(blocks)))))])
	}
	return b.String()
}

// markdownSparks writes sparklines over the measured steps, on one scale for all contenders.
func markdownSparks(b *bytes.Buffer, l layout) {
	var steps []int // rows of the measured steps
	for i, r := range l.rows {
		if !r.WarmUp {
			steps = append(steps, i)
		}
	}
	if len(steps) < 2 || len(l.contenders) == 0 {
		return
	}
	every := (len(steps) + maxSparks - 1) / maxSparks
	var shown []int
	for i := 0; i < len(steps); i += every {
		shown = append(shown, steps[i])
	}
	rows := make([][]string, len(l.contenders))
	for k, c := range l.contenders {
		rows[k] = []string{escape(c.Label)}
	}
	head, scale := []string{"Contender"}, ""
	for _, col := range measure.View(measure.MarkdownCourses) {
		head = append(head, col.Head)
		values := make([][]float64, len(l.contenders))
		low, high := math.Inf(1), math.Inf(-1)
		for k, c := range l.contenders {
			values[k] = l.course(c.of.Contender, shown, col)
			for _, v := range values[k] {
				if !math.IsNaN(v) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
		if !(high >= low) {
			for k := range l.contenders {
				rows[k] = append(rows[k], missing)
			}
			continue
		}
		if !col.Quantile() {
			low = 0
		}
		scale += "; " + col.Head + " from " + words(col.Unit, low) + " to " + words(col.Unit, high) +
			when(col.Quantile(), " (logarithmic)")
		if col.Quantile() {
			low, high = math.Log(low), math.Log(high)
		}
		for k := range l.contenders {
			if col.Quantile() {
				for i, v := range values[k] {
					values[k][i] = math.Log(v)
				}
			}
			rows[k] = append(rows[k], "`"+spark(values[k], low, high)+"`")
		}
	}
	b.WriteString("\n")
	markdownRows(b, "---", head, rows)
	note := "One character per step, " + l.rows[shown[0]].Title + " to " + l.rows[shown[len(shown)-1]].Title +
		when(every > 1, ", every "+count(int64(every))+" steps")
	b.WriteString("\n" + escape(note+"; medians of the rounds, p99 of all rounds"+scale+". · not measured.") +
		"\n")
}

// course returns the values at the shown rows; those of quantiles (log scale) are positive.
func (l layout) course(s stats.Contender, shown []int, col measure.Shown) []float64 {
	values := make([]float64, len(shown))
	for i, row := range shown {
		values[i] = math.NaN()
		if step, ok := stepAt(s, l.indices[row]); ok {
			if f := col.Over(step); f.Known && finite(f.Value) && (!col.Quantile() || f.Value > 0) && f.Value >= 0 {
				values[i] = f.Value
			}
		}
	}
	return values
}
