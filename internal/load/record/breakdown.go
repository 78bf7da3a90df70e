package record

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// Breakdown splits a step by the requests and sessions of its mix, and keeps examples of failures.
type Breakdown struct {
	Requests []RequestTally // empty if the mix has one request: that is the step
	Sessions []SessionTally // one per session of the mix
	Examples map[bench.ErrorKind]string
	Statuses StatusTally
	Unread   map[bench.ErrorKind]int64 // bodies that were to be compared, and were not looked at
}

// RequestTally counts one request of a mix.
type RequestTally struct {
	Succeeded, Bytes int64
	Checked          int64 // responses whose bodies were compared
	Failed, Unread   map[bench.ErrorKind]int64
	Examples         map[bench.ErrorKind]string
	Latency          *hdr.Histogram // nil before the first success
	Statuses         StatusTally
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

// status counts a complete response to a request of the mix.
func (b *Breakdown) status(x *Exchange) {
	b.Statuses.count(x.Status, x.Rejected)
	if len(b.Requests) > 0 {
		b.Requests[x.Request].Statuses.count(x.Status, x.Rejected)
	}
}

// unread counts a body of a request of the mix that was not looked at.
func (b *Breakdown) unread(x *Exchange) {
	one := map[bench.ErrorKind]int64{x.Unread: 1}
	addKinds(&b.Unread, one)
	if len(b.Requests) > 0 {
		addKinds(&b.Requests[x.Request].Unread, one)
	}
	if x.Kind == "" {
		b.example(x.Request, x.Unread, x.Example)
	}
}

// addKinds adds counts to a map that may be nil.
func addKinds(to *map[bench.ErrorKind]int64, counts map[bench.ErrorKind]int64) {
	if *to == nil && len(counts) > 0 {
		*to = map[bench.ErrorKind]int64{}
	}
	addFailures(*to, counts)
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

// failure counts a failure of a request of the mix.
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

// example keeps the text of a failure, unless that kind of that request already has one.
func (b *Breakdown) example(request int, kind bench.ErrorKind, text string) {
	keepFirst(&b.Examples, kind, text)
	if len(b.Requests) > 0 {
		keepFirst(&b.Requests[request].Examples, kind, text)
	}
}

// NeedsExample reports whether a kind of failure of a request has no example yet: formatting one is
// expensive.
func (b *Breakdown) NeedsExample(request int, kind bench.ErrorKind) bool {
	examples := b.Examples
	if len(b.Requests) > 0 {
		examples = b.Requests[request].Examples
	}
	return examples[kind] == ""
}

func keepFirst(examples *map[bench.ErrorKind]string, kind bench.ErrorKind, text string) {
	if text == "" || (*examples)[kind] != "" {
		return
	}
	if *examples == nil {
		*examples = map[bench.ErrorKind]string{}
	}
	(*examples)[kind] = text
}

// Add adds the breakdown of another thread or slice. The first example of each kind stays.
func (b *Breakdown) Add(o Breakdown) {
	for i := range o.Requests {
		b.Requests[i].Add(&o.Requests[i])
	}
	for i := range o.Sessions {
		b.Sessions[i].Add(&o.Sessions[i])
	}
	for kind, text := range o.Examples {
		keepFirst(&b.Examples, kind, text)
	}
	addKinds(&b.Unread, o.Unread)
	b.Statuses.Add(o.Statuses)
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
	t.Succeeded += o.Succeeded
	t.Bytes += o.Bytes
	t.Checked += o.Checked
	t.Statuses.Add(o.Statuses)
	addKinds(&t.Failed, o.Failed)
	addKinds(&t.Unread, o.Unread)
	for kind, text := range o.Examples {
		keepFirst(&t.Examples, kind, text)
	}
	if o.Latency == nil {
		return
	}
	if t.Latency == nil {
		t.Latency = hdr.New()
	}
	t.Latency.Merge(o.Latency)
}

// results returns the requests with their names.
func (b *Breakdown) results(names []string) (all []bench.RequestLoad) {
	for i, t := range b.Requests {
		one := bench.RequestLoad{
			Name: names[i], Succeeded: t.Succeeded, Failed: t.Failed, Examples: t.Examples, Bytes: t.Bytes,
			Checked: t.Checked, Unread: t.Unread,
		}
		one.Statuses, one.Rejected = t.Statuses.results()
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
