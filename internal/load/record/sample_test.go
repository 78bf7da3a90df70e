package record

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// sampled records n exchanges on each thread, every microsecond of its second from the start of the
// interval, and returns the load.
func sampled(keep int, seed uint64, threads ...int) bench.Load {
	rec := New(bench.Step{Connections: 1, KeepRequests: keep}, []string{"get"})
	rec.Seed = seed
	rec.decide(int64(time.Second), math.MaxInt64-1)
	for k, n := range threads {
		c := rec.NewCounters()
		for i := range n {
			end := int64(time.Duration(k+1)*time.Second) + int64(i)*int64(time.Microsecond)
			c.Record(&rec.Interval, Exchange{Start: end, End: end, Read: end, Status: 200})
		}
	}
	rec.Finish()
	return rec.Load()
}

// Requests from every part of the interval are kept, and in equal shares: not only the first ones.
// With fixed seeds this is the same each time.
func TestKeptRequestsAreSpreadOverTheInterval(t *testing.T) {
	const requests, keep, parts = 100_000, 1000, 10
	for seed := range uint64(20) {
		l := sampled(keep, seed, requests)
		testenv.Need(t, len(l.Kept) == keep && l.KeptOf == requests,
			"seed %d: %d kept of %d", seed, len(l.Kept), l.KeptOf)
		var of [parts]float64
		for _, k := range l.Kept {
			of[int(k.Start/time.Microsecond)*parts/requests]++
		}
		chi := 0.
		for _, n := range of {
			chi += (n - keep/parts) * (n - keep/parts) / (keep / parts)
		}
		if chi > 27.9 { // exceeded by one in a thousand samples
			t.Errorf("seed %d: %v of the tenths of the interval are kept", seed, of)
		}
	}
}

// What threads keep is joined in the shares in which they have seen requests.
func TestKeptRequestsOfThreadsAreJoined(t *testing.T) {
	l := sampled(1000, 1, 90_000, 10_000)
	second := 0
	for i, k := range l.Kept {
		if k.Start >= time.Second {
			second++
		}
		testenv.Need(t, i <= 0 || k.Start >= l.Kept[i-1].Start, "they are not in the order of their starts")
	}
	if len(l.Kept) != 1000 || l.KeptOf != 100_000 || second < 60 || second > 140 { // mean 100, four standard deviations
		t.Errorf("%d kept of %d, %d of the thread with a tenth of them", len(l.Kept), l.KeptOf, second)
	}
	// Each thread draws its own: what one keeps says nothing about the other.
	kept, twins := map[time.Duration]bool{}, 0
	for _, k := range sampled(1000, 1, 50_000, 50_000).Kept {
		kept[k.Start] = true
		if kept[k.Start-time.Second] {
			twins++
		}
	}
	if twins > 25 { // mean 5
		t.Errorf("%d times the requests of both threads at the same time are kept", twins)
	}
}

// The seed decides which requests are kept.
func TestKeptRequestsComeFromTheSeed(t *testing.T) {
	a, b, c := sampled(100, 1, 5000), sampled(100, 1, 5000), sampled(100, 2, 5000)
	testenv.Check(t, reflect.DeepEqual(a.Kept, b.Kept) && !reflect.DeepEqual(a.Kept, c.Kept),
		"the same seed keeps others, or another seed the same")
}

// Fewer requests than may be kept are all kept, and only those of the interval, with what is known
// of each: a failure, a rejected one, and one that was scheduled before it was sent.
func TestKeptRequestsAreAsMeasured(t *testing.T) {
	rec := New(bench.Step{Rate: 1, KeepRequests: 100}, []string{"one", "two"})
	c := rec.NewCounters()
	rec.decide(int64(10*time.Second), int64(20*time.Second))
	at := func(start, end time.Duration, x Exchange) {
		x.Start, x.End, x.Read = int64(start), int64(end), int64(end)
		c.Record(&rec.Interval, x)
	}
	at(8*time.Second, 9*time.Second, Exchange{Status: 200})
	at(16*time.Second, 18*time.Second, Exchange{Kind: bench.ErrReset, Bytes: 3, Lag: time.Second})
	at(12*time.Second, 13*time.Second, Exchange{Request: 1, Status: 429, Rejected: true})
	at(9*time.Second, 12*time.Second, Exchange{Status: 200, Bytes: 7, Lag: 2 * time.Second})
	at(13*time.Second, 14*time.Second, Exchange{Status: 503, Kind: "5xx", Bytes: 9})
	at(19*time.Second, 20*time.Second, Exchange{Status: 200})
	rec.Finish()
	l := rec.Load()
	want := []bench.KeptRequest{
		{Request: "one", Start: -3 * time.Second, Latency: 5 * time.Second, Lag: 2 * time.Second, Status: 200, Bytes: 7},
		{Request: "two", Start: 2 * time.Second, Latency: time.Second, Status: 429, Rejected: true},
		{Request: "one", Start: 3 * time.Second, Latency: time.Second, Status: 503, Error: "5xx", Bytes: 9},
		{Request: "one", Start: 5 * time.Second, Latency: 3 * time.Second, Lag: time.Second, Error: bench.ErrReset, Bytes: 3},
	}
	testenv.Check(t, reflect.DeepEqual(l.Kept, want) && l.KeptOf == 4, "of %d:\n%+v\nwant\n%+v", l.KeptOf, l.Kept, want)
}

// The slices of an interleaved step are one sample, whose times include what lies between them.
func TestKeptRequestsOfSlicesAreJoined(t *testing.T) {
	step := bench.Step{Connections: 1, KeepRequests: 400}
	var all *Interleaved
	for slice := range 4 {
		rec := New(step, []string{"get"})
		rec.Seed = uint64(slice)
		rec.started = time.Unix(1000, 0).Add(time.Duration(slice) * time.Hour)
		c := rec.NewCounters()
		rec.decide(int64(time.Second), int64(2*time.Second))
		for i := range 1000 {
			end := int64(time.Second) + int64(i)*int64(time.Microsecond)
			c.Record(&rec.Interval, Exchange{Start: end, End: end, Read: end})
		}
		rec.Finish()
		if all == nil {
			all = NewInterleaved(rec)
		}
		all.AddSlice(rec)
	}
	l := all.Load()
	var of [4]int
	for _, k := range l.Kept {
		testenv.Need(t, k.Start%time.Hour < time.Millisecond, "one starts after %s", k.Start)
		of[k.Start/time.Hour]++
	}
	testenv.Check(t, len(l.Kept) == 400 && l.KeptOf == 4000 && min(of[0], of[1], of[2], of[3]) >= 65,
		"%d kept of %d: %v of the slices", len(l.Kept), l.KeptOf, of)
}

// A step that keeps nothing has no sample, and keeping a request allocates nothing.
func TestKeepingAllocatesNothing(t *testing.T) {
	l := sampled(0, 1, 10)
	testenv.Check(t, l.Kept == nil && l.KeptOf == 0, "%d kept of %d", len(l.Kept), l.KeptOf)
	rec := New(bench.Step{Connections: 1, KeepRequests: 64}, []string{"get"})
	rec.decide(0, math.MaxInt64-1)
	c, end := rec.NewCounters(), int64(0)
	if n := testing.AllocsPerRun(1000, func() {
		end++
		c.Record(&rec.Interval, Exchange{Start: end, End: end, Read: end})
	}); n != 0 {
		t.Errorf("%g allocations a request", n)
	}
}
