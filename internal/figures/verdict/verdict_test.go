package verdict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
)

type (
	step = bench.StepResult
	load = bench.Load
)

const length = 10 * time.Second

// made describes a step of 10 s on a machine with four CPUs.
type made struct {
	connections   int
	rate, mean    float64 // successes per second; mean latency in ms
	contender     float64 // CPUs
	client        float64
	busy, steal   float64 // shares of all CPUs
	throttled     int64   // of 100 periods
	store         float64 // CPUs
	storeUnknown  bool
	storeEmbedded float64 // calls at a time
	change        func(*step)
}

func (m made) step(i int) bench.StepResult {
	at := time.Unix(1000, 0)
	span := func(cpus float64) time.Duration { return time.Duration(cpus * float64(length)) }
	usage := func(cpu time.Duration, throttled int64) *bench.Usage {
		t := bench.Throttling{Periods: 100 * min(int64(cpu), 1), Throttled: throttled}
		t.Time = time.Duration(throttled) * 10 * time.Millisecond
		return &bench.Usage{CPU: cpu, Memory: &bench.Memory{Used: 100 << 20}, Throttling: &t}
	}
	host := func(at time.Time, n float64) *bench.HostReading {
		h := &bench.HostUsage{At: at, Busy: span(n * 4 * m.busy), Steal: span(n * 4 * m.steal)}
		h.Idle = time.Hour + span(n*4) - h.Busy - h.Steal
		b := &bench.HostReading{Host: h}
		switch {
		case m.storeEmbedded > 0:
			b.Needs = map[string]*bench.NeedUsage{"db": {At: at, Source: bench.EmbeddedSource, Busy: span(n * m.storeEmbedded)}}
		case !m.storeUnknown:
			b.Needs = map[string]*bench.NeedUsage{"db": {At: at, Source: "/proc", CPU: span(n * m.store)}}
		}
		return b
	}
	n := int64(m.rate * 10)
	s := bench.StepResult{
		Index: i, Step: bench.Step{Connections: m.connections, Duration: length},
		Load: bench.Load{
			Elapsed: length, Wall: length, Outcomes: bench.Outcomes{Succeeded: n}, Counts: bench.Counts{Scheduled: n}, ClientCPU: span(m.client),
			InFlight: m.rate * m.mean / 1000, Latency: bench.Latencies{Count: n, Mean: time.Duration(m.mean * 1e6)},
		},
		Before: usage(0, 0), After: usage(span(m.contender), m.throttled),
		HostBefore: host(at, 0), HostAfter: host(at.Add(length), 1),
	}
	if m.change != nil {
		m.change(&s)
	}
	return s
}

func (m made) with(change func(*step)) made { m.change = change; return m }

// late has a response after the interval only.
func late(s *step) { s.Load.Sent, s.Load.Drain = 1, 1 }

// trial has a contender with a quota of 1.5 CPUs and a limit of 1,000 MiB.
func trial(steps ...made) bench.TrialResult {
	limits := bench.Limits{CPUs: 1.5, Memory: 1000 << 20}
	r := bench.TrialResult{Instance: &bench.InstanceInfo{PID: 1, LimitsEnforced: true, Limits: limits}}
	for i, m := range steps {
		r.Steps = append(r.Steps, m.step(i))
	}
	return r
}

func waiting(seconds float64) *bench.Pressure {
	return &bench.Pressure{Source: "cgroup v2", IO: &bench.Stall{Some: time.Duration(seconds * 1e9)}}
}

// waits makes the need of a step wait for its disk, and read and write meanwhile.
func waits(seconds float64, moved *bench.Disk) func(*step) {
	return func(s *step) {
		b, a := s.HostBefore.Needs["db"], s.HostAfter.Needs["db"]
		b.Pressure, a.Pressure = waiting(2), waiting(2+seconds)
		if moved != nil {
			b.Disk = &bench.Disk{Read: 1, Written: 2, Reads: 3, Writes: 4}
			a.Disk = &bench.Disk{Read: 1 + moved.Read, Written: 2 + moved.Written, Reads: 3 + moved.Reads, Writes: 4 + moved.Writes}
		}
	}
}

