package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
)

// causes are those of trials of one contender, as text.
func causes(trials ...bench.TrialResult) string {
	var all []string
	for _, c := range verdict.Causes(4, trials) {
		all = append(all, c.String())
	}
	return strings.Join(all, "|")
}

// spending makes shares of the contender's CPU time those of compilers and of the collector.
func spending(compiled, collected float64) func(*step) {
	return func(s *step) {
		cpu, _ := s.CPU()
		of := func(share float64) bench.Duration { return bench.Duration(share * float64(cpu)) }
		s.Before.ThreadTime = &bench.ThreadTime{}
		s.After.ThreadTime = &bench.ThreadTime{Served: cpu - of(compiled) - of(collected), Compiled: of(compiled), Collected: of(collected)}
	}
}

// threadsGrow makes the numbers of threads of a step those of its readings.
func threadsGrow(threads ...int) func(*step) {
	return func(s *step) {
		s.Before.Threads, s.After.Threads = &threads[0], &threads[len(threads)-1]
		for i := range threads[1 : len(threads)-1] {
			s.Samples = append(s.Samples, bench.Usage{CPU: s.Before.CPU, Threads: &threads[i+1]})
		}
	}
}

// answering gives the windows of a step their numbers of successes.
func answering(successes ...int64) func(*step) {
	return func(s *step) {
		for _, n := range successes {
			s.Load.Windows = append(s.Load.Windows, bench.Window{Length: time.Second, Succeeded: n})
		}
	}
}

func both(changes ...func(*step)) func(*step) {
	return func(s *step) {
		for _, c := range changes {
			c(s)
		}
	}
}

func warmUp(s *step) { s.Step.WarmUp = true }

func TestCauses(t *testing.T) {
	busy := made{connections: 64, rate: 1000, mean: 64, contender: 1.45, busy: .5}
	alone := made{connections: 1, rate: 400, mean: 2.5, contender: .1, busy: .1}
	queued := made{connections: 64, rate: 410, mean: 155, contender: .1, busy: .1}
	pool := made{connections: 64, rate: 30, mean: 1500, contender: .2, busy: .1}
	frozen := func(cpus float64) func(*step) {
		return func(s *step) {
			s.Warnings = bench.Warnings{{Kind: bench.WarnFirstResponses, Values: map[string]float64{
				"first_response_ns": 15e9, "threads_before": 18, "threads": 82, "cpus": cpus}}}
		}
	}
	java := func(trial bench.TrialResult) bench.TrialResult {
		trial.Service = bench.Service{Language: "Java", Env: map[string]string{"JAVA_TOOL_OPTIONS": "-Xmx24m -Xss1m"}}
		return trial
	}
	for name, test := range map[string]struct {
		trials []bench.TrialResult
		want   string // the beginnings, separated by |; "" for none
	}{
		"a heap that is full": {[]bench.TrialResult{java(trial(busy.with(spending(.02, .44))))},
			"the collector took 44% of its CPU time at 64 connections: its heap is small for what it keeps and allocates: 100 MiB in use, with -Xmx24m; give it a larger heap (-Xmx, -XX:MaxRAMPercentage)"},
		"a busy collector with CPUs left":     {[]bench.TrialResult{trial(made{connections: 64, rate: 1000, mean: 64, contender: .2, busy: .2}.with(spending(0, .44)))}, ""},
		"a busy collector while warming up":   {[]bench.TrialResult{trial(busy.with(both(spending(.5, .44), warmUp)))}, ""},
		"compilers":                           {[]bench.TrialResult{trial(busy.with(spending(.3, .1)))}, "the compilers took 30% of its CPU time at 64 connections: it was still compiling"},
		"in one of two rounds":                {[]bench.TrialResult{trial(busy.with(spending(.3, .45))), trial(busy.with(spending(0, 0)))}, ""},
		"in two of three rounds":              {[]bench.TrialResult{trial(busy.with(spending(.3, 0))), trial(busy.with(spending(.1, 0))), trial(busy.with(spending(.4, 0)))}, "the compilers took 40%"},
		"the worst step":                      {[]bench.TrialResult{trial(alone, busy.with(spending(0, .5)), busy.with(spending(0, .45)))}, "the collector took 50%"},
		"threads not read":                    {[]bench.TrialResult{trial(busy)}, ""},
		"a lock":                              {[]bench.TrialResult{trial(alone, queued)}, "it serves about 1 request at a time at 64 connections, while its CPUs are idle (0.10 of 1.5 CPUs in use): a lock, a pool of one, or calls that block its event loop; look for"},
		"a lock on a machine busy for others": {[]bench.TrialResult{trial(alone, queued.with(func(s *step) { s.HostAfter.Host.Busy, s.HostAfter.Host.Idle = 40*time.Second, time.Hour }))}, "it serves about 1 request at a time"},
		"a pool of four":                      {[]bench.TrialResult{trial(alone, made{connections: 64, rate: 1600, mean: 40, contender: .4, busy: .2}, made{connections: 128, rate: 1600, mean: 80, contender: .4, busy: .2})}, "it serves about 4 requests at a time at 128 connections, while its CPUs are idle (0.40 of 1.5 CPUs in use): a pool of threads"},
		"as many as the fewest connections":   {[]bench.TrialResult{trial(made{connections: 4, rate: 400, mean: 10, contender: .1, busy: .1}, queued)}, "it serves at most 4 requests at a time"},
		"a lock that computes":                {[]bench.TrialResult{trial(alone, made{connections: 64, rate: 410, mean: 155, contender: 1, busy: .3})}, ""},
		"a service that only waits":           {[]bench.TrialResult{trial(alone, made{connections: 64, rate: 25_000, mean: 2.5, contender: .4, busy: .2})}, ""},
		"a pool that grows":                   {[]bench.TrialResult{trial(pool.with(both(threadsGrow(18, 30, 50, 70, 82), answering(0, 0, 5, 20, 30, 200))))}, "its threads grew from 18 to 82 at 64 connections, while its CPUs were idle (0.20 of 1.5 CPUs in use): requests hold threads"},
		"a pool that grows at once":           {[]bench.TrialResult{trial(pool.with(both(threadsGrow(18, 82, 82, 82, 82), answering(0, 0, 5, 20, 30, 200))))}, ""},
		"a pool that grows while it responds": {[]bench.TrialResult{trial(pool.with(both(threadsGrow(18, 30, 50, 70, 82), answering(30, 30, 30, 30, 30, 30))))}, ""},
		"a pool that grows with the rate":     {[]bench.TrialResult{trial(pool.with(both(open, threadsGrow(18, 30, 50, 70, 82), answering(0, 0, 5, 20, 30, 200))))}, ""},
		"a pool that grew before":             {[]bench.TrialResult{trial(made{connections: 64, rate: 2000, mean: 30, contender: 1, busy: .3}.with(both(frozen(.28), warmUp)))}, "its threads grew from 18 to 82 at 64 connections (warm-up), while its CPUs were idle (0.28 of 1.5 CPUs in use) and the first responses took 15.0 s: requests"},
		"first responses that computed":       {[]bench.TrialResult{trial(made{connections: 64, rate: 2000, mean: 30, contender: 1, busy: .3}.with(frozen(1.4)))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := causes(test.trials...)
			testenv.Check(t, strings.HasPrefix(got, test.want) && (test.want != "") == (got != ""), "got %q, want %q", got, test.want)
		})
	}
}

