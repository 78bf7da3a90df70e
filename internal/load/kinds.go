package load

import (
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// kinds is what became of each kind of request of a mix, over the whole step. It is empty where there is only one: that is the step.
type kinds []kindTally

type kindTally struct {
	succeeded, bytes int64
	failed           map[bench.ErrorKind]int64
	latency          *hdr.Histogram // nil before the first success
}

// newKinds makes room for the requests of m.
func newKinds(m *mix) kinds {
	if m == nil || len(m.requests) < 2 {
		return nil
	}
	return make(kinds, len(m.requests))
}

// success records an answer to r.
func (k kinds) success(r *request, latency time.Duration, bytes int64) {
	if len(k) == 0 {
		return
	}
	t := &k[r.index]
	if t.latency == nil {
		t.latency = hdr.New()
	}
	t.latency.Record(latency)
	t.succeeded++
	t.bytes += bytes
}

// failure records one that failed.
func (k kinds) failure(r *request, kind bench.ErrorKind) {
	if len(k) == 0 {
		return
	}
	t := &k[r.index]
	if t.failed == nil {
		t.failed = map[bench.ErrorKind]int64{}
	}
	t.failed[kind]++
}

// add takes over what another loop has counted.
func (k kinds) add(other kinds) {
	for i, o := range other {
		t := &k[i]
		t.succeeded += o.succeeded
		t.bytes += o.bytes
		for kind, n := range o.failed {
			if t.failed == nil {
				t.failed = map[bench.ErrorKind]int64{}
			}
			t.failed[kind] += n
		}
		if o.latency == nil {
			continue
		}
		if t.latency == nil {
			t.latency = hdr.New()
		}
		t.latency.Merge(o.latency)
	}
}

// results tells them by the names in m.
func (k kinds) results(m *mix) (all []bench.RequestLoad) {
	for i, t := range k {
		one := bench.RequestLoad{Name: m.requests[i].name, Succeeded: t.succeeded, Failed: t.failed, Bytes: t.bytes}
		if t.latency != nil {
			one.Latency = t.latency.Latencies()
		}
		all = append(all, one)
	}
	return all
}