func number(n int64) *int64 { return &n }

func open(s *bench.StepResult) { s.Step.Connections, s.Step.Rate = 0, 500 }

func aborted(s *bench.StepResult) { s.Aborted = "interrupted" }

// busiest makes a thread of the contender busy for a share of the step.
func busiest(share float64) func(*step) {
	return func(s *step) {
		s.Before.At, s.After.At = time.Unix(1000, 0), time.Unix(1000, 0).Add(length)
		s.BusiestThread = new(time.Duration(share * float64(length)))
	}
}

// needThread makes a thread of the need busy for a share of the step.
func needThread(share float64) func(*step) {
	return func(s *step) { s.HostAfter.Needs["db"].BusiestThread = new(time.Duration(share * float64(length))) }
}

// The golden file has, of each trial, the lines about its steps.
func TestTrial(t *testing.T) {
	idle := made{connections: 8, rate: 800, mean: 10, contender: .2, busy: .1}
	slow := made{connections: 64, rate: 801, mean: 80, contender: .2, busy: .1}
	thread := made{connections: 8, rate: 1000, mean: 8, contender: .99, busy: .4}
	queued := made{connections: 64, rate: 1020, mean: 62, contender: 1, busy: .4}
	few := made{connections: 2, rate: 200, mean: 10, contender: .1, busy: .1}
	busyFew := made{connections: 2, rate: 200, mean: 10, contender: .02, client: .04, busy: 1}
	rereading := made{connections: 8, rate: 3600, mean: 2, contender: .63, client: .07, busy: .94}
	reread := func(peak int64) func(*step) {
		return func(s *step) {
			s.Before.Memory.Refaults, s.After.Memory.Refaults = number(100), number(471_460)
			s.After.Memory.Peak, s.After.Memory.Used = peak, 96<<20
		}
	}
	memory := func(used, hits, major int64) func(*step) {
		return func(s *step) {
			s.Before.Memory.LimitHits, s.After.Memory.LimitHits, s.After.Memory.Used = number(3), number(3+hits), used<<20
			s.Before.Memory.MajorFaults, s.After.Memory.MajorFaults = number(2), number(2+major)
		}
	}
	var text strings.Builder
	for _, test := range []struct {
		name  string
		steps []made
	}{
		{"quota", []made{{rate: 8000, mean: 8, contender: 1.47, client: .5, busy: .6, throttled: 61}}},
		{"quota in bursts", []made{{rate: 8000, mean: 8, contender: 1.1, client: .5, busy: .6, throttled: 55}}},
		{"quota without counts of periods", []made{made{rate: 8000, contender: 1.47}.with(func(s *step) {
			s.After.Throttling = nil
		})}},
		{"killed", []made{made{rate: 10, contender: 1.5, throttled: 99}.with(func(s *step) {
			s.Before.Memory.OOMKills, s.After.Memory.OOMKills = 1, 3
		})}},
		{"memory", []made{idle.with(memory(950, 1200, 77))}},
		{"memory, nothing reread", []made{idle.with(memory(950, 2, 0))}},
		{"memory, limit not hit", []made{idle.with(memory(950, 0, 77))}},
		{"page cache at the limit", []made{idle.with(memory(100, 1200, 0))}},
		{"page cache thrashing", []made{rereading.with(reread(1000 << 20))}},
		{"pages reread below the limit", []made{rereading.with(reread(300 << 20))}},
		{"client's quota", []made{made{rate: 25000, contender: .44, client: .4, busy: .61}.with(func(s *step) {
			s.Load.ClientCPUs, s.Load.Saturation = .4, .65
		})}},
		{"client's thread", []made{made{rate: 90000, contender: 1, client: 1, busy: .5}.with(func(s *step) {
			s.Load.Saturation = .98
		})}},
		{"client", []made{{rate: 90000, mean: .1, contender: .3, client: 3.7, busy: 1}}},
		{"errors", []made{made{rate: 10, mean: 8}.with(func(s *step) {
			s.Load.Failed = map[bench.ErrorKind]int64{"5xx": 300}
		})}},
		{"store", []made{{rate: 900, mean: 80, contender: .2, client: .1, store: 3.65, busy: .99}}},
		{"store on its own CPU", []made{made{rate: 900, contender: .2, store: .97, busy: .4}.with(func(s *step) {
			s.HostAfter.Needs["db"].CPUs = 1
		})}},
		{"need at its quota", []made{made{rate: 900, contender: .2, store: .196, busy: .4}.with(func(s *step) {
			s.HostAfter.Needs["db"].Quota = .2
		})}},
		{"need below its quota", []made{made{rate: 900, contender: .2, store: .16, busy: .4}.with(func(s *step) {
			s.HostAfter.Needs["db"].Quota = .2
		})}},
		{"need with one busy thread", []made{idle.with(needThread(.9)), made{connections: 64, rate: 801, mean: 80,
			contender: .2, store: .99, busy: .4}.with(needThread(.98))}},
		{"need with one busy thread, and more connections help", []made{made{connections: 8, rate: 800, mean: 10,
			contender: .2, store: .98, busy: .4}.with(needThread(.98)), made{connections: 64, rate: 6000, mean: 10,
			contender: .9, store: .99, busy: .4}.with(needThread(.98))}},
		{"need with one busy thread on its own CPU", []made{made{connections: 64, rate: 801, mean: 80, contender: .2, store: .97,
			busy: .4}.with(func(s *step) {
			needThread(.97)(s)
			s.HostAfter.Needs["db"].CPUs = 1
		})}},
		{"need with several busy threads", []made{idle, made{connections: 64, rate: 801, mean: 80, contender: .2, store: 1.9,
			busy: .6}.with(needThread(.94))}},
		{"need throttled", []made{made{rate: 900, contender: .2, store: .15, busy: 1}.with(func(s *step) {
			b, a := s.HostBefore.Needs["db"], s.HostAfter.Needs["db"]
			a.Quota, b.Throttling = .2, &bench.Throttling{Periods: 7, Throttled: 7}
			a.Throttling = &bench.Throttling{Periods: 107, Throttled: 67, Time: 3 * time.Second}
		})}},
		{"need waits for disk", []made{idle, slow.with(waits(9, &bench.Disk{Written: 120 << 20, Writes: 3100}))}},
		{"need waits for disk with fewer connections, too", []made{idle.with(waits(9, nil)), slow}},
		{"need waits for disk at a rate that is not kept", []made{made{rate: 500, mean: 10, contender: .3, busy: .2}.with(func(s *step) {
			open(s)
			waits(6, &bench.Disk{Read: 10 << 20, Reads: 400, Written: 1 << 20, Writes: 20})(s)
			s.Load.Scheduled, s.Load.Dropped = 8000, 3000
		})}},
		{"rate kept although a need waits for disk", []made{made{rate: 500, mean: 10, contender: .3, busy: .2}.with(func(s *step) {
			open(s)
			waits(6, nil)(s)
		})}},
		{"need writes in the background, and more connections help", []made{idle.with(waits(9, nil)),
			made{connections: 64, rate: 6000, mean: 10, contender: .9, busy: .3}.with(waits(9, nil))}},
		{"need writes in the background, and the quota is used up", []made{idle, made{connections: 64, rate: 801, mean: 80,
			contender: 1.49, busy: .4}.with(waits(9, nil))}},
		{"need waits for disk at its own quota", []made{idle, made{connections: 64, rate: 801, mean: 80, contender: .2, store: .196,
			busy: .4}.with(func(s *step) {
			waits(9, nil)(s)
			s.HostAfter.Needs["db"].Quota = .2
		})}},
		{"need waits for disk in the only step", []made{slow.with(waits(9, &bench.Disk{Written: 120 << 20, Writes: 3100}))}},
		{"need waits for disk while other programs use all CPUs", []made{idle, made{connections: 64, rate: 801, mean: 80, contender: .2,
			busy: 1}.with(waits(9, nil))}},
		{"need waits for disk while the run uses all CPUs", []made{idle, made{connections: 64, rate: 801, mean: 80, contender: 1.2,
			client: 1, store: 1.5, busy: 1}.with(waits(9, nil))}},
		{"need waits for disk, and some more throughput", []made{{connections: 1, rate: 49, mean: 20, contender: .1, busy: .1},
			made{connections: 4, rate: 64, mean: 62, contender: .1, busy: .1}.with(waits(9, nil))}},
		{"need writes in the background, and a lock of the contender", []made{idle, slow.with(func(s *step) {
			waits(9, &bench.Disk{Writes: 90})(s)
			s.Load.Latency = latencies(map[time.Duration]float64{10 * time.Millisecond: .9, 400 * time.Millisecond: .1})
			s.Load.Latency.Mean = 80 * time.Millisecond
		})}},
		{"need waits for disk, and many more connections help", []made{idle.with(waits(9, nil)), slow,
			{connections: 128, rate: 1200, mean: 90, contender: .3, busy: .1}}},
		{"contender waits for disk", []made{idle, slow.with(func(s *step) {
			waits(6, nil)(s)
			s.Before.At, s.After.At = time.Unix(1000, 0), time.Unix(1010, 0)
			s.Before.Pressure, s.After.Pressure = waiting(3), waiting(3+7)
		})}},
		{"contender waits for disk less than a need", []made{idle, slow.with(func(s *step) {
			waits(8, nil)(s)
			s.Before.At, s.After.At = time.Unix(1000, 0), time.Unix(1010, 0)
			s.Before.Pressure, s.After.Pressure = waiting(3), waiting(3+7)
		})}},
		{"store with others", []made{{rate: 900, mean: 80, contender: .9, client: .4, store: 2.6, busy: .98}}},
		{"machine", []made{{rate: 900, mean: 80, contender: 1.3, client: 1.2, store: 1.4, busy: .97}}},
		{"others on the machine", []made{{rate: 200, mean: 80, contender: .03, client: .02, busy: 1, storeEmbedded: .1}}},
		{"others, and an unknown store", []made{{rate: 200, contender: .03, client: .02, busy: 1, storeUnknown: true}}},
		{"machine without counters of the contender", []made{made{rate: 200, busy: 1}.with(func(s *step) {
			s.After = nil
		})}},
		{"stolen", []made{{rate: 900, mean: 80, contender: .3, client: .2, busy: .2, steal: .8}}},
		{"store holds", []made{{rate: 640, mean: 100, contender: .2, client: .2, busy: .2, storeEmbedded: 58}}},
		{"too few", []made{few, {connections: 64, rate: 5000, mean: 12, contender: .9, busy: .3}}},
		{"too few on a busy machine", []made{busyFew, {connections: 16, rate: 1500, mean: 11, contender: .1, busy: 1}}},
		{"some more on a busy machine", []made{busyFew, {connections: 16, rate: 300, mean: 50, contender: .1, busy: 1}}},
		{"still too few", []made{few, {connections: 4, rate: 395, mean: 10.1, contender: .2, busy: .1}}},
		{"one connection", []made{{connections: 1, rate: 3600, mean: 2, contender: .63, busy: .4}}},
		{"its own lock", []made{idle, slow}},
		{"lock or store", []made{idle, {connections: 64, rate: 801, mean: 80, contender: .2, busy: .1, storeUnknown: true}}},
		{"the best of fewer connections", []made{few, idle, slow}},
		{"without mean latency", []made{{connections: 2, rate: 100, contender: .2, busy: .1},
			{connections: 4, rate: 101, contender: .2, busy: .1}}},
		{"without mean latency after", []made{{connections: 2, rate: 100, mean: 9, contender: .2, busy: .1},
			{connections: 4, rate: 101, contender: .2, busy: .1}}},
		{"no requests at an embedded store", []made{{rate: 100, contender: .2, busy: .1, storeEmbedded: .1}}},
		{"without mean latency before", []made{{connections: 2, rate: 100, contender: .2, busy: .1},
			{connections: 4, rate: 101, mean: 9, contender: .2, busy: .1}}},
		{"another request", []made{idle, slow.with(func(s *step) { s.Step.Request = "other" })}},
		{"an aborted step before", []made{idle.with(aborted), slow}},
		{"only errors before", []made{idle.with(func(s *step) { s.Load.Succeeded = 0 }), slow}},
		{"an open loop before", []made{idle.with(open), slow}},
		{"the same connections before", []made{slow, slow, {connections: 64, rate: 9000, mean: 9}}},
		{"a warm-up before", []made{idle.with(func(s *step) { s.Step.WarmUp = true }), slow}},
		{"one thread, the fewer connections of two steps", []made{thread.with(busiest(.98)), queued.with(busiest(.99))}},
		{"one thread on a busy machine", []made{{connections: 8, rate: 800, mean: 10, contender: 1, client: 1, busy: .97, change: busiest(.98)}}},
		{"one thread and a busy need", []made{{connections: 8, rate: 800, mean: 10, contender: 1, store: 3.7, busy: 1, change: busiest(.98)}}},
		{"one thread, one connection", []made{{connections: 1, rate: 980, mean: 1, contender: .97, busy: .3, change: busiest(.97)},
			{connections: 8, rate: 1400, mean: 6, contender: 1.3, busy: .4, change: busiest(.7)}}},
		{"one thread, one connection alone", []made{{connections: 1, rate: 980, mean: 1, contender: .97, busy: .3, change: busiest(.97)}}},
		{"one thread at a rate that is not kept", []made{made{rate: 500, mean: 10, contender: .98, busy: .3}.with(func(s *step) {
			open(s)
			busiest(.98)(s)
			s.Load.Scheduled, s.Load.Dropped = 8000, 3000
		})}},
		{"one thread at a rate that is kept", []made{made{rate: 500, mean: 10, contender: .98, busy: .3}.with(func(s *step) {
			open(s)
			busiest(.98)(s)
		})}},
		{"two threads", []made{{connections: 8, rate: 1400, mean: 6, contender: 1.2, busy: .4, change: busiest(.6)},
			{connections: 64, rate: 1400, mean: 46, contender: 1.2, busy: .4, change: busiest(.62)}}},
		{"two threads at the quota", []made{thread, {connections: 64, rate: 1400, mean: 46, contender: 1.48, busy: .5, throttled: 80, change: busiest(.97)}}},
		{"a thread that waits", []made{idle.with(busiest(.2)), slow.with(busiest(.2))}},
		{"rate", []made{made{rate: 500, mean: 10, contender: .3, busy: .2}.with(open)}},
		{"rate without counters", []made{made{rate: 500, mean: 10}.with(func(s *step) { open(s); s.After = nil })}},
		{"no counters", []made{made{rate: 200, mean: 10}.with(func(s *step) { s.After = nil })}},
		{"no readings of the machine", []made{idle.with(func(s *step) { s.HostAfter = nil })}},
		{"nothing succeeded with one connection", []made{{connections: 1, change: late}}},
		{"nothing succeeded with fewer connections", []made{{connections: 1, change: late}, idle}},
		{"nothing succeeded with more connections", []made{idle, {connections: 64, mean: 80, change: late}}},
		{"nothing succeeded with any", []made{{connections: 1, mean: 20, change: late}, {connections: 8, mean: 80, change: late}}},
		{"nothing succeeded at a rate", []made{made{}.with(func(s *step) { open(s); late(s); s.Load.Scheduled = 9 })}},
		{"aborted", []made{idle.with(aborted)}},
		{"without requests", []made{{contender: 1.5}}},
		{"without length", []made{idle.with(func(s *step) { s.Load.Elapsed, s.Load.Wall = 0, 0 })}},
	} {
		fmt.Fprintf(&text, "%s\n", test.name)
		for _, v := range verdict.Trial(4, trial(test.steps...)) {
			fmt.Fprintf(&text, "  %s\n", v)
		}
	}
	testenv.Golden(t, "testdata/trials.txt", text.String())
}

