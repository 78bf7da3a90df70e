package stats

import (
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
	growthEach    = 0.40    // of the mean growth: the least growth of a part
	growthLater   = 0.70    // × the rate of the first half: the least rate of the second; a cache slows down
	growthLeast   = 8 << 20 // bytes: less is noise of an allocator
	growthShare   = 0.10    // of the memory at the beginning: less is noise of a large heap
)

// MemoryGrowth returns by how many bytes per request memory grows at an unchanged load without
// coming back; ok is false if it does not. It looks at the lower envelope, the least memory from a
// point on: what a collector gives back later is not growth. A leak is linear in requests; a heap
// and a cache that fill up grow less and less.
func MemoryGrowth(points []MemoryPoint) (perRequest float64, ok bool) {
	if len(points) < growthPoints {
		return 0, false
	}
	env := slices.Clone(points)
	for i := len(env) - 2; i >= 0; i-- {
		env[i].Bytes = min(env[i].Bytes, env[i+1].Bytes)
	}
	first, last := env[0].Requests, env[len(env)-1].Requests
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
	return growth / (last - from), true
}

// bytesAt interpolates the memory after a number of requests: more than at the first point, and at
// most those at the last one.
func bytesAt(points []MemoryPoint, requests float64) float64 {
	i := slices.IndexFunc(points, func(p MemoryPoint) bool { return p.Requests >= requests })
	a, b := points[i-1], points[i]
	return a.Bytes + (b.Bytes-a.Bytes)*(requests-a.Requests)/(b.Requests-a.Requests)
}

// StepMemory returns the memory over the requests of a step, one point per reading. Requests count
// from before; those of the lead-in are left out.
func StepMemory(res bench.StepResult, before float64) (points []MemoryPoint) {
	if res.Before == nil {
		return nil
	}
	add := func(u *bench.Usage) {
		if u != nil && u.Memory != nil && u.Memory.Used > 0 {
			points = append(points, MemoryPoint{before + requestsAt(res.Load, u.At.Sub(res.Before.At)), float64(u.Memory.Used)})
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
		if w.Drain || w.Length <= 0 || at <= w.Start {
			continue
		}
		share := min(1, float64(at-w.Start)/float64(w.Length))
		n += share * float64(w.Succeeded+w.Rejected+bench.Load{Failed: w.Failed}.FailedTotal())
	}
	return n
}
