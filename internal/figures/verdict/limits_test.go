package verdict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
)

// limit is one threshold: with the value `no` it is not reached, with the next one, `yes`, it is,
// and what is said then contains want.
type limit struct {
	name    string
	no, yes float64
	want    string
	say     func(x float64) string
}

func checkLimits(t *testing.T, limits []limit) {
	for _, l := range limits {
		t.Run(l.name, func(t *testing.T) {
			got := l.say(l.no)
			testenv.Check(t, !strings.Contains(got, l.want), "%g: %q, want no %q", l.no, got, l.want)
			got = l.say(l.yes)
			testenv.Check(t, strings.Contains(got, l.want), "%g: %q, want %q", l.yes, got, l.want)
		})
	}
}

// logged is a contender that writes to its log for which the engine uses x CPUs, on a machine busy
// for a share.
func logged(busy float64, each int64) func(*made, float64) {
	return func(m *made, x float64) {
		m.busy, m.change = busy, func(s *step) {
			s.Before.Log = &bench.Log{Bytes: 5, Lines: 5, EngineCPU: new(time.Second)}
			n := s.Load.Succeeded
			s.After.Log = &bench.Log{Bytes: 5 + each*n, Lines: 5 + 3*n, EngineCPU: new(time.Second + time.Duration(x*float64(length)))}
		}
	}
}

var usual = made{connections: 64, rate: 1000, mean: 10, contender: .2, busy: .1}

// changed makes a bound of a usual step and one value, after other steps.
func changed(set func(*made, float64), before ...made) func(float64) string {
	return func(x float64) string {
		m := usual
		set(&m, x)
		return verdict.Trial(4, trial(append(before, m)...))[len(before)].String()
	}
}

func counted(set func(*step, float64)) func(float64) string {
	return changed(func(m *made, x float64) { m.change = func(s *step) { set(s, x) } })
}

// countedAfter is counted after a step with fewer connections.
func countedAfter(set func(*step, float64), fewer made) func(float64) string {
	return changed(func(m *made, x float64) { m.mean, m.change = 20, func(s *step) { set(s, x) } }, fewer)
}

// latencies are responses of some lengths that take shares of 100,000 s in all.
func latencies(shares map[time.Duration]float64) bench.Latencies {
	h := hdr.New()
	for took, share := range shares {
		for range int(share * 100_000 / took.Seconds() / 100) {
			h.Record(took)
		}
	}
	return h.Latencies()
}

func failed(s *bench.StepResult, x float64) {
	s.Load.Failed = map[bench.ErrorKind]int64{bench.ErrReset: int64(x)}
}

