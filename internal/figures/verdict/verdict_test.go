package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
)

const length = 10 * time.Second

// made describes a step of 10 s: the CPUs that contender and client used, and the busy share of all
// CPUs.
type made struct {
	connections   int
	rate, mean    float64 // successes per second; mean latency in ms
	contender     float64
	client        float64
	busy          float64
	throttled     int64 // of 100 periods
	store         float64
	change        func(*bench.StepResult)
	storeUnknown  bool
	storeEmbedded float64 // calls at a time
}

func (m made) step(i int) bench.StepResult {
	at := time.Unix(1000, 0)
	span := func(cpus float64) time.Duration { return time.Duration(cpus * float64(length)) }
	usage := func(cpu time.Duration, throttled int64) *bench.Usage {
		return &bench.Usage{CPU: cpu, Throttling: &bench.Throttling{Periods: 100 * min(int64(cpu), 1), Throttled: throttled, Time: time.Duration(throttled) * 10 * time.Millisecond},
			Memory: &bench.Memory{Used: 100 << 20}}
	}
	host := func(at time.Time, n float64) *bench.HostReading {
		b := &bench.HostReading{Host: &bench.HostUsage{At: at, Busy: span(n * 4 * m.busy), Idle: span(n * 4 * (1 - m.busy))}}
		switch {
		case m.storeEmbedded > 0:
			b.Store = &bench.StoreUsage{At: at, Source: bench.StoreEmbeddedSource, Busy: span(n * m.storeEmbedded)}
		case !m.storeUnknown:
			b.Store = &bench.StoreUsage{At: at, Source: "/proc", CPU: span(n * m.store)}
		}
		return b
	}
	s := bench.StepResult{
		Index: i, Step: bench.Step{Connections: m.connections, Duration: length},
		Load: bench.Load{
			Elapsed: length, Wall: length, Succeeded: int64(m.rate * 10), Scheduled: int64(m.rate * 10), ClientCPU: span(m.client),
			InFlight: m.rate * m.mean / 1000, Latency: bench.Latencies{Count: int64(m.rate * 10), Mean: time.Duration(m.mean * 1e6)},
		},
		Before: usage(0, 0), After: usage(span(m.contender), m.throttled),
		HostBefore: host(at, 0), HostAfter: host(at.Add(length), 1),
	}
	if m.change != nil {
		m.change(&s)
	}
	return s
}

func trial(steps ...made) bench.TrialResult {
	r := bench.TrialResult{Instance: &bench.InstanceInfo{PID: 1, LimitsEnforced: true, Limits: bench.Limits{CPUs: 1.5, Memory: 512 << 20}}}
	for i, m := range steps {
		r.Steps = append(r.Steps, m.step(i))
	}
	return r
}

func hits(n int64) *int64 { return &n }

