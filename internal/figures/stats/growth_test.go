package stats

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

const mib = 1 << 20

// Of services that were recorded under a constant load, only the one that leaks (about 3.3 KiB a
// request with the slack of its allocator) grows.
func TestMemoryGrowth_Recorded(t *testing.T) {
	for _, name := range []string{"go-leak", "go-plain", "go-gogc400", "go-cache", "node-plain", "jvm-plain"} {
		t.Run(name, func(t *testing.T) {
			data := testenv.Must(os.ReadFile("testdata/memory/" + name + ".csv"))(t)
			var points []MemoryPoint
			for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
				var p MemoryPoint
				testenv.OK(t, testenv.Err(fmt.Sscanf(line, "%g,%g", &p.Requests, &p.Bytes)))
				points = append(points, p)
			}
			// From the first 15 readings on, whenever the load had ended.
			for n := 15; n <= len(points); n++ {
				rate, ok := MemoryGrowth([][]MemoryPoint{points[:n]})
				leaks := name == "go-leak"
				testenv.Check(t, ok == leaks && (!ok || !(rate < 2048) && !(rate > 2*2048)), "after %d readings: %.0f bytes per request, %v", n, rate, ok)
			}
		})
	}
}

func TestMemoryGrowth_Shapes(t *testing.T) {
	for name, test := range map[string]struct {
		of   func(i int) float64 // MiB after reading i of 40, 1000 requests apart
		want bool
	}{
		"constant":                  {func(int) float64 { return 50 }, false},
		"leak":                      {func(i int) float64 { return 50 + 2*float64(i) }, true},
		"leak below a saw":          {func(i int) float64 { return 50 + 2*float64(i) + float64(i*7%5)*6 }, true},
		"sawtooth":                  {func(i int) float64 { return 50 + float64(i%13)*10 }, false},
		"cache that fills":          {func(i int) float64 { return 50 + min(64, 4*float64(i)) }, false},
		"slower and slower":         {func(i int) float64 { return 200 - 6000/float64(i+40) }, false},
		"comes back":                {func(i int) float64 { return 50 + 2*float64(min(i, 39-i)) }, false},
		"one jump":                  {func(i int) float64 { return 50 + 40*float64(i/25) }, false},
		"growth in the first fifth": {func(i int) float64 { return 50 + 10*min(float64(i), 8) }, false},
		"and a leak":                {func(i int) float64 { return 50 + 10*min(float64(i), 7) + 2*float64(i) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var points []MemoryPoint
			for i := range 40 {
				points = append(points, MemoryPoint{float64(1000 * i), test.of(i) * mib})
			}
			rate, ok := MemoryGrowth([][]MemoryPoint{points})
			testenv.Check(t, ok == test.want, "%.0f bytes per request, %v, want %v", rate, ok, test.want)
		})
	}
}

// Of trials with steps of 2 s, each with 4 readings, only those that leak grow: neither a heap that
// becomes warm or follows the connections, nor a cache that fills.
func TestMemoryGrowth_Steps(t *testing.T) {
	type moment struct {
		requests    float64 // in thousands, since the start
		connections float64
		since       float64 // of the step's time, 0 to 1
	}
	// settling is how much of a change at the beginning of a step has happened.
	settling := func(m moment) float64 { return 1 - math.Exp(-5*m.since) }
	follow := func(from, m moment, each float64) float64 { // MiB of a heap that follows the connections
		return each * (from.connections + (m.connections-from.connections)*settling(m))
	}
	usual, down := []float64{16, 4, 16, 64}, []float64{64, 64, 32, 8}
	up := []float64{1, 8, 16, 24, 32, 40}
	for name, test := range map[string]struct {
		connections []float64
		of          func(before, m moment) float64 // MiB
		want        bool
	}{
		"a leak":                          {usual, func(_, m moment) float64 { return 16 + 2*m.requests }, true},
		"a leak, fewer connections":       {down, func(_, m moment) float64 { return 16 + 2*m.requests }, true},
		"a leak that follows connections": {usual, func(b, m moment) float64 { return 16 + 2*m.requests + follow(b, m, .1) }, true},
		"a leak of a warming heap":        {usual, func(_, m moment) float64 { return 100 - 60*math.Exp(-m.requests/3) + 2*m.requests }, true},
		"a leak below a collector's saw":  {usual, func(_, m moment) float64 { return 40 + 3*m.requests + 8*(math.Mod(m.requests, 5)/5) }, true},
		"constant":                        {usual, func(_, m moment) float64 { return 16 }, false},
		"a warming heap":                  {usual, func(_, m moment) float64 { return 200 - 150*math.Exp(-m.requests/10) }, false},
		"a heap that stays at its limit":  {usual, func(_, m moment) float64 { return min(16+6*m.requests, 128) }, false},
		"a heap of connections":           {usual, func(b, m moment) float64 { return 16 + follow(b, m, 2) }, false},
		"a heap of more and more":         {up, func(b, m moment) float64 { return 16 + follow(b, m, 2) }, false},
		"a heap of the most connections":  {up, func(b, m moment) float64 { return 16 + max(follow(b, m, 2), 2*b.connections) }, false},
		"a heap that warms at each load":  {up, func(b, m moment) float64 { return 16 + follow(b, m, 2) - 8*math.Exp(-m.requests) }, false},
		"a heap not settled at the end": {up, func(b, m moment) float64 {
			if m.connections == 40 {
				return 16 + 2*(32+8*m.since)
			}
			return 16 + follow(b, m, 2)
		}, false},
		"a cache that fills early":        {usual, func(_, m moment) float64 { return 16 + min(40, 4*m.requests) }, false},
		"a cache that fills late":         {usual, func(_, m moment) float64 { return 16 + min(60, 2*m.requests) }, false},
		"a cache full in the last step":   {down, func(_, m moment) float64 { return 16 + min(64, 2*m.requests) }, false},
		"a cache that still fills slower": {usual, func(_, m moment) float64 { return 16 + 64*(1-math.Exp(-m.requests/20)) }, false},
		"a sawtooth":                      {usual, func(_, m moment) float64 { return 40 + 8*math.Mod(m.requests, 7) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var steps [][]MemoryPoint
			before, done := moment{connections: test.connections[0]}, 0.
			for _, n := range test.connections {
				per := 10. // thousand requests of a step
				if n < 16 && test.connections[0] >= n {
					per = 6
				}
				var points []MemoryPoint
				for _, since := range []float64{0.05, 0.4, 0.8, 1} {
					m := moment{done + per*since, n, since}
					points = append(points, MemoryPoint{1000 * m.requests, test.of(before, m) * mib})
				}
				steps = append(steps, points)
				done += per
				before = moment{connections: n}
			}
			if rate, ok := MemoryGrowth(steps); ok != test.want || ok && (rate < 1.8*mib/1000 || rate > 4*mib/1000) {
				t.Errorf("%.0f bytes per request, %v, want %v", rate, ok, test.want)
			}
		})
	}
}