func TestTrial_Limits(t *testing.T) {
	fewer := usual
	fewer.connections = 8
	// more is a step, and one with more connections that has another throughput.
	more := func(busy float64) func(float64) string {
		return func(x float64) string {
			m := usual
			m.busy = busy
			return verdict.Trial(4, trial(m, made{connections: 128, rate: x, mean: 20}))[0].String()
		}
	}
	checkLimits(t, []limit{
		{"kills", 0, 1, "memory: out", counted(func(s *step, x float64) { s.After.Memory.OOMKills = int64(x) })},
		{"half of the requests failing", 9999, 10_000, "errors: ", counted(failed)},
		{"the quota used", 1.3499, 1.35, "quota: ", changed(func(m *made, x float64) { m.contender = x })},
		{"periods throttled", 49, 50, "quota: ", changed(func(m *made, x float64) { m.throttled = int64(x) })},
		{"memory in use", 943_718_399, 943_718_400, "memory: ", counted(func(s *step, x float64) {
			s.Before.Memory.LimitHits, s.After.Memory.LimitHits, s.After.Memory.Used = number(3), number(4), int64(x)
		})},
		{"pages reread", 999, 1000, "memory: page cache", counted(func(s *step, x float64) {
			s.Before.Memory.Refaults, s.After.Memory.Refaults, s.After.Memory.Peak = number(7), number(7+int64(x)), 1000<<20
		})},
		{"peak memory", 1_027_604_479, 1_027_604_480, "memory: page cache", counted(func(s *step, x float64) {
			s.Before.Memory.Refaults, s.After.Memory.Refaults, s.After.Memory.Peak = number(0), number(9999), int64(x)
		})},
		{"a client's thread", .95, .9501, "client: a", counted(func(s *step, x float64) { s.Load.Saturation = x })},
		{"a client's CPUs", .8999, .9, "client: client used", changed(func(m *made, x float64) {
			m.client, m.change = x, func(s *step) { s.Load.ClientCPUs = 1 }
		})},
		{"a client's share of the machine", 3.5999, 3.6, "client: client used",
			changed(func(m *made, x float64) { m.client = x })},
		{"twice the throughput", 1999.9, 2000, "connections: 128", more(1)},
		{"a store's CPU set", .8999, .9, "db: 90% of its", changed(func(m *made, x float64) {
			m.store, m.change = x, func(s *step) { s.HostAfter.Needs["db"].CPUs = 1 }
		})},
		{"a store's share of the machine", 3.5999, 3.6, "db: ", changed(func(m *made, x float64) { m.store = x })},
		{"a busy machine with a store", .9199, .92, "db: ",
			changed(func(m *made, x float64) { m.store, m.busy = 2, x })},
		{"a busy machine with a store and steal", .8699, .87, "db: ", changed(func(m *made, x float64) {
			m.store, m.busy, m.steal = 2, x, .05
		})},
		{"a store's half of it", 1.9999, 2, "db: ", changed(func(m *made, x float64) { m.store, m.busy = x, .95 })},
		{"a busy machine", .9199, .92, "machine: 4", changed(func(m *made, x float64) { m.busy = x })},
		{"a busy machine with steal", .8699, .87, "machine: 4",
			changed(func(m *made, x float64) { m.busy, m.steal = x, .05 })},
		{"steal", .0999, .1, "machine: other VMs took 10%", changed(func(m *made, x float64) { m.steal = x })},
		{"other programs", .9001, .9, ", other 0.40", changed(func(m *made, x float64) {
			m.busy, m.contender, m.client, m.store = 1, 1.25, 1.45, x
		})},
		{"the engine's CPUs for a log", .399, .4, "contender: the engine used 0.40 CPUs for its log, 3.0 lines and 412 B per request, while 4 CPUs were 100% busy",
			changed(logged(1, 412))},
		{"a busy machine and a log", .9199, .92, "contender: the engine", changed(func(m *made, x float64) { logged(x, 1)(m, 1) })},
		{"the engine's CPUs for a log in the rest", .009, .01, ", the engine for its log 0.01", changed(logged(1, 412))},
		{"an engine's CPUs without a log", 0, 1, "contender: the engine", changed(func(m *made, x float64) { logged(1, int64(x))(m, 1) })},
		{"requests at the store", 5.999, 6, "db: 6.0 of 10.0", changed(func(m *made, x float64) { m.storeEmbedded = x })},
		{"a thread of the contender", .9499, .95, "threads: ", changed(func(m *made, x float64) {
			m.contender, m.change = .97, busiest(x)
		})},
		{"room in the quota", 1.35, 1.3499, "threads: ", changed(func(m *made, x float64) { m.contender, m.change = x, busiest(.97) })},
		{"connections for each CPU", 2, 3, "threads: ", changed(func(m *made, x float64) {
			m.connections, m.contender, m.change = int(x), .97, busiest(.97)
		})},
		{"latency that grows with a busy thread", 14.99, 15, "threads: ", changed(func(m *made, x float64) {
			m.mean, m.contender, m.change = x, .97, busiest(.97)
		}, fewer)},
		{"more connections for a busy thread", 1100, 1099.9, "threads: ", func(x float64) string {
			m := usual
			m.contender, m.change = .97, busiest(.97)
			return verdict.Trial(4, trial(m, made{connections: 128, rate: x, mean: 20}))[0].String()
		}},
		{"late and dropped requests", 101, 100, "rate: ", counted(func(s *step, x float64) {
			open(s)
			s.Load.Late, s.Load.Dropped = 40, int64(x)-40
		})},
		{"more throughput", 1099.9, 1100, "connections: 128", more(.1)},
		{"waiting for disk", 4.999, 5, "db: waits for disk 50% of the time; 64", countedAfter(func(s *step, x float64) {
			waits(x, nil)(s)
		}, fewer)},
		{"a busy machine while a need waits for disk", .92, .9199, "db: waits", changed(func(m *made, x float64) {
			m.mean, m.contender, m.client, m.busy, m.change = 20, 1, 1, x, waits(9, nil)
		}, fewer)},
		{"the run's half of a busy machine while a need waits for disk", 1, .9999, "db: waits", changed(func(m *made, x float64) {
			m.mean, m.contender, m.client, m.busy, m.change = 20, 1, x, 1, waits(9, nil)
		}, fewer)},
		// In 9 s of waiting for 90 operations, each took 100 ms.
		{"time in responses as long as half of an operation", .595, .605, "db: waits", countedAfter(func(s *step, x float64) {
			waits(9, &bench.Disk{Writes: 90})(s)
			s.Load.Latency = latencies(map[time.Duration]float64{10 * time.Millisecond: 1 - x, 400 * time.Millisecond: x})
		}, fewer)},
		{"responses as long as half of an operation", 49, 51, "db: waits", countedAfter(func(s *step, x float64) {
			waits(9, &bench.Disk{Writes: 90})(s)
			s.Load.Latency = latencies(map[time.Duration]float64{time.Duration(x) * time.Millisecond: 1})
		}, fewer)},
		{"latency that grows while a need waits for disk", 14.99, 15, "db: waits", changed(func(m *made, x float64) {
			m.mean, m.change = x, waits(9, nil)
		}, fewer)},
		{"no more throughput", 1100, 1099.9, "contender: ",
			changed(func(m *made, x float64) { m.rate, m.mean = x, 20 }, fewer)},
		{"latency that grows", 14.99, 15, "contender: ", changed(func(m *made, x float64) { m.mean = x }, fewer)},
		{"latency that is flat", 15, 14.99, "connections: latency", changed(func(m *made, x float64) {
			m.mean, m.change = x, func(s *step) { s.After = nil }
		}, fewer)},
		{"idle CPUs", .88, .8799, "contender: ", changed(func(m *made, x float64) { m.connections, m.mean, m.busy = 31, 20, x }, fewer)},
		{"idle CPUs with steal", .83, .8299, "contender: ", changed(func(m *made, x float64) {
			m.connections, m.mean, m.busy, m.steal = 31, 20, x, .05
		}, fewer)},
	})
}

