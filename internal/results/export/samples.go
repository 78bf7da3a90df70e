package export

import (
	"fmt"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// sample is one request that another tool recorded.
type sample struct {
	at      time.Time // when it was sent
	latency time.Duration
	kind    bench.ErrorKind // "" for a success
	bytes   int64
}

func (s sample) end() time.Time { return s.at.Add(s.latency) }

// stepOf returns a step of one or more requests, which count in the 1 s window in which they ended.
func stepOf(name string, samples []sample) (bench.StepResult, error) {
	s := bench.StepResult{Step: bench.Step{Name: name}}
	l := &s.Load
	l.Started = slices.MinFunc(samples, func(a, b sample) int { return a.at.Compare(b.at) }).at
	last := slices.MaxFunc(samples, func(a, b sample) int { return a.end().Compare(b.end()) }).end()
	l.Elapsed = last.Sub(l.Started)
	if l.Elapsed > maxElapsed {
		return s, fmt.Errorf("requests over %v: too long for a step", l.Elapsed)
	}
	s.Step.Duration = l.Elapsed
	l.Sent, l.Scheduled = int64(len(samples)), int64(len(samples))
	seconds := max(1, int((l.Elapsed+time.Second-1)/time.Second))
	windows := make([]bench.Window, min(seconds, maxEntries))
	latencies := make([][]time.Duration, len(windows))
	good, late, bad := hdr.New(), hdr.New(), hdr.New()
	for _, r := range samples {
		// A request that ended exactly at the end belongs to the last window.
		k := min(int(r.end().Sub(l.Started)/time.Second), len(windows)-1)
		w := &windows[k]
		if r.kind == "" {
			l.Succeeded, w.Succeeded = l.Succeeded+1, w.Succeeded+1
			l.Bytes, w.Bytes = l.Bytes+r.bytes, w.Bytes+r.bytes
			good.Record(r.latency)
			latencies[k] = append(latencies[k], r.latency)
			continue
		}
		if r.kind == bench.ErrTimeout {
			late.Record(r.latency)
		} else {
			bad.Record(r.latency)
		}
		l.Failed, w.Failed = addFailure(l.Failed, r.kind), addFailure(w.Failed, r.kind)
	}
	l.Latency, l.Timeouts, l.Failures = good.Latencies(), late.Latencies(), bad.Latencies()
	for k := range windows {
		w, all := &windows[k], latencies[k]
		w.Start = time.Duration(k) * time.Second
		w.Length = min(time.Second, l.Elapsed-w.Start)
		if len(all) > 0 {
			slices.Sort(all)
			w.P50, w.P90, w.P99, w.Max = rank(all, 50), rank(all, 90), rank(all, 99), rank(all, 100)
		}
	}
	if seconds <= maxEntries {
		l.Windows = windows
	}
	return s, nil
}

func addFailure(all map[bench.ErrorKind]int64, kind bench.ErrorKind) map[bench.ErrorKind]int64 {
	if all == nil {
		all = map[bench.ErrorKind]int64{}
	}
	all[kind]++
	return all
}

// rank returns the smallest of sorted values that percent% of them do not exceed.
func rank(sorted []time.Duration, percent int) time.Duration {
	return sorted[max((len(sorted)*percent+99)/100, 1)-1]
}
