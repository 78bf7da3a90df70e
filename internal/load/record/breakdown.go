package record

import (
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// Breakdown is what is known of a whole step beside its sums: the requests of its mix one by one,
// and examples of what went wrong.
type Breakdown struct {
	Requests []RequestTally // empty where the mix has only one: that is the step
	Examples map[bench.ErrorKind]string
}

// RequestTally is what became of one request of a mix.
type RequestTally struct {
	Succeeded, Bytes int64
	Failed           map[bench.ErrorKind]int64
	Latency          *hdr.Histogram // nil before the first success
}

// newBreakdown makes room for so many requests.
func newBreakdown(requests int) Breakdown {
	b := Breakdown{Examples: map[bench.ErrorKind]string{}}
	if requests > 1 {
		b.Requests = make([]RequestTally, requests)
	}
	return b
}

// success records an answer to a request of the mix.
func (b *Breakdown) success(request int, latency time.Duration, bytes int64) {
	if len(b.Requests) == 0 {
		return
	}
	t := &b.Requests[request]
	if t.Latency == nil {
		t.Latency = hdr.New()
	}
	t.Latency.Record(latency)
	t.Succeeded++
	t.Bytes += bytes
}

// failure records a request of the mix that failed.
func (b *Breakdown) failure(request int, kind bench.ErrorKind) {
	if len(b.Requests) == 0 {
		return
	}
	t := &b.Requests[request]
	if t.Failed == nil {
		t.Failed = map[bench.ErrorKind]int64{}
	}
	t.Failed[kind]++
}

// Add adds what another thread or turn has. Of each kind of failure the first example stays.
func (b *Breakdown) Add(o Breakdown) {
	for i := range o.Requests {
		b.Requests[i].Add(&o.Requests[i])
	}
	for kind, text := range o.Examples {
		if _, known := b.Examples[kind]; !known {
			b.Examples[kind] = text
		}
	}
}

// Add adds what another thread or turn has.
func (t *RequestTally) Add(o *RequestTally) {
	t.Succeeded += o.Succeeded
	t.Bytes += o.Bytes
	if t.Failed == nil && len(o.Failed) > 0 {
		t.Failed = map[bench.ErrorKind]int64{}
	}
	addFailures(t.Failed, o.Failed)
	if o.Latency == nil {
		return
	}
	if t.Latency == nil {
		t.Latency = hdr.New()
	}
	t.Latency.Merge(o.Latency)
}

// results are the requests by their names.
func (b *Breakdown) results(names []string) (all []bench.RequestLoad) {
	for i, t := range b.Requests {
		one := bench.RequestLoad{Name: names[i], Succeeded: t.Succeeded, Failed: t.Failed, Bytes: t.Bytes}
		if t.Latency != nil {
			one.Latency = t.Latency.Latencies()
		}
		all = append(all, one)
	}
	return all
}
