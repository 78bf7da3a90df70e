package report

import (
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// moment is a second of a trial, or several of a long one: what the client counted, or what a reading
// of the contender says. NaN is unknown.
type moment struct {
	at                      float64 // seconds since the first step began
	rate, errors            float64 // per second
	p50, p99                float64 // ms, the largest
	cpus, throttled, memory float64 // in use since the reading before; % of the periods since; MiB, the largest
}

var unknown = math.NaN()

// gap ends a line: steps are not joined.
var gap = moment{unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown}

// Limits of time lines. A longer trial has several seconds in one point.
const (
	maxPoints      = 60_000
	maxTrialPoints = 2_000
	minTrialPoints = 60
	maxSeconds     = 30 * 24 * 3600 // longer than any trial
)

// secondCharts returns what client and contender did, second by second.
func secondCharts(l layout) (all []chart) {
	room := max(minTrialPoints, min(maxTrialPoints, maxPoints/max(1, len(l.columns))))
	moments, merged := make([][]moment, len(l.columns)), 1
	var steps []mark
	for i, c := range l.columns {
		var starts []mark
		var by int
		moments[i], starts, by = l.timeline(c, room)
		if merged = max(merged, by); steps == nil && len(starts) > 1 {
			steps = starts // of the first trial; those of the others begin slightly earlier or later
		}
	}
	quota := func(x bench.Limits) (float64, string) { return x.CPUs, when(x.CPUs > 0, units.CPUs(x.CPUs)) }
	memory := func(x bench.Limits) (float64, string) {
		return float64(x.Memory) / (1 << 20), when(x.Memory > 0, units.Bytes(x.Memory))
	}
	note := when(merged > 1, "Long run: each point covers up to "+plain(float64(merged))+" seconds (mean rate, highest percentile and memory). ")
	for _, one := range []struct {
		id, title, unit, note string
		of                    func(moment) float64
		limits                []mark
	}{
		{"second-throughput", "Successes/s", "/s", "", func(m moment) float64 { return m.rate }, nil},
		{"second-errors", "Errors/s", "/s", "", func(m moment) float64 { return m.errors }, nil},
		{"second-p50", "p50, ms", "ms", "", func(m moment) float64 { return m.p50 }, nil},
		{"second-p99", "p99, ms", "ms", "", func(m moment) float64 { return m.p99 }, nil},
		{"second-cpus", "CPUs in use", "", "", func(m moment) float64 { return m.cpus }, l.limits("quota", quota)},
		{"second-throttled", "Throttled periods, %", "%", "", func(m moment) float64 { return m.throttled }, nil},
		{"second-memory", "Memory in use, MiB", "MiB", "Without page cache. A leak is a straight line upward; a heap or a cache " +
			"that fills up becomes flat." + l.growth(), func(m moment) float64 { return m.memory }, l.limits("limit", memory)},
	} {
		ch := chart{ID: one.id, Title: one.title + ", by second", Unit: one.unit, Note: note + one.note, Marks: steps,
			Y: when(one.unit == "ms", "log"), xName: "seconds"}
		most := 0.
		ch = ch.ofTrials(l, func(i int, _ column) (points []point) {
			for _, m := range moments[i] {
				y, last := one.of(m), len(points)-1
				switch {
				case finite(y):
					most, points = max(most, y), append(points, point{x: m.at, y: y})
				case last >= 0 && finite(points[last].y):
					points = append(points, point{x: unknown, y: unknown})
				}
			}
			return points
		})
		if one.id == "second-errors" && most == 0 {
			continue
		}
		for _, limit := range one.limits {
			if most >= float64(limit.At)/4 { // a line far above would flatten all others
				ch.Marks = append(ch.Marks[:len(ch.Marks):len(ch.Marks)], limit)
			} else {
				ch.Note += " Above the chart: " + limit.Text + "."
			}
		}
		all = append(all, ch)
	}
	return all
}

// growth returns a sentence for each contender whose memory grows.
func (l layout) growth() (text string) {
	for _, c := range l.contenders {
		if w, ok := c.of.MemoryGrowth(); ok {
			text += " " + c.Label + ": " + cleanText(w.Text) + "."
		}
	}
	return text
}

// timeline returns the moments of a trial, the starts of its steps, and how many seconds a moment
// covers at most.
func (l layout) timeline(c column, room int) (all []moment, starts []mark, by int) {
	windows, readings := 0, 0
	for _, s := range c.steps {
		if s != nil {
			windows += len(s.Load.Windows)
			readings += len(s.Samples)
		}
	}
	by = max(1, (max(windows, readings)+room-1)/room)
	var base time.Time
	end := 0.0 // of the previous step
	for row, s := range c.steps {
		if s == nil || len(s.Load.Windows) == 0 && len(s.Samples) == 0 {
			continue
		}
		started := s.Load.Started
		if base.IsZero() {
			base = started
		}
		from := started.Sub(base).Seconds()
		if started.IsZero() || from < end || from > maxSeconds {
			from = end // without a usable clock, a step begins at the end of the previous one
		}
		starts = append(starts, mark{Text: l.rows[row].Label, At: number(from), Upright: true})
		all = append(all, clientMoments(s.Load.Windows, from, by)...)
		all = append(append(all, contenderMoments(s, from, by)...), gap)
		end = from + max(0, min(s.Load.Elapsed.Seconds(), maxSeconds))
	}
	return all, starts, by
}

// clientMoments merges the windows of the client.
func clientMoments(all []bench.Window, from float64, by int) (moments []moment) {
	for i := 0; i < len(all); i += by {
		m := gap
		var seconds float64
		var ok, failed int64
		for _, w := range all[i:min(i+by, len(all))] {
			seconds += w.Length.Seconds()
			ok += w.Succeeded
			failed += w.Failed.Total()
			m.p50, m.p99 = larger(m.p50, w.P50.Seconds()*1000), larger(m.p99, w.P99.Seconds()*1000)
		}
		m.at = from + all[i].Start.Seconds() + seconds/2
		if seconds <= 0 || !(m.at >= 0 && m.at < 2*maxSeconds) {
			continue
		}
		m.errors, m.rate = float64(failed)/seconds, float64(ok)/seconds
		moments = append(moments, m)
	}
	return append(moments, gap)
}

// contenderMoments merges the readings of the contender.
func contenderMoments(s *bench.StepResult, from float64, by int) (moments []moment) {
	before, all := s.Before, s.Samples
	if s.After != nil {
		all = append(all[:len(all):len(all)], *s.After)
	}
	memory := unknown
	for i := range all {
		u := &all[i]
		if u.Memory != nil {
			memory = larger(memory, float64(u.Memory.Used)/(1<<20))
		}
		at := from + u.At.Sub(s.Load.Started).Seconds()
		if i%by != 0 && i != len(all)-1 || !(at >= 0 && at < 2*maxSeconds) {
			continue
		}
		m := gap
		m.at, m.memory, memory = at, memory, unknown
		m.cpus, m.throttled = between(before, u)
		before = u
		moments = append(moments, m)
	}
	return moments
}

// between returns the CPUs in use between two readings, and the share of throttled periods in %.
func between(a, b *bench.Usage) (cpus, throttled float64) {
	cpus, throttled = unknown, unknown
	s := bench.StepResult{Before: a, After: b}
	if used, ok := s.CPU(); ok && b.At.Sub(a.At) > 50*time.Millisecond { // in a shorter time the error is too large
		cpus = used.Seconds() / b.At.Sub(a.At).Seconds()
	}
	if t, ok := s.Throttling(); ok && t.Periods > 0 && t.Throttled >= 0 {
		throttled = 100 * float64(t.Throttled) / float64(t.Periods)
	}
	return cpus, throttled
}

// larger returns the larger one of two values that are positive.
func larger(a, b float64) float64 {
	if b > 0 && !(a >= b) {
		return b
	}
	return a
}
