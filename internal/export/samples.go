package export

import (
	"fmt"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// sample is one request that another tool has recorded.
type sample struct {
	at      time.Time // of its sending
	latency time.Duration
	kind    bench.ErrorKind // "": it succeeded
	bytes   int64
}

// stepOf makes a step of single requests, of which there is one at least and whose order does not
// matter, with a histogram and windows of a second.
func stepOf(name string, samples []sample) (bench.StepResult, error) {
	s := bench.StepResult{Step: bench.Step{Name: name}}
	first, last := samples[0].at, samples[0].at
	for _, r := range samples {
		if r.at.Before(first) {
			first = r.at
		}
		if end := r.at.Add(r.latency); end.After(last) {
			last = end
		}
	}
	l := &s.Load
	l.Started, l.Elapsed = first, last.Sub(first)
	if l.Elapsed > maxElapsed {
		return s, fmt.Errorf("the requests are %v apart: that is not a step", l.Elapsed)
	}
	good, late, bad := hdr.New(), hdr.New(), hdr.New()
	for _, r := range samples {
		l.Sent++
		switch r.kind {
		case "":
			l.Succeeded++
			l.Bytes += r.bytes
			good.Record(r.latency)
			continue
		case bench.ErrTimeout:
			late.Record(r.latency)
		default:
			bad.Record(r.latency)
		}
		if l.Failed == nil {
			l.Failed = map[bench.ErrorKind]int64{}
		}
		l.Failed[r.kind]++
	}
	l.Scheduled = l.Sent
	l.Latency, l.Timeouts, l.Failures = good.Latencies(), late.Latencies(), bad.Latencies()
	l.Windows = windowsOf(first, l.Elapsed, samples)
	s.Step.Duration = l.Elapsed
	return s, nil
}

// windowsOf counts requests in the second in which they ended.
func windowsOf(start time.Time, elapsed time.Duration, samples []sample) []bench.Window {
	n := int(elapsed/time.Second) + 1
	if n > maxEntries {
		return nil
	}
	windows := make([]bench.Window, n)
	latencies := make([][]time.Duration, n)
	for _, r := range samples {
		k := min(int(r.at.Add(r.latency).Sub(start)/time.Second), n-1)
		w := &windows[k]
		if r.kind != "" {
			if w.Failed == nil {
				w.Failed = map[bench.ErrorKind]int64{}
			}
			w.Failed[r.kind]++
			continue
		}
		w.Succeeded++
		w.Bytes += r.bytes
		latencies[k] = append(latencies[k], r.latency)
	}
	for k := range windows {
		w, all := &windows[k], latencies[k]
		w.Start = time.Duration(k) * time.Second
		w.Length = min(time.Second, elapsed-w.Start)
		if len(all) > 0 {
			slices.Sort(all)
			w.P50, w.P90, w.P99, w.Max = rank(all, 50), rank(all, 90), rank(all, 99), rank(all, 100)
		}
	}
	if last := windows[n-1]; n > 1 && last.Length <= 0 {
		// What ended exactly at the end belongs to the second before.
		if last.Succeeded == 0 && len(last.Failed) == 0 {
			return windows[:n-1]
		}
		windows[n-1].Length = 1
	}
	return windows
}

// rank is the smallest of sorted values that percent % do not exceed.
func rank(sorted []time.Duration, percent int) time.Duration {
	return sorted[max((len(sorted)*percent+99)/100, 1)-1]
}
