package load

import (
	"math"
	"sync"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// BenchmarkPace sends 20,000 requests a second for 3 s to a server that does nothing, with both loops, with vegeta, and with connections that
// each sleep for an interval of their own, as wrk2 does it. It reports how much later than due requests were sent.
//
//	go test -run '^$' -bench Pace -benchtime 1x ./internal/load
func BenchmarkPace(b *testing.B) {
	const rate, duration, connections = 20_000, 3 * time.Second, 64
	url := benchServer(b, "")
	report := func(b *testing.B, lag bench.Latencies, missing int64) {
		for name, d := range map[string]time.Duration{"p50-µs": lag.P50, "p99-µs": lag.P99, "p99.9-µs": lag.P999, "max-µs": lag.Max} {
			b.ReportMetric(float64(d)/1e3, name)
		}
		b.ReportMetric(float64(missing), "not-sent")
		b.ReportMetric(0, "ns/op")
	}
	for name, portable := range map[string]bool{"locbench": false, "portable": true} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				p := openPlan(url+"/100B", rate, 0, duration)
				l, err := Engine{Portable: portable}.Run(b.Context(), p, nil)
				if err != nil || l.FailedTotal() > 0 {
					b.Fatal(err, l.Failed)
				}
				report(b, l.Lag, l.Dropped)
			}
		})
	}
	b.Run("vegeta", func(b *testing.B) {
		for range b.N {
			attacker := vegeta.NewAttacker(vegeta.Workers(connections), vegeta.Connections(connections))
			var offsets []time.Duration
			var first time.Time
			for r := range attacker.Attack(vegeta.NewStaticTargeter(vegeta.Target{Method: "GET", URL: url + "/100B"}), vegeta.Rate{Freq: rate, Per: time.Second}, duration, "") {
				if first.IsZero() {
					first = r.Timestamp
				}
				offsets = append(offsets, r.Timestamp.Sub(first)-time.Duration(r.Seq)*time.Second/rate)
			}
			// Nobody tells when it began: the request that was least late is taken to have been on time.
			least := time.Duration(math.MaxInt64)
			for _, o := range offsets {
				least = min(least, o)
			}
			h := hdr.New()
			for _, o := range offsets {
				h.Record(o - least)
			}
			report(b, h.Latencies(), int64(rate*duration.Seconds())-int64(len(offsets)))
		}
	})
	b.Run("sleep", func(b *testing.B) {
		for range b.N {
			h := hdr.New()
			var mu sync.Mutex
			var wg sync.WaitGroup
			started := time.Now()
			for k := range connections {
				wg.Go(func() {
					for due := time.Duration(k) * time.Second / rate; due < duration; due += connections * time.Second / rate {
						time.Sleep(due - time.Since(started))
						lag := time.Since(started) - due
						mu.Lock()
						h.Record(lag)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			report(b, h.Latencies(), int64(rate*duration.Seconds())-h.Count())
		}
	})
}
