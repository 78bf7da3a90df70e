package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"locbench/internal/bench"
	"locbench/internal/figures/hdr"
	"locbench/internal/text/safe"
)

// requests reconstructs the single requests of a step: counts come from the step and its windows,
// latencies from its histograms. Which request had which latency is unknown, so latencies are
// assigned at random, with a fixed seed.
type requests struct {
	common          vegeta.Result // the fields that all requests share
	load            bench.Load
	good, late, bad *hdr.Histogram // latencies of successes, timeouts and other failures; nil: unknown
}

// request is a reconstructed request; at is the time since the start of the step.
type request struct {
	at, latency time.Duration
	bytes       int64
	kind        bench.ErrorKind // "": it succeeded
}

// maxWritten bounds the memory for requests, which take about 50 bytes each.
const maxWritten = 1 << 28

func newRequests(run bench.Run, trial bench.TrialResult, s bench.StepResult) (q requests, err error) {
	q.load = s.Load
	q.common = vegeta.Result{Attack: safe.Line(trial.Trial.String()+" "+s.Step.Name, 100), Code: 200}
	for _, r := range run.Profile.Requests {
		if len(run.Profile.Requests) == 1 && s.Step.Request == "" || s.Step.Request != "" && r.Name == s.Step.Request {
			q.common.Method, q.common.URL = safe.Line(r.Method, 20), safe.Line(r.Path, 500)
			if r.ExpectStatus >= 200 && r.ExpectStatus < 400 {
				q.common.Code = uint16(r.ExpectStatus)
			}
		}
	}
	if s.Load.Latency.HDR == "" && s.Load.Latency.Count > 0 {
		return q, errNoHistogram
	}
	for _, of := range []struct {
		name string
		l    bench.Latencies
		to   **hdr.Histogram
	}{
		{"successes", s.Load.Latency, &q.good}, {"timeouts", s.Load.Timeouts, &q.late},
		{"failures", s.Load.Failures, &q.bad},
	} {
		if of.l.Count == 0 || of.l.HDR == "" {
			continue
		}
		if *of.to, err = hdr.Decode(of.l); err != nil {
			return q, fmt.Errorf("%s: %w", of.name, err)
		}
	}
	if s.Load.Succeeded < 0 {
		return q, fmt.Errorf("%d successes", s.Load.Succeeded)
	}
	for kind, n := range s.Load.Failed {
		if n < 0 || n > maxWritten {
			return q, fmt.Errorf("%d failures of kind %q", n, safe.Line(string(kind), 40))
		}
	}
	return q, nil
}

// latencies returns n latencies of a histogram in ascending order. The first and the last are
// exact, the others are the middle of their buckets. Latencies that the histogram lacks are 0.
func latencies(h *hdr.Histogram, of bench.Latencies, n int64) []time.Duration {
	all := make([]time.Duration, 0, n)
	if h != nil {
		for _, b := range h.Bars() {
			middle := min(max((b.From+b.To)/2, of.Min), of.Max)
			all = append(all, slices.Repeat([]time.Duration{middle}, int(min(b.Count, n-int64(len(all)))))...)
		}
	}
	if len(all) > 0 {
		all[len(all)-1], all[0] = of.Max, of.Min
	}
	return all[:n]
}

// all returns the requests sorted by time.
func (q requests) all() []request {
	l := q.load
	var out []request
	for i, d := range latencies(q.good, l.Latency, l.Succeeded) {
		r := request{latency: d, bytes: max(l.Bytes, 0) / l.Succeeded}
		if int64(i) < l.Bytes%l.Succeeded {
			r.bytes++
		}
		out = append(out, r)
	}
	timeouts := l.Failed[bench.ErrTimeout]
	late, bad := latencies(q.late, l.Timeouts, timeouts), latencies(q.bad, l.Failures, l.FailedTotal()-timeouts)
	for _, kind := range slices.Sorted(maps.Keys(l.Failed)) {
		from := &bad
		if kind == bench.ErrTimeout {
			from = &late
		}
		for _, d := range (*from)[:l.Failed[kind]] {
			out = append(out, request{latency: d, kind: kind})
		}
		*from = (*from)[l.Failed[kind]:]
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	q.spread(out)
	for i := range out {
		// The last request ends with the step: the throughput is that of the step.
		if last := max(l.Elapsed-out[i].latency, 0); i == len(out)-1 || out[i].at > last {
			out[i].at = last
		}
	}
	out[0].at = 0
	slices.SortStableFunc(out, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	return out
}

// spread distributes the requests over the windows. If the windows have fewer requests, it
// distributes all of them over the whole step.
func (q requests) spread(all []request) {
	place := func(over []request, start, length time.Duration) {
		for i := range over {
			over[i].at = start + time.Duration(float64(length)*float64(i)/float64(len(over)))
		}
	}
	place(all, 0, q.load.Elapsed)
	var counts []int
	rest := len(all)
	for _, w := range q.load.Windows {
		n := int(w.Succeeded + bench.Load{Failed: w.Failed}.FailedTotal())
		if n < 0 || n > rest {
			n = 0
		}
		counts, rest = append(counts, n), rest-n
	}
	if rest > 0 {
		return
	}
	for i, w := range q.load.Windows {
		place(all[:counts[i]], w.Start, w.Length)
		all = all[counts[i]:]
	}
}

// write writes all requests sorted by time, as vegeta's plot needs them.
func (q requests) write(w io.Writer, enc func(io.Writer) vegeta.Encoder) error {
	if n := q.load.Succeeded + q.load.FailedTotal(); n > maxWritten {
		return fmt.Errorf("%d requests: at most %d can be written", n, int64(maxWritten))
	}
	out := bufio.NewWriterSize(w, 1<<16)
	encode := enc(out)
	for seq, one := range q.all() {
		r := q.common
		r.Seq, r.Timestamp, r.Latency, r.BytesIn = uint64(seq), q.load.Started.Add(one.at), one.latency, uint64(one.bytes)
		if one.kind != "" {
			r.Code, r.Error = 0, safe.Line(string(one.kind), 60)
			// Set only failing statuses: vegeta counts every 2xx and 3xx as a success.
			switch one.kind {
			case "1xx", "4xx", "5xx":
				r.Code = uint16(one.kind[0]-'0') * 100
			}
		}
		if err := encode(&r); err != nil {
			return err
		}
	}
	return out.Flush()
}