// At each limit memory grows, right below it does not. Only the last four fifths of the requests
// count.
func TestMemoryGrowth_Limits(t *testing.T) {
	// line returns points each 1,000 requests; of the last four fifths, parts has the MiB at the
	// ends of the quarters.
	line := func(parts ...float64) (points []MemoryPoint) {
		for i := range 11 {
			at := max(i-2, 0)
			bytes := parts[at/2]
			if at%2 == 1 {
				bytes = (parts[at/2] + parts[at/2+1]) / 2
			}
			points = append(points, MemoryPoint{float64(500 + 1000*i), bytes * mib})
		}
		return points
	}
	late := []MemoryPoint{{0, 150 * mib}} // the second reading is at 25% of the requests
	var atOnce []MemoryPoint
	for i := range 11 {
		late = append(late, MemoryPoint{2500 + 750*float64(i), (100 + 7.5*float64(i)) * mib})
		atOnce = append(atOnce, MemoryPoint{5, float64(100+50*i) * mib})
	}
	for _, test := range []struct {
		name   string
		points []MemoryPoint
		grown  float64 // MiB in 8,000 requests; 0: none
	}{
		{"8 MiB", line(50, 52, 54, 56, 58), 8},
		{"less than 8 MiB", line(50, 52, 54, 56, 57.99), 0},
		{"10% of a large heap", line(100, 102.5, 105, 107.5, 110), 10},
		{"less than 10% of it", line(100, 102.5, 105, 107.5, 109.9), 0},
		{"70% of the earlier rate", line(100, 125, 150, 167.5, 185), 85},
		{"less than 70% of it", line(100, 125, 150, 167.5, 184.9), 0},
		{"40% of the mean in a quarter", line(100, 125, 150, 160, 200), 100},
		{"less than 40% in the third", line(100, 125, 150, 159.9, 200), 0},
		{"less than 40% in the first", line(100, 109.9, 150, 175, 200), 0},
		{"10 readings", late[2:], 80},
		{"9 readings", late[3:], 0},
		{"more at the first reading", late, 75},
		{"all at once", atOnce, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			rate, ok := MemoryGrowth([][]MemoryPoint{test.points})
			want := test.grown * mib / 8000
			testenv.Check(t, ok == (want > 0) && near(rate, want), "%g bytes per request, %v, want %g", rate, ok, want)
		})
	}
}

func TestStepMemory(t *testing.T) {
	usage := func(at time.Duration, used int64) bench.Usage {
		return bench.Usage{At: time.Unix(1000, 0).Add(at), Memory: &bench.Memory{Used: used}}
	}
	before, after := usage(0, 100), usage(10*time.Second, 400)
	s := bench.StepResult{
		Before: &before, After: &after,
		Samples: []bench.Usage{usage(500*time.Millisecond, 0), {}, usage(1500*time.Millisecond, 300)},
		Load: bench.Load{Windows: []bench.Window{
			{Length: time.Second, Succeeded: 10, Rejected: 5, Failed: map[bench.ErrorKind]int64{bench.ErrReset: 5}},
			{Start: time.Second, Length: time.Second, Succeeded: 20},
			{Start: 2 * time.Second, Succeeded: 7},
		}},
	}
	want := []MemoryPoint{{1000, 100}, {1030, 300}, {1040, 400}}
	got := StepMemory(s, 1000)
	testenv.Check(t, slices.Equal(got, want), "%v, want %v", got, want)
	s.After = nil
	got = StepMemory(s, 1000)
	testenv.Check(t, slices.Equal(got, want[:2]), "without a reading at the end: %v", got)
	s.Before = nil
	testenv.Check(t, StepMemory(s, 0) == nil, "without a reading at the beginning")
}