// drained makes the longest request of a step take a time, and one of its drain another.
func drained(l *load, longest, after time.Duration) {
	l.Latency, l.Drain, l.DrainMax = bench.Latencies{Count: 1, Max: longest}, 1, after
}

func TestLoop_Limits(t *testing.T) {
	client := func(o verdict.Loop, set func(*bench.Load, float64)) func(float64) string {
		return func(x float64) string {
			l := load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: 1000}, Counts: bench.Counts{Scheduled: 1000, Sent: 1000}}
			set(&l, x)
			return o.Warnings(l).Join("|")
		}
	}
	closed, open := verdict.Loop{}, verdict.Loop{Open: true}
	checkLimits(t, []limit{
		{"cut", 0, 1, "interrupted: 1 request in", client(closed, func(l *load, x float64) { l.Cut = int64(x) })},
		{"reconnects", 0, 1, "1 reconnect; latency", func(x float64) string {
			return verdict.Loop{}.Warnings(load{Counts: bench.Counts{Reconnects: int64(x)}, Outcomes: bench.Outcomes{Succeeded: 1}}).Join("|")
		}},
		{"reconnects without success", 0, 1, "2 reconnects; latency", func(x float64) string {
			return verdict.Loop{}.Warnings(load{Counts: bench.Counts{Reconnects: 2}, Outcomes: bench.Outcomes{Succeeded: int64(x)}}).Join("|")
		}},
		{"sent again", 1, 2, "2 of 1000 requests sent again: the contender", client(closed, func(l *load, x float64) {
			l.SentAgain = int64(x)
		})},
		{"a long drain", 1e8 - 1, 1e8, "1 success ended after the measured interval and took up to 100 ms: p99 and max (10.0 ms)",
			client(closed, func(l *load, x float64) { drained(l, 10*time.Millisecond, time.Duration(x)) })},
		{"a drain longer than the rest", 1e9, 1e9 - 1, "took up to 2.00 s: p99 and max (1.00 s)",
			client(closed, func(l *load, x float64) { drained(l, time.Duration(x), 2*time.Second) })},
		{"a drain of a slice", 1, 2, "2 successes ended after their slices",
			client(verdict.Loop{Parts: true}, func(l *load, x float64) {
				drained(l, 10*time.Millisecond, time.Second)
				l.Drain = int64(x)
			})},
		{"a drain without a maximum", 0, 1, "ended after", client(closed, func(l *load, x float64) {
			drained(l, 0, time.Second)
			l.Latency.Count = int64(x)
		})},
		{"a client's limit", 0, 1, "1 request failed: client out of", client(closed, func(l *load, x float64) {
			l.Failed = map[bench.ErrorKind]int64{bench.ErrClient: int64(x)}
		})},
		{"rejected", 9, 10, "rejected 1% of requests (429): they are expected",
			client(closed, func(l *load, x float64) {
				l.Succeeded, l.Rejected = 990, bench.Statuses{429: int64(x)}
			})},
		{"a pace", 0, 1, "1 of 0 iterations", client(closed, func(l *load, x float64) { l.Overran = int64(x) })},
		{"unserved", 0, 1, "queue outlasted", client(closed, func(l *load, x float64) { l.Unserved = int(x) })},
		{"a client's CPUs", .8, .8001, "it used 0.80 of its 1 CPU",
			client(closed, func(l *load, x float64) { l.ClientCPUs, l.ClientCPU = 1, time.Duration(x*1e9) })},
		{"a client's CPUs by the wall clock", 1.6, 1.6001, "it used 0.80 of its 1 CPU",
			client(closed, func(l *load, x float64) {
				l.ClientCPUs, l.ClientCPU, l.Wall = 1, time.Duration(x*1e9), 2*time.Second
			})},
		{"CPUs that are known", 0, .5, "the client may be", client(closed, func(l *load, x float64) {
			l.ClientCPUs, l.ClientCPU = x, time.Second
		})},
		{"a client's thread", .95, .9501, "client-bound", client(closed, func(l *load, x float64) { l.Saturation = x })},
		{"dropped", 0, 1, "1 of 1000 scheduled", client(open, func(l *load, x float64) { l.Dropped = int64(x) })},
		{"a backlog", 25, 26, " 10 expected at this throughput", client(open, func(l *load, x float64) {
			l.Backlog, l.Sending.Mean = int64(x), 10*time.Millisecond
		})},
		{"a backlog of dropped requests", 1, 0, "backlog", client(open, func(l *load, x float64) {
			l.Backlog, l.Dropped = 100, int64(x)
		})},
		{"waited", 2, 3, "1 requests sent late", client(open, func(l *load, x float64) {
			l.Late, l.WaitedForConnection, l.Dropped = 5, int64(x), 2
		})},
		{"late by itself", 17, 18, "client-bound: 11 of 1000 requests", client(open, func(l *load, x float64) {
			l.Late, l.WaitedForConnection = int64(x), 7
		})},
		{"too few connections", 15, 16, "true", func(x float64) string {
			return fmt.Sprint(verdict.ManyWaited(load{Counts: bench.Counts{Scheduled: 1000, WaitedForConnection: int64(x), Dropped: 5}}))
		}},
	})
}