func TestCauses_Limits(t *testing.T) {
	alone := made{connections: 1, rate: 400, mean: 2.5, contender: .1, busy: .1}
	of := func(set func(x float64) []made) func(float64) string {
		return func(x float64) string { return causes(trial(set(x)...)) }
	}
	busy := func(x float64, change func(*step)) []made {
		return []made{made{connections: 64, rate: 1000, mean: 64, contender: x, busy: .5}.with(change)}
	}
	pool := func(cpus float64, change ...func(*step)) []made {
		return []made{made{connections: 64, rate: 30, mean: 1500, contender: cpus, busy: .1}.with(both(change...))}
	}
	answers := answering(0, 0, 10, 20)
	checkLimits(t, []limit{
		{"collected", .3999, .4001, "the collector", of(func(x float64) []made { return busy(1.45, spending(0, x)) })},
		{"compiled", .1499, .1501, "the compilers", of(func(x float64) []made { return busy(1.45, spending(x, 0)) })},
		{"CPUs used up", 1.3499, 1.3501, "the compilers", of(func(x float64) []made { return busy(x, spending(.3, 0)) })},
		{"CPUs of the collector", .0999, .1001, "the collector", of(func(x float64) []made { return busy(2*x, spending(0, .5)) })},
		{"CPUs on a busy machine", .3749, .3751, "the compilers", of(func(x float64) []made {
			return []made{made{connections: 64, rate: 1000, mean: 64, contender: x, busy: .9}.with(spending(.3, 0))}
		})},
		{"latency on a busy machine", 59.9, 60.1, "the compilers", of(func(x float64) []made { // 1.5 × that of fewer connections
			return []made{{connections: 32, rate: 1000, mean: 40, contender: 1, busy: .9}, made{connections: 64, rate: 1000, mean: x, contender: 1, busy: .9}.with(spending(.3, 0))}
		})},
		{"a busy machine", .8799, .8801, "the compilers", of(func(x float64) []made {
			return []made{made{connections: 64, rate: 1000, mean: 64, contender: 1, busy: x}.with(spending(.3, 0))}
		})},
		{"a busy thread", .9499, .9501, "the compilers", of(func(x float64) []made {
			return []made{made{connections: 64, rate: 1000, mean: 64, contender: 1.1, busy: .3}.with(both(busiest(x), spending(.3, 0)))}
		})},
		{"idle CPUs of a lock", .7501, .7499, "at a time", of(func(x float64) []made {
			return []made{alone, {connections: 64, rate: 410, mean: 155, contender: x, busy: .3}}
		})},
		{"half of the connections", 12_801, 12_799, "at a time", of(func(x float64) []made { // of 64 at 2.5 ms
			return []made{alone, {connections: 32, rate: 12_790, mean: 40, contender: .3, busy: .3}, {connections: 64, rate: x, mean: 80, contender: .3, busy: .3}}
		})},
		{"requests in flight", 124, 126, "at a time", of(func(x float64) []made { // 51.2 of 64
			return []made{alone, {connections: 64, rate: 410, mean: x, contender: .1, busy: .3}}
		})},
		{"queueing at the fewest connections", 359, 361, "at most 4", of(func(x float64) []made {
			return []made{{connections: 4, rate: 360, mean: 10, contender: .1, busy: .1}, {connections: 64, rate: x, mean: 155, contender: .1, busy: .1}}
		})},
		{"idle CPUs of a pool", .7501, .7499, "its threads", of(func(x float64) []made { return pool(x, threadsGrow(10, 20, 30, 40), answers) })},
		{"more threads", 29, 30, "its threads", of(func(x float64) []made { return pool(.1, threadsGrow(20, 22, 24, int(x)), answers) })},
		{"threads in all", 17, 18, "its threads", of(func(x float64) []made { return pool(.1, threadsGrow(8, 10, 12, int(x)), answers) })},
		{"rises", 20, 21, "its threads", of(func(x float64) []made { return pool(.1, threadsGrow(10, 20, int(x), 40), answers) })},
		{"more responses", 19, 20, "its threads", of(func(x float64) []made { return pool(.1, threadsGrow(10, 20, 30, 40), answering(10, 10, int64(x))) })},
	})
}