// Each case is a trial and the rule that decides its last step. The machine has four CPUs, the
// quota of the contender is 1.5.
func TestRules(t *testing.T) {
	for name, test := range map[string]struct {
		trial bench.TrialResult
		at    int // the step; -1: the last
		want  string
	}{
		"quota": {trial(made{connections: 64, rate: 8000, mean: 8, contender: 1.47, client: .5, busy: .6, throttled: 61}), -1,
			"quota: 98% of 1.5 CPUs, 61 of 100 periods throttled for 610 ms"},
		"quota in bursts": {trial(made{connections: 64, rate: 8000, mean: 8, contender: 1.1, client: .5, busy: .6, throttled: 55}), -1, "quota: 73% of 1.5 CPUs, 55 of 100"},
		"killed":          {trial(made{connections: 8, rate: 10, mean: 8, contender: 1.5, throttled: 99, change: func(s *bench.StepResult) { s.After.Memory.OOMKills = 2 }}), -1, "memory: out of memory: 2 processes killed at the limit of 512 MiB"},
		"memory": {trial(made{connections: 8, rate: 10, mean: 800, contender: .4, busy: .2, change: func(s *bench.StepResult) {
			s.Before.Memory.LimitHits, s.After.Memory.LimitHits, s.After.Memory.Used = hits(3), hits(1203), 500<<20
			s.Before.Memory.MajorFaults, s.After.Memory.MajorFaults = hits(0), hits(77)
		}}), -1, "memory: 500 MiB of 512 MiB in use, limit hit 1,200 times, 77 pages reread from disk"},
		"page cache at the limit": {trial(made{connections: 1, rate: 100, mean: 10, contender: .1, busy: .1, change: func(s *bench.StepResult) {
			s.Before.Memory.LimitHits, s.After.Memory.LimitHits = hits(3), hits(1203)
		}}), -1, "connections: one request at a time"},
		"page cache thrashing": {trial(made{connections: 8, rate: 3600, mean: 2, contender: .63, client: .07, busy: .94, change: func(s *bench.StepResult) {
			s.Before.Memory.Refaults, s.After.Memory.Refaults, s.After.Memory.Peak, s.After.Memory.Used = hits(100), hits(471_460), 512<<20, 96<<20
		}}), -1, "memory: page cache thrashing at the limit of 512 MiB: 471,360 pages reread, 13.1 per response; 96 MiB in use without page cache"},
		"few pages reread": {trial(made{connections: 1, rate: 3600, mean: 2, contender: .63, busy: .4, change: func(s *bench.StepResult) {
			s.Before.Memory.Refaults, s.After.Memory.Refaults, s.After.Memory.Peak = hits(100), hits(400), 512<<20
		}}), -1, "connections: one request at a time"},
		"pages reread below the limit": {trial(made{connections: 1, rate: 3600, mean: 2, contender: .63, busy: .4, change: func(s *bench.StepResult) {
			s.Before.Memory.Refaults, s.After.Memory.Refaults, s.After.Memory.Peak = hits(100), hits(471_460), 300<<20
		}}), -1, "connections: one request at a time"},
		"client's quota": {trial(made{connections: 16, rate: 25000, mean: .3, contender: .44, client: .4, busy: .61, change: func(s *bench.StepResult) { s.Load.ClientCPUs, s.Load.Saturation = .4, .65 }}), -1,
			"client: client used 0.40 of its 0.4 CPUs"},
		"errors":          {trial(made{connections: 8, rate: 10, mean: 8, change: func(s *bench.StepResult) { s.Load.Failed = map[bench.ErrorKind]int64{"5xx": 300} }}), -1, "errors: 75% of responses were errors"},
		"client's thread": {trial(made{connections: 8, rate: 90000, mean: .1, contender: 1, client: 1, busy: .5, change: func(s *bench.StepResult) { s.Load.Saturation = .98 }}), -1, "client: a client thread was busy 98% of the step"},
		"client":          {trial(made{connections: 8, rate: 90000, mean: .1, contender: .3, client: 3.7, busy: 1}), -1, "client: client used 3.70 of 4 CPUs"},
		"store":           {trial(made{connections: 64, rate: 900, mean: 80, contender: .2, client: .1, store: 3.65, busy: .99}), -1, "store: used 3.65 of 4 CPUs"},
		"store on its own CPU": {trial(made{connections: 64, rate: 900, mean: 80, contender: .2, client: .1, store: .97, busy: .4, change: func(s *bench.StepResult) { s.HostAfter.Store.CPUs = 1 }}), -1,
			"store: used 0.97 of its 1 CPU"},
		"store with others": {trial(made{connections: 64, rate: 900, mean: 80, contender: .9, client: .4, store: 2.6, busy: .98}), -1,
			"store: used 2.60 of 4 CPUs, which were 98% busy"},
		"machine": {trial(made{connections: 64, rate: 900, mean: 80, contender: 1.3, client: 1.2, store: 1.4, busy: .97}), -1,
			"machine: 4 CPUs were 97% busy: contender 1.30, client 1.20, store 1.40"},
		"others on the machine": {trial(made{connections: 16, rate: 200, mean: 80, contender: .03, client: .02, busy: 1, storeEmbedded: .1}), -1,
			"machine: 4 CPUs were 100% busy: contender 0.03, client 0.02, other 3.95"},
		"a client with fewer CPUs than the machine": {trial(made{connections: 16, rate: 2000, mean: 8, contender: .26, client: .29, busy: 1, storeEmbedded: .1, change: func(s *bench.StepResult) {
			s.Load.ClientCPUs = .4
		}}), -1, "machine: 4 CPUs were 100% busy: contender 0.26, client 0.29, other 3.45"},
		"stolen": {trial(made{connections: 64, rate: 900, mean: 80, contender: .3, client: .2, busy: .2, change: func(s *bench.StepResult) {
			s.HostAfter.Host.Steal = s.HostAfter.Host.Idle
			s.HostAfter.Host.Idle = 0
		}}), -1, "machine: other VMs took 80% of its CPU time"},
		"store holds": {trial(made{connections: 64, rate: 640, mean: 100, contender: .2, client: .2, busy: .2, storeEmbedded: 58}), -1, "store: 58.0 of 64.0 requests waited for it"},
		"too few":     {trial(made{connections: 2, rate: 200, mean: 10, contender: .1, busy: .1}, made{connections: 64, rate: 5000, mean: 12, contender: .9, busy: .3}), 0, "connections: 64 connections gave 25.00× the throughput of 2"},
		"too few on a busy machine": {trial(made{connections: 2, rate: 200, mean: 10, contender: .02, client: .04, busy: 1}, made{connections: 16, rate: 1500, mean: 11, contender: .1, busy: 1}), 0,
			"connections: 16 connections gave 7.50× the throughput of 2"},
		"some more on a busy machine": {trial(made{connections: 2, rate: 200, mean: 10, contender: .02, client: .04, busy: 1}, made{connections: 16, rate: 300, mean: 50, contender: .1, busy: 1}), 0,
			"machine: 4 CPUs were 100% busy"},
		"still too few":          {trial(made{connections: 2, rate: 200, mean: 10, contender: .1, busy: .1}, made{connections: 4, rate: 395, mean: 10.1, contender: .2, busy: .1}), -1, "connections: latency still 1.01× that of 2"},
		"its own lock":           {trial(made{connections: 8, rate: 800, mean: 10, contender: .2, busy: .1}, made{connections: 64, rate: 801, mean: 80, contender: .2, busy: .1}), -1, "contender: 64 connections gave 1.00× the throughput of 8 at 8.0× the latency, using 0.20 of 1.5 CPUs"},
		"lock or store":          {trial(made{connections: 8, rate: 800, mean: 10, contender: .2, busy: .1, storeUnknown: true}, made{connections: 64, rate: 801, mean: 80, contender: .2, busy: .1, storeUnknown: true}), -1, "; it may wait for the store, which is not measured"},
		"another request":        {trial(made{connections: 8, rate: 800, mean: 10, contender: .2, busy: .1}, made{connections: 64, rate: 801, mean: 80, contender: .2, busy: .1, change: func(s *bench.StepResult) { s.Step.Request = "other" }}), -1, "unclear: no limit reached: contender used 0.20 of 1.5 CPUs, client 0.00"},
		"warm-up does not count": {trial(made{connections: 1, rate: 9000, mean: .1, contender: .2, busy: .1, change: func(s *bench.StepResult) { s.Step.WarmUp = true }}, made{connections: 2, rate: 200, mean: 10, contender: .2, busy: .1}), -1, "unclear"},
		"rate": {trial(made{rate: 500, mean: 10, contender: .3, busy: .2, change: func(s *bench.StepResult) { s.Step.Rate = 500 }}), -1,
			"rate: 5,000 of 5,000 scheduled requests succeeded, with 20% of 1.5 CPUs"},
		"rate not kept": {trial(made{rate: 500, mean: 10, contender: .3, busy: .2, change: func(s *bench.StepResult) { s.Step.Rate = 500; s.Load.Dropped = 100 }}), -1, "unclear"},
		"no counters":   {trial(made{connections: 2, rate: 200, mean: 10, change: func(s *bench.StepResult) { s.After = nil }}), -1, "unclear: no counters of the contender"},
	} {
		t.Run(name, func(t *testing.T) {
			at := test.at
			if at < 0 {
				at = len(test.trial.Steps) - 1
			}
			cpus := 4
			if name == "a client with fewer CPUs than the machine" {
				cpus = 1
			}
			if got := verdict.Trial(cpus, test.trial)[at].String(); !strings.Contains(got, test.want) {
				t.Errorf("%s: %q, want %q", name, got, test.want)
			}
		})
	}
}