// In one second, 10 connections have one request each in flight. Any of the three measurements may
// differ from the others.
func TestLoop_LittlesLaw(t *testing.T) {
	const s10 = 10 * time.Second
	little := func(open bool, set func(*verdict.Loop, time.Duration)) func(float64) string {
		return func(x float64) string {
			o := verdict.Loop{Open: open, Connections: 10, Responses: 200, Busy: s10, Shared: s10, Counted: s10}
			set(&o, time.Duration(x))
			return o.Warnings(load{Elapsed: time.Second}).Join("|")
		}
	}
	busy := func(o *verdict.Loop, x time.Duration) { o.Busy = x }
	shared := func(o *verdict.Loop, x time.Duration) { o.Shared = x }
	const hair = 4 // ns; of float64 it is 2
	checkLimits(t, []limit{
		{"few responses", 99, 100, "unstable load", little(false, func(o *verdict.Loop, x time.Duration) {
			o.Busy, o.Responses = 2*s10, int64(x)
		})},
		{"more by time", 10.501e9, 10.501e9 + hair, "clock: 10.50 requests in flight by time, 10.00 by count",
			little(false, shared)},
		{"less by time", 9.499e9, 9.499e9 - hair, "late: 9.50 requests in flight by time, 10.00 by count",
			little(true, shared)},
		{"a slow client", 9.5e9, 9.5e9 - hair, "client-bound: 9.5 of 10.0 connections busy; the client takes 2.5ms",
			little(false, shared)},
		{"a slow client and fewer in flight", 9.5e9, 9.5e9 - hair, "client-bound: 9.5 of 10.0 connections busy",
			little(false, func(o *verdict.Loop, x time.Duration) { o.Busy, o.Shared, o.Counted = x, x, x })},
		{"a slow client in a whole step", 9.5e9, 8.5e9, "client-bound: 8.5 of 9.0 connections busy",
			little(false, func(o *verdict.Loop, x time.Duration) {
				o.Whole, o.Busy, o.Shared, o.Counted = true, x, x, 9e9
			})},
		// A client that takes 1 ms more hides no faster contender from users who rest for 2 s.
		{"a slow client of users that rest", 3.5e9, 3.5e9 - hair, "client-bound: 3.5 of 4.0 connections busy",
			little(false, func(o *verdict.Loop, x time.Duration) {
				o.Busy, o.Counted, o.Rested, o.Shared = x, x, 6*time.Second, x
			})},
		{"longer latency", 11.001e9, 11.001e9 + hair, "mean latency is 11.00, but 10.00 requests were", little(false, busy)},
		{"shorter latency", 8.999e9, 8.999e9 - hair, "mean latency is 9.00", little(false, busy)},
		{"latency of an open loop", 11.001e9, 11.001e9 + hair, "unstable load", little(true, busy)},
	})
	for name, o := range map[string]verdict.Loop{
		"an interleaved step": {Connections: 10, Responses: 200, Busy: 2 * s10, Shared: s10, Counted: s10, Parts: true},
		"no connection":       {Responses: 200, Busy: s10, Shared: s10, Counted: s10},
	} {
		got := o.Warnings(load{Elapsed: time.Second})
		testenv.Check(t, got == nil, "%s: %q", name, got)
	}
	unstable := verdict.Loop{Open: true, Responses: 200, Shared: s10}
	for name, l := range map[string]load{
		"no time": {ClientCPUs: 1, ClientCPU: time.Second}, "interrupted": {Elapsed: time.Second, Counts: bench.Counts{Cut: 1}},
	} {
		got := unstable.Warnings(l)
		testenv.Check(t, len(got) <= int(l.Cut), "%s: %q", name, got)
	}
}

