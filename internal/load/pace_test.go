//go:build acceptance

package load

import (
	"fmt"
	"math"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/testenv"
)

// How the schedule is measured: a fixed rate to a server that does nothing, in many short steps, as
// the machine may stall in some of them.
const (
	paceRate        = 20_000
	paceStep        = 250 * time.Millisecond
	paceSteps       = 24
	paceConnections = 64
	paceLook        = 300 * time.Microsecond // interval between checks for a machine stall
)

// BenchmarkPace reports how late requests were sent, by both engines and by vegeta, in alternating steps. Next to the values of
// all steps it reports those of the steps without a machine stall: a thread on each CPU, of the
// real-time class if permitted, detects stalls independently of requests.
//
//	go test -run '^$' -bench Pace -benchtime 1x ./internal/load
func BenchmarkPace(b *testing.B) {
	defer thread.Tune(thread.StallThreads()).Stop()
	url := benchServer(b, "")
	ways := []struct {
		name string
		step func(b *testing.B, url string) (lag bench.Latencies, missing int64)
	}{
		{"locbench", func(b *testing.B, url string) (bench.Latencies, int64) { return paceEngine(b, Engine{}, url) }},
		{"locbench-vegeta", func(b *testing.B, url string) (bench.Latencies, int64) {
			return paceEngine(b, Engine{Name: bench.EngineVegeta}, url)
		}},
		{"vegeta", paceVegeta},
	}
	for range b.N {
		meter := thread.WatchStalls(paceLook)
		all, quiet := make([][]bench.Latencies, len(ways)), make([][]bench.Latencies, len(ways))
		missing := make([]int64, len(ways))
		for range paceSteps {
			for i, way := range ways {
				meter.Take()
				lag, n := way.step(b, url)
				missing[i] += n
				all[i] = append(all[i], lag)
				if meter.Take().Count == 0 {
					quiet[i] = append(quiet[i], lag)
				}
			}
		}
		meter.Stop()
		fmt.Printf("\n%-10s %31s   %31s\n%-10s %10s %10s %10s  %11s %10s %10s %10s %9s\n", "µs late", "steps in which the machine ran", "all steps", "",
			"p50", "p99", "max", "steps", "p50", "p99", "max", "not sent")
		for i, way := range ways {
			q, a := merged(b, quiet[i]), merged(b, all[i])
			fmt.Printf("%-10s %10.1f %10.1f %10.1f  %5d of %2d %10.1f %10.1f %10.1f %9d\n", way.name, micro(q.P50), micro(q.P99), micro(q.Max),
				len(quiet[i]), len(all[i]), micro(a.P50), micro(a.P99), micro(a.Max), missing[i])
		}
	}
}

func micro(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func merged(b *testing.B, ls []bench.Latencies) bench.Latencies {
	h, err := hdr.Merge(ls...)
	testenv.OK(b, err)
	return h.Quantiles()
}

func paceEngine(b *testing.B, e Engine, url string) (bench.Latencies, int64) {
	l, err := e.Run(b.Context(), openPlan(url+"/100B", paceRate, 0, paceStep), nil)
	testenv.Need(b, err == nil && l.FailedTotal() <= 0, "%v %v", err, l.Failed)
	return l.Lag, l.Dropped
}

func paceVegeta(_ *testing.B, url string) (bench.Latencies, int64) {
	attacker := vegeta.NewAttacker(vegeta.Workers(paceConnections), vegeta.Connections(paceConnections))
	var offsets []time.Duration
	var first time.Time
	targeter := vegeta.NewStaticTargeter(vegeta.Target{Method: "GET", URL: url + "/100B"})
	for r := range attacker.Attack(targeter, vegeta.Rate{Freq: paceRate, Per: time.Second}, paceStep, "") {
		if first.IsZero() {
			first = r.Timestamp
		}
		offsets = append(offsets, r.Timestamp.Sub(first)-time.Duration(r.Seq)*time.Second/paceRate)
	}
	// The server cannot know when the schedule began: the request with the least lag is assumed to
	// be on time.
	least := time.Duration(math.MaxInt64)
	for _, o := range offsets {
		least = min(least, o)
	}
	h := hdr.New()
	for _, o := range offsets {
		h.Record(o - least)
	}
	return h.Latencies(), int64(paceRate*paceStep.Seconds()) - int64(len(offsets))
}
