package capacity

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
)

func suspected(text string) bench.Warnings {
	return bench.Warnings{{Kind: bench.WarnClientMaybeBound, Text: text}}
}

func TestAssess(t *testing.T) {
	conditions, err := profile.ParseConditions("p99<50ms,errors<0.1%")
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	for _, test := range []struct {
		name     string
		load     bench.Load
		warnings bench.Warnings
		want     Verdict
		why      []string
	}{
		{name: "sustained", want: Verdict{Sustained: true},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Succeeded: 5000, Late: 20, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 9 * ms}}},
		{name: "sustained, with a warning", want: Verdict{Sustained: true}, warnings: suspected("the client may be the bottleneck"),
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Succeeded: 5000, Saturation: .99, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 9 * ms}}},
		{name: "slow", why: []string{"p99 is 71.2ms, not <50ms"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 71200 * time.Microsecond}}},
		{name: "dropped count as errors", why: []string{"errors is 1%, not <0.1%"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 4950, Dropped: 50, WaitedForConnection: 50, Succeeded: 4950, Latency: bench.Latencies{Count: 4950, P50: ms, P99: 9 * ms}}},
		{name: "waits for connections", why: []string{"100 of 5000 requests waited: all 256 connections in use"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Late: 100, WaitedForConnection: 100, MaxOpenConnections: 256, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 9 * ms}}},
		{name: "a queue grows", why: []string{"backlog of 400 requests at the end (400ms of work at this throughput): a queue grew"},
			load: bench.Load{Elapsed: 5000 * ms, Backlog: 400, Scheduled: 5000, Sent: 5000, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: 20 * ms, P99: 49 * ms}}},
		{name: "a queue grows slowly under a long delay", want: Verdict{}, why: []string{"p99", "median latency rose by about 488ms from start to end: a queue grew"},
			load: bench.Load{Elapsed: 5000 * ms, Backlog: 760, Scheduled: 4385, Sent: 4385, Succeeded: 4385, Latency: bench.Latencies{Count: 4385, P50: 723 * ms, P99: 946 * ms},
				Windows: windows(500*ms, 595*ms, 690*ms, 790*ms, 880*ms)}},
		{name: "a queue grows by 2% of the scheduled requests", why: []string{"p99", "median latency rose by about 95ms from start to end: a queue grew"},
			load: bench.Load{Elapsed: 5000 * ms, Backlog: 480, Scheduled: 4080, Sent: 4080, Succeeded: 4000, Latency: bench.Latencies{Count: 4000, P50: 550 * ms, P99: 600 * ms},
				Windows: windows(512*ms, 529*ms, 548*ms, 567*ms, 585*ms)}},
		{name: "a long delay that varies, no queue", why: []string{"p99"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 4000, Sent: 4000, Succeeded: 4000, Latency: bench.Latencies{Count: 4000, P50: 2000 * ms, P99: 2100 * ms},
				Windows: windows(1980*ms, 2010*ms, 1990*ms, 2020*ms, 2030*ms)}},
		{name: "a GC pause, no queue", why: []string{"p99"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 600 * ms},
				Windows: windows(ms, ms, ms, ms, 600*ms)}},
		{name: "a queue that shrank", why: []string{"p99"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 600 * ms},
				Windows: windows(600*ms, 400*ms, ms, ms, ms)}},
		{name: "slow responses, no queue", why: []string{"p99 is 410ms, not <50ms"},
			load: bench.Load{Elapsed: 5000 * ms, Backlog: 400, Scheduled: 5000, Sent: 5000, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: 400 * ms, P99: 410 * ms}}},
		{name: "the client is late", want: Verdict{Client: true}, why: []string{"p99", "client-bound: 900 of 5000 requests sent late although connections were free; met when counted from sending"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Late: 900, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 60 * ms},
				Sending: bench.Latencies{Count: 5000, P50: ms, P99: 20 * ms}}},
		{name: "the client is late, but the contender is too slow", why: []string{"p99"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Late: 900, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 80 * ms},
				Sending: bench.Latencies{Count: 5000, P50: ms, P99: 60 * ms}}},
		{name: "the client is late, and the conditions are met", want: Verdict{Sustained: true},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Late: 900, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 40 * ms}}},
		{name: "the client is at its limit", want: Verdict{Client: true}, warnings: suspected("the client may be the bottleneck: locbench used 1.9"),
			why:  []string{"p99", "client-bound: a client thread was busy 99% of the step", "the client may be the bottleneck: locbench used 1.9"},
			load: bench.Load{Elapsed: 5000 * ms, Scheduled: 5000, Sent: 5000, Saturation: .99, Succeeded: 5000, Latency: bench.Latencies{Count: 5000, P50: ms, P99: 60 * ms}}},
		{name: "nothing", why: []string{"p99 is unknown", "errors is unknown", "no request was sent"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, why := Assess(conditions, bench.StepResult{Step: bench.Step{Duration: 5 * time.Second}, Load: test.load, Warnings: test.warnings}, 1, 0)
			if got != test.want || len(why) != len(test.why) {
				t.Errorf("%s: %+v %q, want %+v %q", test.name, got, why, test.want, test.why)
				return
			}
			for i, w := range test.why {
				if !strings.HasPrefix(why[i], w) {
					t.Errorf("%s: %q, want %q", test.name, why[i], w)
				}
			}
		})
	}
}