func TestStep_Limits(t *testing.T) {
	stalls := func(set func(*bench.Hiccups, float64)) func(float64) string {
		return func(x float64) string {
			h := bench.Hiccups{CPUs: 2, Count: 1, Realtime: true}
			set(&h, x)
			return verdict.MachineStalls(step{Load: load{Wall: length}, Hiccups: &h}).Join("|")
		}
	}
	onMachine := func(limit float64, set func(*made, float64)) func(float64) string {
		return func(x float64) string {
			m := usual
			set(&m, x)
			inst := bench.InstanceInfo{Limits: bench.Limits{CPUs: limit}, LimitsEnforced: true}
			return verdict.OnThisMachine(m.step(0), inst, 4).Join("|")
		}
	}
	share := func(set func(*made, float64)) func(float64) string {
		return func(x float64) string {
			m := made{rate: 10, busy: 1}
			set(&m, x)
			return fmt.Sprintf("%.4f", verdict.ShareOfOthers(m.step(0), 1.5))
		}
	}
	cold := func(responses int64) func(float64) string {
		return func(x float64) string {
			s := usual.with(waits(0, &bench.Disk{Reads: int64(x)})).step(0)
			s.Load.Succeeded = responses
			return verdict.ColdCaches(s).Join("|")
		}
	}
	first := func(set func(s *step, x float64)) func(float64) string {
		return func(x float64) string {
			s := bench.StepResult{Step: bench.Step{Connections: 64}, Before: &bench.Usage{Threads: new(20)}}
			s.Load.FirstResponse = 8 * time.Second
			s.Load.Latency = bench.Latencies{Count: 1, P50: 27 * time.Millisecond}
			set(&s, x)
			return verdict.FirstResponses(s, nil).Join("|")
		}
	}
	checkLimits(t, []limit{
		{"first responses", 1e9 - 1, 1e9, "the first responses took 1.00 s, p50 27.0 ms: look", first(func(s *step, x float64) {
			s.Load.FirstResponse = time.Duration(x)
		})},
		{"first responses as long as others", 1.6e9 + 1, 1.6e9, "took 8.00 s, p50 1.60 s", first(func(s *step, x float64) {
			s.Load.Latency.P50 = time.Duration(x)
		})},
		{"first responses as long as errors", 1.6e9 + 1, 1.6e9, "took 8.00 s: look", first(func(s *step, x float64) {
			s.Load.Latency, s.Load.Failures.P50 = bench.Latencies{}, time.Duration(x)
		})},
		{"first responses and rejected ones alone", 1, 0, "took 8.00 s: look", first(func(s *step, x float64) {
			s.Load.Latency, s.Load.Rejected = bench.Latencies{}, bench.Statuses{429: int64(x)}
		})},
		{"first responses of an open loop", 1, 0, "took 8.00 s", first(func(s *step, x float64) { s.Step.Rate = x })},
		{"first responses that timed out", 8.2e9, 8.08e9, "took at least 8.00 s", first(func(s *step, x float64) {
			s.Load.Timeouts = bench.Latencies{Count: 1, Min: time.Duration(x)}
		})},
		{"a timeout of the first responses", 0, 1, "took at least 8.00 s", first(func(s *step, x float64) {
			s.Load.Timeouts.Count = int64(x)
		})},
		{"half as many threads again", 29, 30, "its threads grew from 20 to 30: look", first(func(s *step, x float64) {
			s.Samples = []bench.Usage{{Threads: new(int(x))}}
		})},
		{"ten more threads", 13, 14, "its threads grew from 4 to 14: look", first(func(s *step, x float64) {
			s.Before.Threads, s.After = new(4), &bench.Usage{Threads: new(int(x))}
		})},
		{"busy between its slices", .05, .0501, "used 0.05 CPUs", func(x float64) string {
			t := bench.Interleave{Waited: time.Second, WaitedCPU: time.Duration(x * 1e9)}
			return verdict.BusyOutOfTurn("b", step{Interleave: &t}).Join("|")
		}},
		{"need busy between its slices", .05, .0501, "db of b used 0.05 CPUs", func(x float64) string {
			t := bench.Interleave{Waited: time.Second, WaitedNeeds: map[string]time.Duration{"db": time.Duration(x * 1e9)}}
			return verdict.BusyOutOfTurn("b", step{Interleave: &t}).Join("|")
		}},
		{"reads from disk per response", 99, 100, "db still read from disk: 0 B in 100 reads, 0.0100 per request", cold(10_000)},
		{"reads from disk in a step", 9, 10, "still read", cold(1)},
		{"reads from disk in a measured step", 0, 1, "still read", func(x float64) string {
			s := usual.with(waits(0, &bench.Disk{Reads: 9000})).step(0)
			s.Step.WarmUp = x == 0
			return verdict.ColdCaches(s).Join("|")
		}},
		{"kills of a need", 0, 1, "db out of memory: the kernel killed 1 process at its limit of 64 MiB", func(x float64) string {
			return verdict.Killed(usual.with(func(s *step) {
				s.HostBefore.Needs["db"].Memory = &bench.Memory{OOMKills: 3}
				s.HostAfter.Needs["db"].Memory = &bench.Memory{OOMKills: 3 + int64(x), Limit: 64 << 20}
			}).step(0)).Join("|")
		}},
		{"kills", 0, 1, "killed 1 process", func(x float64) string {
			return verdict.Killed(usual.with(func(s *step) { s.After.Memory.OOMKills = int64(x) }).step(0)).Join("|")
		}},
		{"a long stall", 19.99, 20, "longest 20.0 ms",
			stalls(func(h *bench.Hiccups, x float64) { h.Max = time.Duration(x * 1e6) })},
		{"short stalls", 99.99, 100, "0.5% of the step",
			stalls(func(h *bench.Hiccups, x float64) { h.Sum = time.Duration(x * 1e6) })},
		{"stalls", 0, 1, "stalls: 1", stalls(func(h *bench.Hiccups, x float64) {
			h.Max, h.Count = time.Second, int64(x)
		})},
		{"steal", .0199, .02, "CPU steal: other VMs took 2.0%", onMachine(1.5, func(m *made, x float64) { m.steal = x })},
		{"heat", 0, 1, "thermal throttling (", onMachine(1.5, func(m *made, x float64) {
			m.change = func(s *step) {
				s.HostBefore.Host.Throttles, s.HostAfter.Host.Throttles = number(3), number(3+int64(x))
			}
		})},
		{"a contender below its quota", 1.35, 1.3499, "the client may", onMachine(1.5, func(m *made, x float64) {
			m.contender, m.client = x, 2
		})},
		{"a contender without a quota", 3.6, 3.5999, "only 3.60 of its 4", onMachine(0, func(m *made, x float64) {
			m.contender, m.client = x, 1
		})},
		{"a quota above the machine's CPUs", 3.6, 3.5999, "only 3.60 of its 4", onMachine(5, func(m *made, x float64) {
			m.contender, m.client = x, 1
		})},
		{"a client's half of the machine", 1.9999, 2, "it used 2.00 of 4 CPUs",
			onMachine(1.5, func(m *made, x float64) { m.client = x })},
		{"client and contender", 1.7999, 1.8, "the client may", onMachine(3, func(m *made, x float64) {
			m.contender, m.client = 1.8, x
		})},
		{"a busy machine", .9199, .92, "0.92", share(func(m *made, x float64) { m.busy = x })},
		{"a busy machine with steal", .8699, .87, "0.92", share(func(m *made, x float64) { m.busy, m.steal = x, .05 })},
		{"other programs", .7001, .6999, "0.2000",
			share(func(m *made, x float64) { m.contender, m.client, m.store = 1, 1.5, x })},
		{"a contender without its quota", 1.35, 1.34, "0.6650", share(func(m *made, x float64) { m.contender = x })},
		{"load before a run", 2, 2.01, "true", func(x float64) string {
			load, busy := verdict.BusyBefore(bench.Machine{CPUs: 4, Load1: fmt.Sprint(x)})
			return fmt.Sprint(load, busy)
		}},
	})
}