// A thread has room where its contender may use more than one CPU, and what is to be set depends on
// the language.
func TestTrial_Threads(t *testing.T) {
	for name, c := range map[string]struct {
		cpus     int
		set      string // CPUs of the contender
		quota    float64
		language string
		want     string
	}{
		"a quota of 1 CPU":       {4, "", 1, "Rust", "quota: "},
		"a CPU set of 1 CPU":     {4, "3", 0, "Rust", "unclear: "},
		"a machine with 1 CPU":   {1, "", 0, "Rust", "unclear: "},
		"no quota":               {4, "", 0, "Rust", "used 0.00 of the 4 CPUs that it may use: set TOKIO_WORKER_THREADS"},
		"a CPU set and a quota":  {4, "0-1", 3, "Python", "used 0.00 of the 2 CPUs that it may use: set the number of workers (--workers"},
		"another language, Node": {4, "", 1.5, "JavaScript", "set cluster"},
		"another language, Ruby": {4, "", 1.5, " ruby", "set WEB_CONCURRENCY"},
		"another language, Java": {4, "", 1.5, "Java", "-XX:ActiveProcessorCount"},
		"an unknown language":    {4, "", 1.5, "C", "set its number of workers or threads; see docs/runtimes.md"},
	} {
		r := trial(made{connections: 64, rate: 1000, mean: 60, contender: .98, busy: .3, change: busiest(.98)})
		r.Instance.Limits.CPUs, r.Service.Language = c.quota, c.language
		if c.set != "" {
			r.Instance.CPUSet = testenv.Must(cpuset.Parse(c.set))(t)
		}
		got := verdict.Trial(c.cpus, r)[0].String()
		testenv.Check(t, strings.Contains(got, c.want), "%s: %q, want %q", name, got, c.want)
	}
}