// windows returns windows with these median latencies, and one of the drain after them.
func windows(p50 ...time.Duration) (all []bench.Window) {
	for i, d := range p50 {
		all = append(all, bench.Window{Start: time.Duration(i) * time.Second, Length: time.Second, Succeeded: 800, P50: d})
	}
	return append(all, bench.Window{Start: time.Duration(len(p50)) * time.Second, Length: time.Second, Succeeded: 800, P50: 10 * time.Second, Drain: true})
}

// On a machine of two CPUs that other processes use, a rate that was not sustained is not the
// contender's limit, unless it has used its quota.
func TestOthersOnTheMachine(t *testing.T) {
	s := time.Second
	conditions, err := profile.ParseConditions("p99<50ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name                          string
		busy, idle, steal, cpu, limit time.Duration
		want                          string
	}{
		{"alone", 4 * s, 6 * s, 0, 2 * s, 1, ""},
		{"crowded", 9900 * time.Millisecond, 100 * time.Millisecond, 0, s, 1, "other processes used 69% of the CPU time"},
		{"stolen", 5 * s, 0, 5 * s, s, 1, "other processes used 70% of the CPU time"},
		{"crowded, no limit", 10 * s, 0, 0, 4900 * time.Millisecond, 0, "other processes used 31% of the CPU time"},
		{"crowded, but at its quota", 10 * s, 0, 0, 4900 * time.Millisecond, 1, ""},
		{"full of contender, client and store", 9 * s, s, 0, 6 * s, 2, ""},
		{"a reading is missing", 0, 0, 0, s, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			res := bench.StepResult{
				Step: bench.Step{Duration: 5 * s}, Before: &bench.Usage{}, After: &bench.Usage{CPU: test.cpu},
				Load:       bench.Load{Elapsed: 5 * s, Wall: 5 * s, ClientCPU: s, Scheduled: 100, Sent: 100, Succeeded: 100, Latency: bench.Latencies{Count: 100, P99: s}},
				HostBefore: &bench.HostReading{Host: &bench.HostUsage{}, Store: &bench.StoreUsage{Source: "/proc"}},
				HostAfter: &bench.HostReading{
					Host:  &bench.HostUsage{Busy: test.busy, Idle: test.idle, Steal: test.steal},
					Store: &bench.StoreUsage{At: time.Time{}.Add(5 * s), Source: "/proc", CPU: s},
				},
			}
			v, why := Assess(conditions, res, float64(test.limit), 0)
			got := ""
			if len(why) > 1 {
				got = why[1]
			}
			if v.Sustained || v.Client != (test.want != "") || got != test.want {
				t.Errorf("%s: %+v %q, want %q", test.name, v, why, test.want)
			}
		})
	}
}

func TestAnUnexpectedBodyFailsAProbe(t *testing.T) {
	load := bench.Load{Sent: 5000, Scheduled: 5000, Succeeded: 4999, Checked: 400, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 1}}
	res := bench.StepResult{Step: bench.Step{Duration: 5 * time.Second}, Load: load}
	v, why := Assess(nil, res, 1, 0)
	if want := "1 of 400 compared bodies was unexpected (0.25%)"; v.Sustained || len(why) != 1 || why[0] != want {
		t.Errorf("sustained %t, %q, want %q", v.Sustained, why, want)
	}
	if v, why := Assess(nil, res, 1, .01); !v.Sustained {
		t.Errorf("max_unexpected 1%%: %q", why)
	}
}
