package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Limits of the points in the chart of memory over requests.
const (
	maxMemoryPoints = 120   // of a trial
	allMemoryPoints = 6_000 // of all trials together
	minMemoryPoints = 2     // of a step
)

// limitLine is a memory limit in the chart of memory over requests.
type limitLine struct {
	bytes int64
	name  string // "memory limit 256 MiB"
}

// memoryChart returns the memory in use over the requests since the start of the load, one line per
// trial. A memory limit is a line of the chart if a contender used a quarter of it.
func memoryChart(l layout) chart {
	ch := chart{ID: "memory-requests", Title: "Memory in use over requests, MiB", Columns: l.columns, Empty: true,
		Note: "One reading per second, without page cache. Requests: of all steps since the start of the load, errors " +
			"included. A leak is a straight line upward; a heap or a cache that fills up becomes flat.",
		kind: kindCurve, axis: "requests since start of load", joined: true}
	readings := make([][][]stats.MemoryPoint, len(l.columns)) // by column and row of the layout
	rows, by := make([]int, len(l.rows)), 1
	room := max(minMemoryPoints, min(maxMemoryPoints, allMemoryPoints/max(1, len(l.columns)))/max(1, len(l.rows)))
	for j, c := range l.columns {
		readings[j] = make([][]stats.MemoryPoint, len(l.rows))
		before := 0.0
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			points := stats.StepMemory(*s, before+float64(s.Load.Lead))
			merged := (len(points) + room - 1) / room
			readings[j][i] = highest(points, merged)
			rows[i], by = max(rows[i], len(readings[j][i])), max(by, merged)
			before += float64(s.Load.Ended())
		}
	}
	for i, n := range rows {
		for k := range n {
			ch.Rows = append(ch.Rows, newChartRow(l.rows[i].Label, l.rows[i].Title+", reading "+strconv.Itoa(k+1),
				l.rows[i].WarmUp, len(l.columns)))
			ch.steps = append(ch.steps, i)
		}
	}
	most := 0.0
	for j, c := range l.columns {
		line, from := series{column: c, points: make([]*point, len(ch.Rows))}, 0
		for i, points := range readings[j] {
			for k, p := range points {
				most = max(most, p.Bytes)
				ch.put(line, from+k, j, point{x: p.Requests, y: p.Bytes / (1 << 20), warmUp: l.rows[i].WarmUp},
					units.Count(int64(p.Requests+0.5))+" requests: "+units.Bytes(int64(p.Bytes)))
			}
			from += rows[i]
		}
		ch.series = append(ch.series, line)
	}
	if by > 1 {
		ch.Note += " Long run: each point is the highest of up to " + strconv.Itoa(by) + " readings."
	}
	for _, limit := range l.memoryLimits() {
		if most >= float64(limit.bytes)/4 {
			ch.limits = append(ch.limits, limit)
		} else {
			ch.Note += " " + strings.Replace(limit.name, "memory limit ", "Memory limit: ", 1) + ", above the chart."
		}
	}
	for _, c := range l.contenders {
		if w, ok := c.of.MemoryGrowth(); ok {
			ch.Note += " " + c.Label + ": " + cleanText(w.Text) + "."
		}
	}
	return ch
}

// highest returns the highest of each by points in sequence.
func highest(points []stats.MemoryPoint, by int) (all []stats.MemoryPoint) {
	for part := range slices.Chunk(points, max(1, by)) {
		all = append(all, slices.MaxFunc(part, func(a, b stats.MemoryPoint) int {
			switch {
			case a.Bytes < b.Bytes:
				return -1
			case a.Bytes > b.Bytes:
				return 1
			}
			return 0
		}))
	}
	return all
}

// memoryLimits returns the enforced memory limits, with the contenders that have them if they
// differ.
func (l layout) memoryLimits() (all []limitLine) {
	of := map[int64][]string{}
	for _, c := range l.columns {
		limit := int64(0)
		if info := c.trial.Instance; info != nil && info.LimitsEnforced {
			limit = info.Limits.Memory
		}
		if !slices.Contains(of[limit], c.Label) {
			of[limit] = append(of[limit], c.Label)
		}
		if limit > 0 && !slices.ContainsFunc(all, func(x limitLine) bool { return x.bytes == limit }) {
			all = append(all, limitLine{bytes: limit})
		}
	}
	for i, x := range all {
		all[i].name = "memory limit " + units.Bytes(x.bytes) + when(len(of) > 1, " ("+strings.Join(of[x.bytes], ", ")+")")
	}
	return all
}

// addLimits draws the memory limits up to the last request.
func (ch chart) addLimits(c *charts.Line) (who []seriesData) {
	last := 0.0
	for _, s := range ch.series {
		for _, p := range s.points {
			if p != nil {
				last = max(last, p.x)
			}
		}
	}
	for _, limit := range ch.limits {
		y := float64(limit.bytes) / (1 << 20)
		c.AddSeries(limit.name, []opts.LineData{{Value: numbers{0, y}}, {Value: numbers{last, y}}})
		who = append(who, seriesData{Contender: -1, Role: "limit", Name: limit.name})
	}
	return who
}
