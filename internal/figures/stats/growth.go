package stats

import (
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

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
