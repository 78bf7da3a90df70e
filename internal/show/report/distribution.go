package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// distribution holds the latencies of one step of a contender, merged over all its rounds.
type distribution struct {
	Contender int        `json:"c"`
	Row       int        `json:"row"`
	Count     int64      `json:"n"`
	Curve     numbers    `json:"curve"` // ms at the quantiles of shares(), as far as there are enough responses
	Buckets   [][2]int64 `json:"heat"`  // pairs of a bucket and the number of latencies in it
}

// perDecade is the number of buckets of the heat map from 1 ms to 10 ms.
const perDecade = 8

// shares returns 1/(1−q) of the points of a curve: ten per decade, for up to a billion responses.
func shares() numbers {
	var all numbers
	for k := range 91 {
		all = append(all, math.Pow(10, float64(k)/10))
	}
	return all
}

func distributions(l layout) (all []distribution) {
	for n, c := range l.contenders {
		for row, index := range l.indices {
			s, ok := stepAt(c.of.Contender, index)
			if !ok || s.Latency.Count <= 0 {
				continue
			}
			// An unreadable histogram leaves a gap.
			if h, err := s.Histogram(); err == nil && h != nil {
				d := newDistribution(h)
				d.Contender, d.Row = n, row
				all = append(all, d)
			}
		}
	}
	return all
}

func newDistribution(h *hdr.Histogram) distribution {
	d := distribution{Count: h.Count()}
	ms := func(x time.Duration) float64 { return float64(x) / float64(time.Millisecond) }
	for _, x := range shares() {
		if x > float64(h.Count()) {
			break
		}
		d.Curve = append(d.Curve, positive(ms(h.Quantile(1-1/x))))
	}
	counts := map[int64]int64{}
	for _, bar := range h.Bars() {
		middle := max(ms(bar.From)/2+ms(bar.To)/2, 1e-6)
		counts[int64(math.Floor(perDecade*math.Log10(middle)))] += bar.Count
	}
	for _, k := range slices.SortedFunc(maps.Keys(counts), cmp.Compare) {
		d.Buckets = append(d.Buckets, [2]int64{k, counts[k]})
	}
	return d
}

// peakRow returns the row of the fastest contender's peak step; without a peak, the last row.
func (l layout) peakRow() int {
	best, row := 0.0, max(0, len(l.rows)-1)
	for _, c := range l.contenders {
		if s, ok := c.of.PeakStep(); ok && s.Throughput.Median > best {
			best, row = s.Throughput.Median, max(0, slices.Index(l.indices, s.Index))
		}
	}
	return row
}

// timeline is one trial, second by second: the windows of the client and the readings of the
// contender. All columns of a group are equally long; times are in seconds since the first step
// began. A null ends a line, so steps are not joined.
type timeline struct {
	Contender int     `json:"c"`
	Round     int     `json:"r"`
	Steps     []span  `json:"steps"`
	T         numbers `json:"t"`    // middle of a window
	Rate      numbers `json:"rate"` // successes/s
	Errors    numbers `json:"err"`  // per second
	P50       numbers `json:"p50"`  // ms
	P99       numbers `json:"p99"`
	At        numbers `json:"at"`  // time of a reading
	CPU       numbers `json:"cpu"` // CPUs in use since the previous reading
	Throttled numbers `json:"thr"` // % of periods throttled since the previous reading
	Memory    numbers `json:"mem"` // MiB in use
}

// span is a step of a trial: its row, and its start and end in seconds.
type span struct {
	Row  int    `json:"row"`
	From number `json:"from"`
	To   number `json:"to"`
}

// Limits of time lines. A longer trial has several seconds in one point.
const (
	maxPoints      = 60_000
	maxTrialPoints = 2_000
	minTrialPoints = 60
	maxSeconds     = 30 * 24 * 3600 // longer than any trial
)

// timelines returns the time lines that have points. merged is the most seconds in one point.
func timelines(l layout) (all []timeline, merged int) {
	room := max(minTrialPoints, min(maxTrialPoints, maxPoints/max(1, len(l.columns))))
	merged = 1
	for _, c := range l.columns {
		t, by := newTimeline(c, room)
		if len(t.T) == 0 && len(t.At) == 0 {
			continue
		}
		merged = max(merged, by)
		all = append(all, t)
	}
	return all, merged
}