// What differs from four CPUs of this machine, and from limits that are enforced.
func TestTrial_Machine(t *testing.T) {
	idle := made{connections: 8, rate: 800, mean: 10, contender: .2, busy: .1}
	slow := made{connections: 64, rate: 801, mean: 80, contender: .2, busy: .1}
	for _, test := range []struct {
		name   string
		cpus   int
		change func(*bench.TrialResult)
		want   string
	}{
		{"a client with fewer CPUs", 1, func(r *bench.TrialResult) { r.Steps[0].Load.ClientCPUs = .4 },
			"machine: 4 CPUs were 100% busy: contender 0.26, client 0.29, other 3.45"},
		{"no time between the readings", 2, func(r *bench.TrialResult) {
			r.Steps[0].HostAfter.Host.At = r.Steps[0].HostBefore.Host.At
		}, "machine: 2 CPUs were 100% busy: contender 0.26, client 0.29, other 1.45"},
		{"a rate without a quota", 4, func(r *bench.TrialResult) {
			r.Instance.Limits, r.Steps[0] = bench.Limits{}, made{rate: 10, contender: .2}.with(open).step(0)
		}, "rate: 100 of 100 scheduled requests succeeded"},
		{"memory without a limit", 4, func(r *bench.TrialResult) {
			r.Instance.Limits.Memory, r.Steps[0] = 0, made{rate: 10, contender: .2}.with(func(s *step) {
				*s.Before.Memory = bench.Memory{LimitHits: number(1), Refaults: number(1)}
				*s.After.Memory = bench.Memory{LimitHits: number(9), Refaults: number(999), Used: 1 << 40, Peak: 1 << 40}
			}).step(0)
		}, "unclear: no limit reached: contender used 0.20 of 1.5 CPUs, client 0.00; machine 0% busy"},
		{"another machine", 4, func(r *bench.TrialResult) { r.Instance.PID = 0 },
			"unclear: no limit reached: contender used 0.26 of 1.5 CPUs, client 0.29"},
		{"no instance", 4, func(r *bench.TrialResult) { r.Instance = nil },
			"unclear: no limit reached: contender used 0.26 CPUs, client 0.29"},
		{"limits that are not enforced", 4, func(r *bench.TrialResult) {
			r.Instance.LimitsEnforced, r.Steps[0] = false, made{rate: 8000, contender: 1.47, client: .5, busy: .6}.step(0)
		}, "unclear: no limit reached: contender used 1.47 CPUs, client 0.50; machine 60% busy"},
		{"a lock without a quota", 4, func(r *bench.TrialResult) {
			r.Instance.LimitsEnforced, r.Steps = false, []bench.StepResult{slow.step(1), idle.step(0)}
		}, "contender: 64 connections gave 1.00× the throughput of 8 at 8.0× the latency, using 0.20 of 4 CPUs"},
		{"a machine without known CPUs", 0, func(r *bench.TrialResult) {
			r.Steps[0] = made{rate: 10, client: .95}.with(func(s *step) { s.HostAfter = nil }).step(0)
		}, "client: client used 0.95 of 1 CPU"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := trial(made{rate: 2000, mean: 8, contender: .26, client: .29, busy: 1, storeEmbedded: .1})
			test.change(&r)
			testenv.Equal(t, verdict.Trial(test.cpus, r)[0].String(), test.want)
		})
	}
}

