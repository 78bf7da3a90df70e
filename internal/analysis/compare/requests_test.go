package compare

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// kind is a kind of request of a made-up mix: a latency with noise, of n requests a round.
type kind struct {
	name   string
	each   time.Duration
	n      int64
	failed int64
}

var made sync.Map // histograms take a while

func latencies(n int64, each time.Duration) bench.Latencies {
	key := fmt.Sprint(n, each)
	if l, ok := made.Load(key); ok {
		return l.(bench.Latencies)
	}
	l := benchtest.Latencies(n, each)
	made.Store(key, l)
	return l
}

// mix are requests that take some milliseconds.
func mix() []kind {
	return []kind{{"GET /list", 4 * time.Millisecond, 400, 0}, {"GET /one", time.Millisecond, 600, 0},
		{"POST /bookings", 5 * time.Millisecond, 200, 0}, {"DELETE /one", 3 * time.Millisecond, 150, 0}}
}

// with returns the mix with a change of one kind.
func with(name string, change func(*kind)) []kind {
	all := mix()
	change(&all[slices.IndexFunc(all, func(k kind) bool { return k.name == name })])
	return all
}

// slower returns the mix with one kind that takes by times as long.
func slower(name string, by float64) []kind {
	return with(name, func(k *kind) { k.each = time.Duration(float64(k.each) * by) })
}

// mixed returns rounds of a contender at 4, 8 and 16 connections, the highest throughput at peak
// connections. Latency grows with the connections, and differs by up to 3% between rounds.
func mixed(label string, n, peak int, kinds []kind, changes ...func(*bench.StepResult)) (all []bench.TrialResult) {
	for i := range n {
		var steps []bench.StepResult
		noise := 1 + .006*float64((i*7+len(label))%6)
		for _, connections := range []int{4, 8, 16} {
			rate := 900 + int64(i%3)
			if connections == peak {
				rate = 2000 + int64(i%3)
			}
			s := benchtest.Step(rate, benchtest.Of(benchtest.Closed(connections)))
			for _, k := range kinds {
				each := time.Duration(float64(k.each) * noise * float64(connections) / 4)
				r := bench.RequestLoad{Name: k.name, Outcomes: bench.Outcomes{Succeeded: k.n - k.failed}, Latency: latencies(k.n-k.failed, each)}
				if k.failed > 0 {
					r.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: k.failed}
				}
				s.Load.Requests = append(s.Load.Requests, r)
			}
			for _, change := range changes {
				change(&s)
			}
			steps = append(steps, s)
		}
		all = append(all, benchtest.Trial(label, i+1, steps...))
	}
	return all
}

// together makes the rounds of contenders interleaved.
func together(all ...[]bench.TrialResult) [][]bench.TrialResult {
	for _, side := range all {
		for i := range side {
			for k := range side[i].Steps {
				benchtest.Interleaved(time.Unix(1_800_000_000, int64(side[i].Trial.Round)), "other")(&side[i].Steps[k])
			}
		}
	}
	return all
}

func pairOf(t *testing.T, sides ...[]bench.TrialResult) Contender {
	t.Helper()
	trials := slices.Concat(sides...)
	a := analysis.Of(benchtest.Run(trials...), trials).InProfile()
	return Pair(a[0], a[1], nil, Options{})
}

// The line names the requests that changed more than all others, and is absent where all changed
// alike, none did, or that is not known.
func TestMostly(t *testing.T) {
	all := func(by float64) []kind {
		kinds := mix()
		for i := range kinds {
			kinds[i].each = time.Duration(float64(kinds[i].each) * by)
		}
		return kinds
	}
	two := slower("POST /bookings", 20)
	two[3].each *= 15
	half := all(4)
	half[0].each /= 4
	few := with("POST /bookings", func(k *kind) { k.each, k.n = 20*k.each, 19 })
	enough := with("POST /bookings", func(k *kind) { k.each, k.n = 20*k.each, 20 })
	only := append(mix(), kind{"PUT /new", 90 * time.Millisecond, 200, 0})
	failing := with("GET /one", func(k *kind) { k.failed = 3 })
	drift := func(s *bench.StepResult) { s.Drift = &bench.Drift{Throughput: &bench.Trend{Change: .2, P: .001}} }
	for name, c := range map[string]struct {
		sides [][]bench.TrialResult
		want  string
	}{
		"one request": {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, slower("POST /bookings", 20))},
			"Mostly POST /bookings: p50 ×20 at 4 connections."},
		"faster": {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, slower("GET /list", .8))},
			"Mostly GET /list: p50 20.0% lower at 4 connections."},
		"other peak": {[][]bench.TrialResult{mixed("a", 6, 16, mix()), mixed("b", 6, 8, slower("POST /bookings", 20))},
			"Mostly POST /bookings: p50 ×20 at 4 connections."},
		"interleaved": {together(mixed("a", 8, 8, mix()), mixed("b", 8, 8, slower("POST /bookings", 1.3))),
			"Mostly POST /bookings: p50 30.0% higher at 4 connections."},
		"two of four": {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, two)},
			"Mostly POST /bookings and DELETE /one: p50 ×20 and ×15 at 4 connections."},
		"failures": {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, failing)},
			"Mostly GET /one: 0 → 0.500% failed at 4 connections."},
		"alike":         {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, all(3))}, ""},
		"three of four": {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, half)}, ""},
		"equal":         {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, mix())}, ""},
		"few rounds":    {[][]bench.TrialResult{mixed("a", 5, 8, mix()), mixed("b", 5, 8, slower("POST /bookings", 20))}, ""},
		"few requests":  {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, few)}, ""},
		"enough":        {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, enough)}, "Mostly POST /bookings: p50 ×20 at 4 connections."},
		"only one side": {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, only)}, ""},
		"drift":         {[][]bench.TrialResult{mixed("a", 6, 8, mix()), mixed("b", 6, 8, slower("POST /bookings", 20), drift)}, ""},
		"one kind":      {[][]bench.TrialResult{mixed("a", 6, 8, mix()[:1]), mixed("b", 6, 8, slower("GET /list", 9)[:1])}, ""},
	} {
		t.Run(name, func(t *testing.T) { testenv.Equal(t, pairOf(t, c.sides...).Mostly(), c.want) })
	}
}

