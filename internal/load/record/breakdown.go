package record

import (
	"cmp"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// Breakdown is how the requests of a step ended: all of them, and by request and session of its mix.
type Breakdown struct {
	All      RequestTally   // without what is counted by window: successes, their bytes and latency
	Requests []RequestTally // empty if the mix has one request: that is the step
	Sessions []SessionTally // one per session of the mix
}

// RequestTally counts one request of a mix.
type RequestTally struct {
	bench.Outcomes                // without Statuses and Rejected
	Latency        *hdr.Histogram // nil before the first success
	Codes          StatusTally
}

// SessionTally counts one session of a mix.
type SessionTally struct {
	Begun, Completed int64
	Rejected         int64         // ended by a rejected response
	Failed           map[int]int64 // by index of the failed request in the mix
}

// newBreakdown returns a breakdown for a number of requests and sessions.
func newBreakdown(requests, sessions int) Breakdown {
	b := Breakdown{Sessions: make([]SessionTally, sessions)}
	if requests > 1 {
		b.Requests = make([]RequestTally, requests)
	}
	return b
}

// success counts a successful response to a request of the mix.
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

// exchange counts what is known of an exchange in every phase: for the step, and for its request if
// the mix has several.
func (b *Breakdown) exchange(x *Exchange) {
	for t := &b.All; ; t = &b.Requests[x.Request] {
		if x.Checked {
			t.Checked++
		}
		if x.Status != 0 {
			t.Codes.count(x.Status, x.Rejected)
		}
		if x.Unread != "" || x.Kind != "" {
			t.odd(x)
		}
		if t != &b.All || len(b.Requests) == 0 {
			return
		}
	}
}

// odd counts an exchange that failed, or whose body was not looked at.
func (t *RequestTally) odd(x *Exchange) {
	if x.Unread != "" {
		t.Unread.Count(x.Unread)
	}
	if x.Kind != "" {
		t.Failed.Count(x.Kind)
	}
	t.Example(cmp.Or(x.Kind, x.Unread), x.Example)
}

// session counts what an exchange means for its session.
func (b *Breakdown) session(x Exchange) {
	if x.Session == 0 {
		return
	}
	t := &b.Sessions[x.Session-1]
	if x.First {
		t.Begun++
	}
	switch {
	case x.Kind != "":
		if t.Failed == nil {
			t.Failed = map[int]int64{}
		}
		t.Failed[x.Request]++
	case !x.Last:
	case x.Rejected:
		t.Rejected++
	default:
		t.Completed++
	}
}

// NeedsExample reports whether a kind of failure of a request has no example yet: formatting one is
// expensive.
func (b *Breakdown) NeedsExample(request int, kind bench.ErrorKind) bool {
	t := &b.All
	if len(b.Requests) > 0 {
		t = &b.Requests[request]
	}
	return t.Examples[kind] == ""
}

// Add adds the breakdown of another thread or slice.
func (b *Breakdown) Add(o Breakdown) {
	b.All.Add(&o.All)
	for i := range o.Requests {
		b.Requests[i].Add(&o.Requests[i])
	}
	for i := range o.Sessions {
		b.Sessions[i].Add(&o.Sessions[i])
	}
}

// Add adds the tally of another thread or slice.
func (t *SessionTally) Add(o *SessionTally) {
	t.Begun += o.Begun
	t.Completed += o.Completed
	t.Rejected += o.Rejected
	if t.Failed == nil && len(o.Failed) > 0 {
		t.Failed = map[int]int64{}
	}
	for request, n := range o.Failed {
		t.Failed[request] += n
	}
}

// Add adds the tally of another thread or slice.
func (t *RequestTally) Add(o *RequestTally) {
	t.Outcomes.Add(o.Outcomes)
	t.Codes.Add(o.Codes)
	if o.Latency == nil {
		return
	}
	if t.Latency == nil {
		t.Latency = hdr.New()
	}
	t.Latency.Merge(o.Latency)
}

// outcomes returns the outcomes with those by status.
func (t *RequestTally) outcomes() bench.Outcomes {
	all := t.Outcomes
	all.Statuses, all.Rejected = t.Codes.results()
	return all
}

// results returns the requests with their names.
func (b *Breakdown) results(names []string) (all []bench.RequestLoad) {
	for i, t := range b.Requests {
		one := bench.RequestLoad{Name: names[i], Outcomes: t.outcomes()}
		if t.Latency != nil {
			one.Latency = t.Latency.Latencies()
		}
		all = append(all, one)
	}
	return all
}

// sessions returns the sessions with their names and the names of failed requests.
func (b *Breakdown) sessions(names, requests []string) (all []bench.SessionLoad) {
	for i, t := range b.Sessions {
		one := bench.SessionLoad{Name: names[i], Begun: t.Begun, Completed: t.Completed, Rejected: t.Rejected}
		for request, n := range t.Failed {
			if one.Failed == nil {
				one.Failed = map[string]int64{}
			}
			one.Failed[requests[request]] = n
		}
		all = append(all, one)
	}
	return all
}