// On a machine that is busy for other programs, a contender that hardly needs a CPU and serves in turn is
// its own bottleneck.
func TestTrial_InTurn(t *testing.T) {
	turn := func(change func(one, many *made, x float64)) func(float64) string {
		return func(x float64) string {
			one := made{connections: 1, rate: 400, mean: 2.5, contender: .1, busy: 1}
			many := made{connections: 64, rate: 410, mean: 155, contender: .1, busy: 1}
			change(&one, &many, x)
			return verdict.Trial(4, trial(one, many))[1].String()
		}
	}
	checkLimits(t, []limit{
		{"its CPUs", .3751, .3749, "contender: ", turn(func(_, many *made, x float64) { many.contender = x })},
		{"the client's CPUs", 1.0001, .9999, "contender: ", turn(func(_, many *made, x float64) { many.client = x })},
		{"the need's CPUs", 1.0001, .9999, "contender: ", turn(func(_, many *made, x float64) { many.store = x })},
		{"more throughput", 441, 439, "contender: ", turn(func(_, many *made, x float64) { many.rate = x })},
		{"latency in proportion", 127, 129, "contender: ", turn(func(_, many *made, x float64) { many.mean = x })},
		{"twice the connections", 33, 32, "contender: ", turn(func(one, _ *made, x float64) { one.connections = int(x) })},
	})
}

// On a machine that is nearly busy, a lock that computes is found if many requests wait.
func TestTrial_NearlyBusy(t *testing.T) {
	of := func(connections int, busy float64) string {
		one := made{connections: 4, rate: 1100, mean: 4, contender: 1.03, busy: .88}
		many := made{connections: connections, rate: 1120, mean: 57, contender: 1.03, busy: busy}
		return verdict.Trial(4, trial(one, many))[1].String()
	}
	checkLimits(t, []limit{
		{"connections for each CPU", 31, 32, "contender: ", func(x float64) string { return of(int(x), .9) }},
		{"all CPUs busy", .9201, .9199, "contender: ", func(x float64) string { return of(64, x) }},
		{"nearly all, with few connections", .8801, .8799, "contender: ", func(x float64) string { return of(31, x) }},
	})
}