func newTimeline(c column, room int) (timeline, int) {
	t := timeline{Contender: c.Contender, Round: c.Round}
	windows, readings := 0, 0
	for _, s := range c.steps {
		if s != nil {
			windows += len(s.Load.Windows)
			readings += len(s.Samples)
		}
	}
	by := max(1, (max(windows, readings)+room-1)/room)
	var base time.Time
	end := 0.0 // end of the previous step
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
		to := from + max(0, min(s.Load.Elapsed.Seconds(), maxSeconds))
		t.Steps = append(t.Steps, span{row, number(from), number(to)})
		t.window(s.Load.Windows, from, by)
		t.read(s, from, by)
		end = to
	}
	return t, by
}

// window adds the client's windows. A point of several has their mean rate and largest quantiles.
func (t *timeline) window(all []bench.Window, from float64, by int) {
	for i := 0; i < len(all); i += by {
		var seconds, p50, p99 float64
		var ok, failed int64
		drain := true
		for _, w := range all[i:min(i+by, len(all))] {
			seconds += w.Length.Seconds()
			ok += w.Succeeded
			for _, n := range w.Failed {
				failed += n
			}
			drain = drain && w.Drain
			p50, p99 = max(p50, w.P50.Seconds()*1000), max(p99, w.P99.Seconds()*1000)
		}
		at := from + all[i].Start.Seconds() + seconds/2
		if seconds <= 0 || !(at >= 0 && at < 2*maxSeconds) {
			continue
		}
		rate := float64(ok) / seconds
		if drain {
			rate = unknown // sending had ended
		}
		t.add(at, rate, float64(failed)/seconds, positive(p50), positive(p99))
	}
	t.add(unknown, unknown, unknown, unknown, unknown)
}

func (t *timeline) add(at, rate, errors, p50, p99 float64) {
	t.T, t.Rate, t.Errors = append(t.T, at), append(t.Rate, rate), append(t.Errors, errors)
	t.P50, t.P99 = append(t.P50, p50), append(t.P99, p99)
}

// read adds every by-th reading of the contender.
func (t *timeline) read(s *bench.StepResult, from float64, by int) {
	before := s.Before
	all := s.Samples
	if s.After != nil {
		all = append(all[:len(all):len(all)], *s.After)
	}
	for i := range all {
		if i%by != 0 && i != len(all)-1 {
			continue
		}
		u := &all[i]
		at := from + u.At.Sub(s.Load.Started).Seconds()
		if !(at >= 0 && at < 2*maxSeconds) {
			continue
		}
		cpus, throttled := between(before, u)
		memory := unknown
		if u.Memory != nil {
			memory = positive(float64(u.Memory.Used) / (1 << 20))
		}
		before = u
		t.reading(at, cpus, throttled, memory)
	}
	t.reading(unknown, unknown, unknown, unknown)
}

func (t *timeline) reading(at, cpus, throttled, memory float64) {
	t.At, t.CPU, t.Throttled, t.Memory = append(t.At, at), append(t.CPU, cpus), append(t.Throttled,
		throttled), append(t.Memory, memory)
}

// between returns the CPUs in use between two readings, and the share of throttled periods in %.
func between(a, b *bench.Usage) (cpus, throttled float64) {
	cpus, throttled = unknown, unknown
	if a == nil {
		return cpus, throttled
	}
	if seconds := b.At.Sub(a.At).Seconds(); seconds > 0.05 && b.CPU >= a.CPU { // in a shorter time the error is too large
		cpus = (b.CPU - a.CPU).Seconds() / seconds
	}
	if a.Throttling != nil && b.Throttling != nil {
		if n := b.Throttling.Periods - a.Throttling.Periods; n > 0 && b.Throttling.Throttled >= a.Throttling.Throttled {
			throttled = 100 * float64(b.Throttling.Throttled-a.Throttling.Throttled) / float64(n)
		}
	}
	return cpus, throttled
}

var unknown = math.NaN()

// positive returns v, or unknown if v is not positive.
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return unknown
}
