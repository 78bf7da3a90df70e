package stats

import (
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

const (
	// minDrift is the minimum number of windows for a drift.
	minDrift = 4

	// largest p values of a trend: of a contender that became faster, which in a runtime without threads
	// of compilers nothing else shows; of one that became slower, and of either one relative to the
	// others of its slices
	fasterNoise = 0.001
	slowerNoise = 0.01
)

// Drift returns why a measured step was not in a steady state; nil: it was. Threads of compilers show
// it by their share of CPU time. A runtime that has none shows it by a trend in throughput or CPU time per
// request; where other contenders were loaded in the same slices, they must not have the trend too, else
// it was the machine.
func Drift(s bench.StepResult, beside ...bench.StepResult) *bench.Drift {
	if s.Step.WarmUp || s.Aborted != "" || changing(s.Step) {
		return nil
	}
	share, compiles := s.Compiling(.5)
	if share > bench.CompilingWithin {
		return &bench.Drift{Compiled: share}
	}
	rates, costs := series(s)
	var theirRates, theirCosts [][]float64
	for _, other := range beside {
		r, c := series(other)
		theirRates, theirCosts = append(theirRates, r), append(theirCosts, c)
	}
	var own, shared bench.Drift
	own.Throughput, shared.Throughput = trend(rates, theirRates, 1, compiles)
	own.CPU, shared.CPU = trend(costs, theirCosts, -1, compiles)
	switch {
	case own != (bench.Drift{}):
		return &own
	case shared != (bench.Drift{}):
		shared.Machine = true
		return &shared
	}
	return nil
}

// series returns throughput and CPU time per success of the windows of a step.
func series(s bench.StepResult) (rates, cost []float64) {
	windows := wholeWindows(s.Load)
	for _, w := range windows {
		rates = append(rates, w.Throughput())
	}
	return rates, costs(s, windows)
}

// changing reports whether the load of a step varies.
func changing(s bench.Step) bool {
	return s.RampTo > 0 || s.RampFrom > 0 || s.Wave != nil || s.Arrivals != nil
}

// trend returns the trend of a contender, and one that its others have as well. faster is the sign of
// the change of a contender that becomes faster, which says nothing of one that compiles on threads
// that did not.
func trend(of []float64, beside [][]float64, faster float64, compiles bool) (own, shared *bench.Trend) {
	l, ok := FitLine(of)
	if len(of) < minDrift || !ok || math.Abs(l.Change()) <= bench.DriftWithin {
		return nil, nil
	}
	t, rises, noise := &bench.Trend{Change: l.Change(), P: l.P()}, l.Change()*faster > 0, slowerNoise
	if rises {
		noise = fasterNoise
	}
	if t.P > noise {
		return nil, nil
	}
	apart, ok := FitLine(besideThem(of, beside))
	switch {
	case ok && math.Abs(apart.Change()) <= math.Abs(t.Change)/2:
		return nil, t
	case rises && compiles, ok && (apart.Change()*t.Change < 0 || apart.P() > slowerNoise):
		return nil, nil
	}
	return t, nil
}

// besideThem returns a series divided by the geometric mean of its others; nil without any that is known.
func besideThem(of []float64, beside [][]float64) []float64 {
	beside = slices.DeleteFunc(beside, func(b []float64) bool { return len(b) < minDrift || slices.Min(b) <= 0 })
	if len(beside) == 0 {
		return nil
	}
	for _, b := range beside {
		of = of[:min(len(of), len(b))]
	}
	ratio := slices.Clone(of)
	for i := range ratio {
		for _, b := range beside {
			ratio[i] /= math.Pow(b[i], 1/float64(len(beside)))
		}
	}
	return ratio
}

// wholeWindows returns the windows of full length.
func wholeWindows(l bench.Load) (whole []bench.Window) {
	longest := time.Duration(0)
	for _, w := range l.Windows {
		longest = max(longest, w.Length)
	}
	for _, w := range l.Windows {
		if w.Length >= longest*9/10 {
			whole = append(whole, w)
		}
	}
	return whole
}

// costs returns the CPU time per success of each window; nil if it is not known for all. Counters
// are read about once a second; between readings it interpolates linearly.
func costs(s bench.StepResult, windows []bench.Window) []float64 {
	if s.Before == nil || s.After == nil {
		return nil
	}
	readings := append(append([]bench.Usage{*s.Before}, s.Samples...), *s.After)
	longest := time.Duration(0)
	for _, w := range windows {
		longest = max(longest, w.Length)
	}
	for i := 1; i < len(readings); i++ {
		if gap := readings[i].At.Sub(readings[i-1].At); gap < 0 || gap > 2*longest || readings[i].CPU < readings[i-1].CPU {
			return nil // too few readings, or the clock was set
		}
	}
	used := func(at time.Time) float64 {
		i := slices.IndexFunc(readings, func(u bench.Usage) bool { return u.At.After(at) })
		if i < 0 {
			i = len(readings) - 1
		}
		i = max(i, 1)
		a, b := readings[i-1], readings[i]
		between := b.At.Sub(a.At)
		if between <= 0 {
			return float64(a.CPU)
		}
		share := min(max(float64(at.Sub(a.At))/float64(between), 0), 1)
		return float64(a.CPU) + share*float64(b.CPU-a.CPU)
	}
	all := make([]float64, len(windows))
	for i, w := range windows {
		from := s.Load.Started.Add(w.Start)
		if w.Succeeded == 0 {
			return nil
		}
		all[i] = (used(from.Add(w.Length)) - used(from)) / float64(w.Succeeded)
	}
	return all
}

// MemoryPoint is the memory use of a contender after a number of requests.
type MemoryPoint struct {
	Requests float64
	Bytes    float64
}

// The rule of MemoryGrowth. The shares are from 0 to 1.
const (
	growthPoints  = 10      // readings; with fewer a collector's cycle looks like growth
	growthLeadOut = 0.20    // of the requests at the beginning: the heap grows to its working size
	growthParts   = 4       // parts of the rest, each of which must grow
	growthEach    = 0.40    // of the mean growth: the least growth of a part, and of the last step
	growthLater   = 0.70    // × the rate of the first half: the least rate of the second; a cache slows down
	growthStall   = 2       // × the longest earlier stall: the longest one at the end; a collector's become longer with the heap
	growthSettled = 0.60    // × the rate: the least rate of the second halves of steps; a heap that follows the load is settled there
	growthLeast   = 8 << 20 // bytes: less is noise of an allocator
	growthShare   = 0.10    // of the memory at the beginning: less is noise of a large heap
	growthSeen    = 1 << 20 // bytes that a step should have grown by: less is not seen in it
)

// MemoryGrowth returns by how many bytes per request memory grows over the steps of a trial, or
// over its last ones, without coming back; ok is false if it does not. It looks at the lower
// envelope, the least memory from a point on: what a collector gives back later is not growth. A
// leak is linear in requests, whatever the load; a heap and a cache that fill up grow less and
// less, and a heap that follows the number of connections does not grow at the end of a step.
func MemoryGrowth(steps [][]MemoryPoint) (perRequest float64, ok bool) {
	for from := range steps {
		if perRequest, ok = growth(steps[from:]); ok {
			return perRequest, true
		}
	}
	return 0, false
}

func growth(steps [][]MemoryPoint) (perRequest float64, ok bool) {
	env := slices.Concat(steps...)
	if len(env) < growthPoints {
		return 0, false
	}
	for i := len(env) - 2; i >= 0; i-- {
		env[i].Bytes = min(env[i].Bytes, env[i+1].Bytes)
	}
	first, last := env[0].Requests, beforeStall(env)
	from := first + growthLeadOut*(last-first)
	if last <= from {
		return 0, false
	}
	var ends [growthParts + 1]float64
	for i := range ends {
		ends[i] = bytesAt(env, min(last, from+(last-from)*float64(i)/growthParts))
	}
	growth := ends[growthParts] - ends[0]
	if growth < growthLeast || growth < growthShare*ends[0] {
		return 0, false
	}
	for i := range growthParts {
		if ends[i+1]-ends[i] < growthEach*growth/growthParts {
			return 0, false
		}
	}
	half := ends[growthParts/2]
	if ends[growthParts]-half < growthLater*(half-ends[0]) {
		return 0, false
	}
	end := env[len(env)-1]
	return (end.Bytes - ends[0]) / (end.Requests - from), settled(steps, env, from, last, growth/(last-from))
}

// beforeStall returns the number of requests at which the memory of an envelope stalled at its end:
// that of the last point, unless it stalled before for half as long or longer and grew again. Where a
// collector lets the heap double, a leak grows in stairs; a cache that is full stalls once.
func beforeStall(env []MemoryPoint) float64 {
	first, last := env[0], env[len(env)-1]
	rate := growthEach * (last.Bytes - first.Bytes) / max(1, last.Requests-first.Requests)
	longest, since := 0., first.Requests
	for i, b := range env[1:] {
		if a := env[i]; b.Bytes-a.Bytes > rate*(b.Requests-a.Requests) {
			longest, since = max(longest, a.Requests-since), b.Requests
		}
	}
	if last.Requests-since > growthStall*longest {
		return last.Requests
	}
	return since
}

// settled reports whether memory grows at a rate while the load is unchanged: in the second halves
// of the steps from a number of requests on, and at the last. env is the envelope of the steps.
func settled(steps [][]MemoryPoint, env []MemoryPoint, from, last, rate float64) bool {
	var grown, want float64
	atEnd := true
	for _, s := range steps {
		if len(s) < 2 {
			continue
		}
		end := min(s[len(s)-1].Requests, last)
		mid := max((s[0].Requests+end)/2, from)
		if end <= mid {
			continue
		}
		g, w := bytesAt(env, end)-bytesAt(env, mid), rate*(end-mid)
		grown, want = grown+g, want+w
		atEnd = w < growthSeen || g >= growthEach*w
	}
	return atEnd && grown >= growthSettled*want
}

// bytesAt interpolates the memory after a number of requests: more than at the first point, and at
// most those at the last one.
func bytesAt(points []MemoryPoint, requests float64) float64 {
	i := slices.IndexFunc(points, func(p MemoryPoint) bool { return p.Requests >= requests })
	a, b := points[i-1], points[i]
	return a.Bytes + (b.Bytes-a.Bytes)*(requests-a.Requests)/(b.Requests-a.Requests)
}

// StepRequests returns all requests of a step that have ended, those of lead-in and drain too.
func StepRequests(l bench.Load) float64 {
	return float64(l.Ended())
}

// StepMemory returns the memory over the requests of a step, one point per reading. Requests count
// from before. Those of the lead-in come before the first reading; with slices each has a lead-in
// and a drain, which fill the memory too.
func StepMemory(res bench.StepResult, before float64) (points []MemoryPoint) {
	if res.Before == nil {
		return nil
	}
	scale := 1.
	if i := res.Interleave; i != nil && i.Alternated == "" {
		scale = max(1, StepRequests(res.Load)/max(1, requestsAt(res.Load, math.MaxInt64)))
	} else {
		before += float64(res.Load.Lead)
	}
	add := func(u *bench.Usage) {
		if u != nil && u.Memory != nil && u.Memory.Used > 0 {
			points = append(points, MemoryPoint{before + scale*requestsAt(res.Load, u.At.Sub(res.Before.At)), float64(u.Memory.Used)})
		}
	}
	add(res.Before)
	for i := range res.Samples {
		add(&res.Samples[i])
	}
	add(res.After)
	return points
}

// requestsAt returns the requests that had ended a time after the start of the measured interval.
func requestsAt(l bench.Load, at time.Duration) (n float64) {
	for _, w := range l.Windows {
		if w.Length <= 0 || at <= w.Start {
			continue
		}
		share := min(1, float64(at-w.Start)/float64(w.Length))
		n += share * float64(w.Succeeded+w.Rejected+w.Failed.Total())
	}
	return n
}

// ConstantLoad reports whether a step put a constant load on the contender to its end.
func ConstantLoad(r bench.StepResult) bool { return r.Aborted == "" && !changing(r.Step) }

// growthOf returns the warning of growing memory of the last steps of a trial that have one; nil if
// memory did not grow in a later one with the same request.
func growthOf(steps []bench.StepResult) (of *bench.Warning) {
	request := ""
	for _, s := range steps {
		if of != nil && ConstantLoad(s) && s.Step.Request == request {
			of = nil
		}
		for _, w := range s.Warnings {
			if w.Kind == bench.WarnMemoryGrowth {
				of, request = &w, s.Step.Request
			}
		}
	}
	return of
}