// Without enforced limits the bottleneck is unclear; an aborted step has none.
func TestWithoutLimits(t *testing.T) {
	l := trial(made{connections: 64, rate: 8000, mean: 8, contender: 1.47, client: .5, busy: .6, throttled: 0})
	l.Instance.LimitsEnforced = false
	if v := verdict.Trial(4, l)[0]; v.Bound != verdict.Unclear {
		t.Errorf("%s", v)
	}
	l.Steps[0].Aborted = "interrupted"
	if v := verdict.Trial(4, l)[0]; v != (verdict.Verdict{}) {
		t.Errorf("%s", v)
	}
	if all := verdict.Trial(0, bench.TrialResult{Steps: make([]bench.StepResult, 3)}); len(all) != 3 || all[0] != (verdict.Verdict{}) {
		t.Errorf("%v", all)
	}
}

// The most frequent bottleneck of the rounds wins; the text is of a round that has it.
func TestRoundsVote(t *testing.T) {
	quota := trial(made{connections: 64, rate: 8000, mean: 8, contender: 1.47, busy: .6, throttled: 61})
	other := trial(made{connections: 64, rate: 900, mean: 80, contender: .2, client: .1, store: 3.65, busy: .99})
	cut := trial(made{connections: 64, rate: 8000, mean: 8, contender: 1.47, change: func(s *bench.StepResult) { s.Aborted = "interrupted" }})
	s := verdict.Rounds(4, []bench.TrialResult{quota, other, cut, quota})[0]
	if s.Bound != verdict.Quota || s.Rounds != 3 || s.Agree != 2 || !strings.HasPrefix(s.Text, "98%") {
		t.Errorf("%+v", s)
	}
}