// The most frequent bottleneck of the rounds wins, the later one of two; the text is of the last
// round that has it. A drift does not change a bottleneck, and is reported.
func TestRounds(t *testing.T) {
	quota := made{rate: 8000, mean: 8, contender: 1.47, busy: .6, throttled: 61}
	store := made{rate: 900, mean: 80, contender: .2, client: .1, store: 3.65, busy: .99}
	drifting := func(s *step) { s.Drift = &bench.Drift{Throughput: &bench.Trend{Change: .12, P: .001}} }
	const ofQuota = "98% of 1.5 CPUs, 61 of 100 periods throttled for 610 ms"
	for _, test := range []struct {
		name      string
		steps     []made // one a round
		words     string
		bound     verdict.Bound
		agree, of int
	}{
		{"most", []made{quota, store, quota.with(aborted), quota}, ofQuota, verdict.Quota, 2, 3},
		{"most, and another one last", []made{quota, quota, store}, ofQuota, verdict.Quota, 2, 3},
		{"one each", []made{quota, store}, "91% of 4 CPUs", verdict.Bound("db"), 1, 2},
		{"a drift", []made{quota.with(drifting)}, ofQuota + "; still warming up: throughput rose by 13% over the step",
			verdict.Quota, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rounds []bench.TrialResult
			for _, m := range test.steps {
				rounds = append(rounds, trial(m))
			}
			s := verdict.Rounds(4, rounds)[0]
			testenv.Check(t, s.Words() == test.words && s.Bound == test.bound && s.Agree == test.agree && s.Rounds == test.of, "%+v", s)
		})
	}
	all := verdict.Rounds(4, []bench.TrialResult{trial(quota.with(aborted))})
	testenv.Check(t, len(all) == 0, "of an aborted round: %v", all)
}
