package export

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"locbench/internal/bench"
	"locbench/internal/hdr"
	"locbench/internal/safe"
)

// requests are the single requests of a step, reconstructed: the counts come from the step and its
// windows, the latencies from its histograms. Which of them went with which latency is not known:
// they are dealt out evenly, the same way each time.
type requests struct {
	attack, method, url string
	code                uint16
	load                bench.Load
	total               int64
	stride              int64 // coprime to total: i*stride mod total visits every index once
	good, late, bad     dealt // latencies of successes, time-outs and other failures
	kinds               []bench.ErrorKind
	windows             []span
}

// dealt is a histogram as a list of latencies in order; only the ends of its buckets are kept.
type dealt struct {
	bars      []hdr.Bar
	ends      []int64 // running counts
	low, high time.Duration
}

type span struct {
	start, length time.Duration
	first, count  int64
}

func newRequests(run bench.Run, leg bench.LegResult, s bench.StepResult) (*requests, error) {
	q := &requests{
		attack: safe.Line(leg.Leg.String()+" "+s.Step.Name, 100), load: s.Load, code: 200,
		total: s.Load.Succeeded + s.Load.FailedTotal(),
	}
	if len(run.Profile.Requests) == 1 || s.Step.Request != "" {
		for _, r := range run.Profile.Requests {
			if s.Step.Request == "" || r.Name == s.Step.Request {
				q.method, q.url = safe.Line(r.Method, 20), safe.Line(r.Path, 500)
				if r.ExpectStatus >= 200 && r.ExpectStatus < 400 {
					q.code = uint16(r.ExpectStatus)
				}
			}
		}
	}
	if s.Load.Latency.HDR == "" && s.Load.Latency.Count > 0 {
		return nil, errNoHistogram
	}
	var err error
	if q.good, err = deal(s.Load.Latency); err != nil {
		return nil, err
	}
	if q.late, err = deal(s.Load.Timeouts); err != nil {
		return nil, fmt.Errorf("time-outs: %w", err)
	}
	if q.bad, err = deal(s.Load.Failures); err != nil {
		return nil, fmt.Errorf("failures: %w", err)
	}
	q.kinds = slices.Sorted(maps.Keys(s.Load.Failed))
	for _, kind := range q.kinds {
		if s.Load.Failed[kind] < 0 {
			return nil, fmt.Errorf("%d failures of kind %q", s.Load.Failed[kind], safe.Line(string(kind), 40))
		}
	}
	q.stride = coprime(q.total)
	q.spread()
	return q, nil
}

func deal(l bench.Latencies) (dealt, error) {
	if l.Count == 0 || l.HDR == "" {
		return dealt{}, nil
	}
	h, err := hdr.Decode(l)
	if err != nil {
		return dealt{}, err
	}
	d := dealt{bars: h.Bars(), low: l.Min, high: l.Max}
	var n int64
	for _, b := range d.bars {
		n += b.Count
		d.ends = append(d.ends, n)
	}
	return d, nil
}

// at is latency i in order: the middle of its bucket; the first and the last are exact.
func (d dealt) at(i int64) time.Duration {
	k := sort.Search(len(d.ends), func(k int) bool { return d.ends[k] > i })
	switch {
	case len(d.ends) == 0 || k == len(d.ends):
		return 0
	case i == 0:
		return d.low
	case i == d.ends[len(d.ends)-1]-1:
		return d.high
	}
	return min(max((d.bars[k].From+d.bars[k].To)/2, d.low), d.high)
}

// coprime is a number near the golden section of n that shares no factor with it.
func coprime(n int64) int64 {
	if n < 3 {
		return 1
	}
	for k := int64(float64(n) * 0.618); ; k++ {
		a, b := n, k
		for b != 0 {
			a, b = b, a%b
		}
		if a == 1 {
			return k
		}
	}
}

// spread lays the windows end to end over the requests. Requests that no window has come into one
// over the whole step.
func (q *requests) spread() {
	var n int64
	for _, w := range q.load.Windows {
		count := w.Succeeded
		for _, f := range w.Failed {
			count += f
		}
		if count <= 0 || n+count > q.total {
			continue
		}
		q.windows = append(q.windows, span{w.Start, w.Length, n, count})
		n += count
	}
	if n < q.total {
		q.windows = []span{{0, q.load.Elapsed, 0, q.total}}
	}
}

// at is request i; later ones are sent later, but for those at the very end.
func (q *requests) at(i int64) vegeta.Result {
	r := vegeta.Result{Attack: q.attack, Method: q.method, URL: q.url}
	j := i * q.stride % q.total
	if j < q.load.Succeeded {
		r.Code, r.Latency = q.code, q.good.at(j)
		r.BytesIn = uint64(max(q.load.Bytes, 0) / q.load.Succeeded)
		if j < q.load.Bytes%q.load.Succeeded {
			r.BytesIn++
		}
	} else {
		q.fail(&r, j-q.load.Succeeded)
	}
	k := sort.Search(len(q.windows), func(k int) bool { return q.windows[k].first > i }) - 1
	w := q.windows[max(k, 0)]
	at := w.start + time.Duration(float64(w.length)*float64(i-w.first)/float64(w.count))
	// The last one ends with the step and none later, so that the throughput is that of the step.
	if last := max(q.load.Elapsed-r.Latency, 0); i == q.total-1 || at > last {
		at = last
	}
	if i == 0 {
		at = 0
	}
	r.Timestamp = q.load.Started.Add(at)
	return r
}

// fail makes the failure with index j of r: time-outs have latencies of their own.
func (q *requests) fail(r *vegeta.Result, j int64) {
	var others int64
	for _, kind := range q.kinds {
		n := q.load.Failed[kind]
		if j >= n {
			j -= n
			if kind != bench.ErrTimeout {
				others += n
			}
			continue
		}
		r.Error = safe.Line(string(kind), 60)
		if kind == bench.ErrTimeout {
			r.Latency = q.late.at(j)
			return
		}
		r.Latency = q.bad.at(others + j)
		// Only classes of failing statuses: vegeta takes every 2xx and 3xx for a success.
		switch kind {
		case "1xx", "4xx", "5xx":
			r.Code = uint16(kind[0]-'0') * 100
		}
		return
	}
}