// Results of other tools may have no mean latency; then no rule uses it.
func TestWithoutMeans(t *testing.T) {
	for _, v := range verdict.Trial(4, trial(
		made{connections: 2, rate: 100, contender: .5, busy: .2}, made{connections: 4, rate: 101, contender: .5, busy: .2}, made{connections: 8, rate: 90, contender: .5, busy: .2})) {
		if strings.Contains(v.Text, "latency") {
			t.Errorf("%s", v)
		}
	}
}

// A drift does not change the bottleneck of a step; the verdict reports it.
func TestVerdictReportsADrift(t *testing.T) {
	l := trial(made{connections: 64, rate: 1000, mean: 60, contender: 1.5, client: .1, busy: .5, throttled: 90})
	before := verdict.Trial(4, l)[0]
	l.Steps[0].Drift = &bench.Drift{Throughput: &bench.Trend{Change: .12, P: .001}}
	after := verdict.Trial(4, l)[0]
	if want := before.String() + "; still warming up: throughput rose by 13% over the step"; after.String() != want || after.Bound != verdict.Quota || before.Drift != nil {
		t.Errorf("%q, want %q", after, want)
	}
	if s := verdict.Rounds(4, []bench.TrialResult{l})[0]; s.Words() != after.Words() {
		t.Errorf("%q, want %q", s.Words(), after.Words())
	}
}