// piledUp is a step with some responses of a time, among 1,000 of 1 ms and some around that time.
func piledUp(at time.Duration, n, around int, throttled int64) string {
	h := hdr.New()
	for took, times := range map[time.Duration]int{time.Millisecond: 1000, at: n, at - 7*time.Millisecond: around / 2, at + 7*time.Millisecond: around / 2} {
		for range times {
			h.Record(took)
		}
	}
	var r step
	r.Load.Latency = h.Latencies()
	r.Before, r.After = &bench.Usage{Throttling: &bench.Throttling{}}, &bench.Usage{Throttling: &bench.Throttling{Periods: 100, Throttled: throttled}}
	return verdict.DelayedACKs(r).Join("")
}

func TestDelayedACKs(t *testing.T) {
	const want = "of responses took about 40 ms"
	ms := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	checkLimits(t, []limit{
		{"from", 38, 40, want, func(x float64) string { return piledUp(ms(x), 500, 0, 0) }},
		{"to", 47, 45, want, func(x float64) string { return piledUp(ms(x), 500, 0, 0) }},
		{"a share", 9, 11, want, func(x float64) string { return piledUp(ms(41), int(x), 0, 0) }},
		{"hardly any around", 52, 48, want, func(x float64) string { return piledUp(ms(42), 500, int(x), 0) }},
		{"pauses of the quota", 6, 5, want, func(x float64) string { return piledUp(ms(42), 500, 0, int64(x)) }},
	})
	got := verdict.DelayedACKs(step{})
	testenv.Check(t, got == nil, "of no response: %v", got)
}
