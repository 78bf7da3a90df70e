package report

import (
	"bytes"
	"math"
	"strings"

	"locbench/internal/stats"
)

// maxSparks is the most characters of a spark line; of more steps every second, third … is shown.
const maxSparks = 48

// spark draws values between low and high as a line of text, one character each; NaN is a gap.
func spark(values []float64, low, high float64) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
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

// sparkColumn is one measure against the steps.
type sparkColumn struct {
	name  string
	log   bool
	value func(stats.Step) float64 // NaN where it is not known
	words func(float64) string
}

func sparkColumns() []sparkColumn {
	median := func(v stats.Value) float64 {
		if !v.Known() {
			return math.NaN()
		}
		return v.Median
	}
	return []sparkColumn{
		{"Throughput", false, func(s stats.Step) float64 { return median(s.Throughput) }, func(v float64) string { return significant(v) + "/s" }},
		{"p99", true, func(s stats.Step) float64 {
			if s.Latency.Count == 0 {
				return math.NaN()
			}
			return float64(s.Latency.P99)
		}, nanoseconds},
		{"CPU per request", false, func(s stats.Step) float64 { return median(s.CPURequest) }, nanoseconds},
	}
}

// markdownSparks writes the course of the measured steps as lines of text, one scale for all contenders.
func markdownSparks(b *bytes.Buffer, l layout, sums []stats.Contender) {
	var steps []int // rows
	for i, r := range l.rows {
		if !r.WarmUp {
			steps = append(steps, i)
		}
	}
	if len(steps) < 2 || len(sums) == 0 {
		return
	}
	every := (len(steps) + maxSparks - 1) / maxSparks
	var shown []int
	for i := 0; i < len(steps); i += every {
		shown = append(shown, steps[i])
	}
	columns := sparkColumns()
	lines := make([][]string, len(sums))
	header, scale := "| Contender |", ""
	for _, col := range columns {
		header += " " + col.name + " |"
		values := make([][]float64, len(sums))
		low, high := math.Inf(1), math.Inf(-1)
		for k, s := range sums {
			values[k] = l.course(s, shown, col)
			for _, v := range values[k] {
				if !math.IsNaN(v) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
		if !(high >= low) {
			for k := range sums {
				lines[k] = append(lines[k], missing)
			}
			continue
		}
		from := low
		if !col.log {
			from = 0
		}
		text := col.name + " from " + col.words(from) + " to " + col.words(high)
		if !col.log {
			low = 0
		} else {
			low, high = math.Log(low), math.Log(high)
			text += " (logarithmic)"
		}
		scale += "; " + text
		for k := range sums {
			if col.log {
				for i, v := range values[k] {
					values[k][i] = math.Log(v)
				}
			}
			lines[k] = append(lines[k], "`"+spark(values[k], low, high)+"`")
		}
	}
	b.WriteString("\n" + header + "\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for k := range sums {
		b.WriteString("| " + escape(l.contenders[k].Label) + " | " + strings.Join(lines[k], " | ") + " |\n")
	}
	note := "One character a step, " + l.rows[shown[0]].Title + " to " + l.rows[shown[len(shown)-1]].Title
	if every > 1 {
		note += ", one of " + count(int64(every)) + " steps"
	}
	b.WriteString("\n" + escape(note+"; medians of the rounds, p99 of all of them together"+scale+". · not measured.") + "\n")
}

// course are the values of a contender at the shown rows; of a logarithmic column only positive ones.
func (l layout) course(s stats.Contender, shown []int, col sparkColumn) []float64 {
	values := make([]float64, len(shown))
	for i, row := range shown {
		values[i] = math.NaN()
		for _, step := range s.Steps {
			if step.Index == l.indices[row] {
				if v := col.value(step); !math.IsInf(v, 0) && (!col.log || v > 0) && v >= 0 {
					values[i] = v
				}
			}
		}
	}
	return values
}
