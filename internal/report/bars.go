package report

import (
	"time"

	"locbench/internal/bench"
	"locbench/internal/stats"
)

// barFigures have a bar for every contender: start-up always, and what the published comparison of
// native images had beside it, where somebody arrives: build time and size. A contender without a
// value has no bar, not one of 0.
func barFigures(l layout) []figure {
	ms := func(v float64) string { return duration(time.Duration(v * float64(time.Millisecond))) }
	all := []figure{l.barFigure("start-up", "Start-up time, ms", "From the start of the process to its first HTTP answer.", ms, func(leg bench.LegResult) (float64, bool) {
		if leg.StartUp == nil {
			return 0, false
		}
		return float64(*leg.StartUp) / float64(time.Millisecond), true
	})}
	peak := l.barFigure("time-to-peak", "Time to peak, s", "From the start of the process to the first second at its final throughput, which it keeps.",
		func(v float64) string { return duration(time.Duration(v * float64(time.Second))) },
		func(leg bench.LegResult) (float64, bool) {
			p, ok := stats.TimeToPeak(leg)
			return p.After.Seconds(), ok
		})
	if !peak.Empty {
		all = append(all, peak)
	}
	for _, r := range l.rows {
		if r.step.Arrivals == nil {
			continue
		}
		return append(all,
			l.barFigure("build-time", "Build time, s", "Only builds that began with nothing; where the image was there already, nothing is known.",
				func(v float64) string { return duration(time.Duration(v * float64(time.Second))) },
				func(leg bench.LegResult) (float64, bool) {
					return leg.Artifact.BuildTime.Seconds(), leg.Artifact.BuildTime > 0 && !leg.Artifact.BuildCached
				}),
			l.barFigure("image-size", "Image size, MiB", "Of the image, unpacked.", func(v float64) string { return significant(v) + nbsp + "MiB" },
				func(leg bench.LegResult) (float64, bool) {
					return float64(leg.Artifact.ImageSize) / (1 << 20), leg.Artifact.ImageSize > 0
				}))
	}
	return all
}

// barFigure has a row: a value for each leg and the median for each contender.
func (l layout) barFigure(id, title, note string, format func(float64) string, value func(bench.LegResult) (float64, bool)) figure {
	f := figure{ID: id, Title: title, Note: note, Columns: l.columns, Middles: l.middleNames(false), Empty: true, kind: kindBars}
	r := figureRow{Label: id, Title: "all steps"}
	values := make([][]float64, len(l.contenders))
	for _, c := range l.columns {
		s := series{column: c, points: []*point{nil}}
		words := missing
		if v, ok := value(*c.leg); ok && finite(v) {
			s.points[0] = &point{y: v}
			words = format(v)
			values[c.Contender] = append(values[c.Contender], v)
			f.Empty = false
		}
		r.Cells = append(r.Cells, words)
		f.series = append(f.series, s)
	}
	f.Rows = []figureRow{r}
	for n, c := range l.contenders {
		m := middle{contender: c, points: []*point{nil}, bands: []*stats.Interval{nil}, words: []string{missing}}
		if v, ok := stats.Median(values[n]); ok {
			m.points[0] = &point{y: v}
			m.words[0] = format(v)
			if in, ok := stats.MedianInterval(values[n], 0.95); ok {
				m.bands[0] = &in
				m.words[0] += " (" + format(in.Low) + " to " + format(in.High) + ")"
			}
		}
		f.addMiddle(m)
	}
	return f
}