// TestStepMemory_EveryRequest: a leak of 2 KiB a request is found with its rate, whatever share of the
// requests is in the lead-in and the drain, of the step or of each slice.
func TestStepMemory_EveryRequest(t *testing.T) {
	const leak, perSecond = 2048, 1500
	for name, c := range map[string]struct {
		interleave  *bench.Interleave
		lead, drain int64 // of 100 measured requests
	}{
		"one after the other":        {nil, 0, 0},
		"a long lead-in":             {nil, 60, 5},
		"slices":                     {&bench.Interleave{}, 40, 15},
		"slices that are alternated": {&bench.Interleave{Alternated: "slow"}, 60, 5},
	} {
		for seed := range 10 {
			noise := func(i int) float64 { return float64((i*7+seed*13)%11) / 10 * mib } // of an allocator, 1 MiB
			var steps [][]MemoryPoint
			sent, before, n := 0., 0., 0
			at := time.Unix(1000, 0)
			usage := func(requests float64) bench.Usage {
				n++
				return bench.Usage{At: at, Memory: &bench.Memory{Used: int64(40*mib + leak*requests + noise(n))}}
			}
			seconds := []int{3, 15}[seed%2]
			for range 15 / seconds { // steps
				var s bench.StepResult
				s.Interleave = c.interleave
				l := &s.Load
				l.Lead, l.Drain = int64(seconds)*perSecond*c.lead/100, int64(seconds)*perSecond*c.drain/100
				each := float64(perSecond)
				if c.interleave != nil && c.interleave.Alternated == "" {
					each += float64(l.Lead+l.Drain) / float64(seconds)
				} else {
					sent += float64(l.Lead)
				}
				first := usage(sent)
				s.Before = &first
				for second := range seconds {
					l.Windows = append(l.Windows, bench.Window{Start: time.Duration(second) * time.Second, Length: time.Second, Succeeded: perSecond})
					l.Succeeded += perSecond
					sent += each
					at = at.Add(time.Second)
					s.Samples = append(s.Samples, usage(sent))
				}
				if each == perSecond {
					sent += float64(l.Drain)
				}
				steps = append(steps, StepMemory(s, before))
				before += StepRequests(*l)
			}
			rate, ok := MemoryGrowth(steps)
			testenv.Check(t, ok && math.Abs(rate-leak) <= .15*leak,
				"%s, %d: %.0f bytes per request, %v", name, seed, rate, ok)
		}
	}
}

// doubling returns the memory of a leak of 2 KiB a request below a collector that runs when the heap has
// doubled, and reuses what it collects. kept is the share of the allocated bytes that leaks.
func doubling(start, kept float64) func(requests float64) float64 {
	const each = 20 // requests
	live, heap, used, free, done := start, start, start, 0., 0.
	goal := 2 * live
	return func(requests float64) float64 {
		for ; done < requests; done += each {
			live, heap = live+2048*each, heap+2048*each/kept
			if free -= 2048 * each / kept; free < 0 {
				used, free = used-free, 0
			}
			if heap >= goal {
				free, heap, goal = free+heap-live, live, 2*live
			}
		}
		return used
	}
}

// TestMemoryGrowth_Doubling: a leak that grows in the stairs of a collector is found wherever on a stair
// the load ends, with its rate; a cache that filled in the same way is not.
func TestMemoryGrowth_Doubling(t *testing.T) {
	for _, kept := range []float64{.2, .3, .4, .5, .6, .8} {
		for full, want := range map[float64]int{1: 36, .75: 0} { // of 40; the share of the requests that fill
			found := 0
			for phase := range 40 {
				of := doubling((4+float64(phase)/10)*mib, kept)
				var steps [][]MemoryPoint
				at := 0.
				for _, seconds := range []int{1, 3, 3, 3, 3} {
					var points []MemoryPoint
					for second := range seconds + 1 {
						r := at + 10000*float64(second)
						points = append(points, MemoryPoint{r, of(min(r, full*130000))})
					}
					at = points[seconds].Requests + 100
					steps = append(steps, points)
				}
				if rate, ok := MemoryGrowth(steps); ok {
					found++
					truth := of(at) / at
					testenv.Check(t, !(math.Abs(rate-truth) > .15*truth), "kept %g, phase %d: %.0f bytes per request, want %.0f", kept, phase, rate, truth)
				}
			}
			testenv.Check(t, found >= want && (want != 0 || found <= 0),
				"kept %g, full after %g: found in %d of 40", kept, full, found)
		}
	}
}