// Every kind of request is in the table, at one step of both sides, with its verdict or why it has none.
func TestRequestTable(t *testing.T) {
	kinds := append(slower("POST /bookings", 20), kind{"PUT /new", time.Millisecond, 200, 0})
	kinds[3].n = 10
	c := pairOf(t, mixed("a", 6, 16, mix()), mixed("b", 6, 8, kinds))
	var b strings.Builder
	for _, row := range c.RequestTable(10).Rows {
		for _, cell := range row.Cells {
			fmt.Fprintf(&b, "%s | ", cell.Text)
		}
		b.WriteString("\n")
	}
	testenv.Equal(t, b.String(), `POST /bookings | 1,200 → 1,200 | 5.06 ms → 101 ms | 5.15 ms → 103 ms | 0 → 0 | ✗ p50 ×20; ✗ p99 ×20 | 
GET /list | 2,400 → 2,400 | 4.05 ms → 4.05 ms | 4.12 ms → 4.12 ms | 0 → 0 | same | 
GET /one | 3,600 → 3,600 | 1.01 ms → 1.01 ms | 1.03 ms → 1.03 ms | 0 → 0 | same | 
DELETE /one | 900 → 60 | 3.04 ms → 3.04 ms | 3.09 ms → 3.09 ms | 0 → 0 | too few requests | 
PUT /new | 0 → 1,200 | – → 1.01 ms | – → 1.03 ms | 0 → 0 | only in new | 
`)
	short := c.RequestTable(2)
	testenv.Equal(t, len(short.Rows), 2)
	testenv.Equal(t, short.Footnotes, []string{"3 more requests without a change in the report"})
}

// The p values of a kind are corrected for all kinds, its other measures and the other pairs of
// contenders; pairs too few for that are compared as two samples.
func TestRequests_Corrected(t *testing.T) {
	row := func(c Contender) Row { return c.Requests.Kinds[2].Measures[0] }
	two := row(pairOf(t, mixed("a", 6, 8, mix()), mixed("b", 6, 8, slower("POST /bookings", 20))))
	testenv.Check(t, *two.PHolm >= 4**two.P && two.Verdict == stats.Worse, "p %v of %v", *two.PHolm, *two.P)
	more := row(pairOf(t, mixed("a", 6, 8, mix()), mixed("b", 6, 8, slower("POST /bookings", 20)), mixed("c", 6, 8, mix()), mixed("d", 6, 8, mix())))
	testenv.Check(t, *more.PHolm > *two.PHolm, "p %v with four contenders, %v with two", *more.PHolm, *two.PHolm)
	var many, changed []kind
	for i := range 9 {
		many = append(many, kind{fmt.Sprint("GET /", i), time.Millisecond, 200, 0})
	}
	changed = slices.Clone(many)
	changed[2].each *= 20
	paired := row(pairOf(t, together(mixed("a", 8, 8, mix()), mixed("b", 8, 8, slower("POST /bookings", 20)))...))
	testenv.Check(t, paired.Paired && paired.Verdict == stats.Worse, "pairs of 4 kinds: %+v", paired)
	unpaired := row(pairOf(t, together(mixed("a", 8, 8, many), mixed("b", 8, 8, changed))...))
	testenv.Check(t, !unpaired.Paired && unpaired.Verdict == stats.Worse, "pairs of 9 kinds: %+v", unpaired)
}