// growing returns a step of some seconds in which 1,000 requests a second end, some of them
// rejected and failed. Memory grows by 1 MiB each second, from MiB used at its beginning.
func growing(seconds, mib int64) step {
	usage := func(second int64) bench.Usage {
		at := time.Date(2026, 1, 1, 0, 0, int(second), 0, time.UTC)
		return bench.Usage{At: at, Memory: &bench.Memory{Used: (mib + second) << 20}}
	}
	before, after := usage(0), usage(seconds)
	failed := map[bench.ErrorKind]int64{bench.ErrReset: 100}
	s := step{
		Step: bench.Step{Connections: 16}, Before: &before, After: &after,
		Load: load{
			Definition: bench.Interval, Elapsed: time.Duration(seconds) * time.Second, Outcomes: bench.Outcomes{Succeeded: 700 * seconds, Rejected: bench.Statuses{429: 200 * seconds}, Failed: map[bench.ErrorKind]int64{bench.ErrReset: 100 * seconds}},
		},
	}
	for second := range seconds {
		s.Samples = append(s.Samples, usage(second))
		s.Load.Windows = append(s.Load.Windows, bench.Window{
			Start: time.Duration(second) * time.Second, Length: time.Second, Succeeded: 700, Rejected: 200,
			Failed: failed,
		})
	}
	return s
}

// Memory grows with the requests of steps of the same request at constant loads only.
func TestMemoryGrowth(t *testing.T) {
	with := func(s step, change func(*step)) step { change(&s); return s }
	leak, short := []step{growing(20, 100)}, []step{growing(7, 100)}
	but := func(change func(*step)) []step {
		return []step{with(growing(20, 100), change)}
	}
	after := func(change func(*step)) []step { // 8 seconds and 8 MiB are too little alone
		return []step{with(growing(7, 100), change), growing(7, 107)}
	}
	steps := func(n int, change func(int, *step)) (all []step) { // of 6 seconds each
		for i := range n {
			s := growing(5, 100+5*int64(i))
			change(i, &s)
			all = append(all, s)
		}
		return all
	}
	whole := func(int, *step) {}
	collected := func(times int) []step { // falls by 3 MiB some times
		return but(func(s *step) {
			for i := 0; i < times; i++ {
				s.Samples[4*i+2].Memory.Used += 3 << 20
			}
		})
	}
	const grew = "memory use grew by 1.02 KiB per request and did not come back"
	for _, test := range []struct {
		name  string
		steps []step
		limit int64 // MiB
		want  string
	}{
		{"no step", nil, 0, ""},
		{"a leak", leak, 0, grew},
		{"one step below a limit", leak, 256, grew},
		{"four steps", steps(4, whole), 256, grew + ": 256 MiB are full after another 3m14s"},
		{"three steps", steps(3, whole), 256, grew},
		{"four steps with a warm-up", steps(4, func(i int, s *step) { s.Step.WarmUp = i == 0 }), 256, grew},
		{"four steps, one still warming up", steps(4, func(i int, s *step) {
			if i == 0 {
				s.Drift = &bench.Drift{Compiled: 0.5}
			}
		}), 256, grew},
		{"in a warm-up after four steps", steps(5, func(i int, s *step) { s.Step.WarmUp = i == 4 }), 256, grew},
		{"four collections", collected(4), 256, grew + ": 256 MiB are full after another 3m14s"},
		{"three collections", collected(3), 256, grew},
		{"a quarter of a year below a limit", collected(4), 5_600_000, grew + ": 5.34 TiB are full after another 2222h10m"},
		{"two years below a limit", collected(4), 50_000_000, grew},
		{"at its limit", collected(4), 120, grew},
		{"above its limit", collected(4), 110, grew},
		{"only errors", but(func(s *step) { s.Load.Succeeded = 0 }), 256, grew},
		{"a short step", short, 0, ""},
		{"two short steps", after(func(*step) {}), 0, grew},
		{"after other connections", after(func(s *step) { s.Step.Connections = 1 }), 0, grew},
		{"after another rate", after(func(s *step) { s.Step.Rate = 10 }), 0, grew},
		{"after a ramp", after(func(s *step) { s.Step.RampTo = 64 }), 0, ""},
		{"after another request", after(func(s *step) { s.Step.Request = "b" }), 0, ""},
		{"an aborted step", but(func(s *step) { s.Aborted = "x" }), 0, ""},
		{"a ramp", but(func(s *step) { s.Step.RampTo = 64 }), 0, ""},
		{"a ramp of connections", but(func(s *step) { s.Step.RampFrom = 1 }), 0, ""},
		{"a wave", but(func(s *step) { s.Step.Wave = &bench.Wave{} }), 0, ""},
		{"arrivals", but(func(s *step) { s.Step.Arrivals = &bench.Arrivals{} }), 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := verdict.MemoryGrowth(test.steps, test.limit<<20)
			testenv.Check(t, got.Join("|") == test.want, "%q, want %q", got, test.want)
			if test.want != "" && (got[0].Kind != bench.WarnMemoryGrowth ||
				int(got[0].Values[bench.GrowthRate]) != 1048) {
				t.Errorf("%+v", got[0])
			}
		})
	}
}
