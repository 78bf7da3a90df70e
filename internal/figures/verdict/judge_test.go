package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// In one second of a step with 10 connections, an error in any of the three measurements is found.
func TestLittlesLawIsFlagged(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Loop)
		want   string
	}{
		"none":                    {func(*Loop) {}, ""},
		"more time of requests":   {func(r *Loop) { r.Busy = r.Busy * 112 / 100 }, "unstable load: throughput × mean latency is 11.20, but 10.00"},
		"less time of requests":   {func(r *Loop) { r.Busy = r.Busy * 88 / 100 }, "unstable load: throughput × mean latency is 8.80, but 10.00"},
		"fewer counted in flight": {func(r *Loop) { r.Counted = r.Counted * 92 / 100 }, "unstable machine clock: 10.00 requests in flight by time, 9.20 by count"},
		"more counted in flight":  {func(r *Loop) { r.Counted = r.Counted * 108 / 100 }, "client-bound: 10.0 of 10.8 connections busy"},
		"the client was slow":     {func(r *Loop) { r.Busy, r.Shared = r.Busy*8/10, r.Shared*8/10 }, "client-bound: 8.0 of 10.0 connections busy; the client takes 10ms"},
		"reconnects": {func(r *Loop) {
			r.Busy, r.Shared, r.Counted, r.Rested = r.Busy/2, r.Shared/2, r.Counted/2, 5*time.Second
		}, ""},
		// a client that takes 1 ms more can hide no faster contender from users who rest for 2 s
		"users that rest": {func(r *Loop) {
			r.Busy, r.Shared, r.Counted, r.Rested = 100*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond, 9700*time.Millisecond
		}, ""},
		"users that rest, and a slow client": {func(r *Loop) {
			r.Busy, r.Shared, r.Counted, r.Rested = time.Second, time.Second, time.Second, 8*time.Second
		}, "client-bound: 1.0 of 2.0 connections busy; the client takes 5ms"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := Loop{Connections: 10, Responses: 200}
			rec.Busy, rec.Shared, rec.Counted = 10*time.Second, 10*time.Second, 10*time.Second
			test.change(&rec)
			got := rec.little(bench.Load{Elapsed: time.Second, Succeeded: 200}).Join("|")
			if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// In an open loop the two counts of requests in flight may differ by the handling of a batch.
func TestLittlesLawOfAnOpenLoop(t *testing.T) {
	rec := Loop{Open: true, Responses: 1000, Busy: 8 * time.Second, Shared: 8 * time.Second, Counted: 10 * time.Second}
	l := bench.Load{Elapsed: time.Second, Succeeded: 1000}
	if got := rec.little(l).Join("|"); !strings.HasPrefix(got, "the client saw responses late: 8.00 requests in flight by time, 10.00 by count") {
		t.Errorf("%q", got)
	}
	rec.Counted = 8300 * time.Millisecond
	if got := rec.little(l); got != nil {
		t.Errorf("%q", got)
	}
}

func TestSingularAndPlural(t *testing.T) {
	for n, want := range map[int64]string{
		1: "interrupted: 1 request in flight not counted|1 reconnect; latency includes them|1 request failed: client out of ports, files or memory: x",
		2: "interrupted: 2 requests in flight not counted|2 reconnects; latency includes them|2 requests failed: client out of ports, files or memory: x",
	} {
		rec := Loop{Connections: 1, Reopened: n}
		l := bench.Load{Elapsed: time.Second, Succeeded: 1, Cut: n, Failed: map[bench.ErrorKind]int64{bench.ErrClient: n}, Examples: map[bench.ErrorKind]string{bench.ErrClient: "x"}}
		if got := rec.Warnings(l).Join("|"); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBottleneck(t *testing.T) {
	for _, test := range []struct {
		name              string
		client, contender time.Duration
		limit             float64
		want              bool
	}{
		{"contender at its limit", 1400 * time.Millisecond, 500 * time.Millisecond, .5, false},
		{"client took the machine", 1300 * time.Millisecond, 600 * time.Millisecond, 1.5, true},
		{"both together had the machine", 900 * time.Millisecond, 1000 * time.Millisecond, 1.5, true},
		{"neither was busy", 200 * time.Millisecond, 200 * time.Millisecond, 1.5, false},
		{"no limit, contender took it all", 100 * time.Millisecond, 1850 * time.Millisecond, 0, false},
		{"limit beyond the machine", 100 * time.Millisecond, 1850 * time.Millisecond, 8, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, l := range []bench.Load{
				{Elapsed: time.Second, ClientCPU: test.client},
				{Elapsed: time.Minute, Wall: time.Second, ClientCPU: test.client},
				{Elapsed: time.Millisecond, Wall: time.Second, ClientCPU: test.client},
			} {
				if got := bottleneck(l, test.contender.Seconds(), test.limit, 2); got.Has(bench.WarnClientMaybeBound) != test.want {
					t.Errorf("%s: %q", test.name, got)
				}
			}
		})
	}
	if got := bottleneck(bench.Load{}, 0, 1, 2); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}

func TestPunctuality(t *testing.T) {
	for _, test := range []struct {
		name string
		load bench.Load
		want []string
	}{
		{"on time", bench.Load{Scheduled: 1000, Sent: 1000, Late: 9}, nil},
		{"late by itself", bench.Load{Scheduled: 1000, Sent: 1000, Late: 30, WaitedForConnection: 10, MaxOpenConnections: 4}, []string{"10 requests sent late", "client-bound: 20 of 1000"}},
		{"dropped", bench.Load{Scheduled: 1000, Sent: 900, Dropped: 100, Late: 300, WaitedForConnection: 400, MaxOpenConnections: 4}, []string{"100 of 1000 scheduled requests dropped", "300 requests sent late"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Loop{Open: true}.punctuality(test.load)
			if len(got) != len(test.want) {
				t.Errorf("%s: %q", test.name, got)
				return
			}
			for i, w := range test.want {
				if !strings.HasPrefix(got[i].Text, w) {
					t.Errorf("%s: %q, want %q", test.name, got[i].Text, w)
				}
			}
		})
	}
}

func TestMachineStalls(t *testing.T) {
	step := func(h *bench.Hiccups) bench.StepResult {
		return bench.StepResult{Load: bench.Load{Wall: 10 * time.Second}, Hiccups: h}
	}
	for _, c := range []struct {
		name string
		h    *bench.Hiccups
		want string // "": nothing
	}{
		{"not known", nil, ""},
		{"none", &bench.Hiccups{CPUs: 2, Realtime: true}, ""},
		{"a little", &bench.Hiccups{CPUs: 2, Count: 9, Sum: 30 * time.Millisecond, Max: 5 * time.Millisecond, Realtime: true}, ""},
		{"long", &bench.Hiccups{CPUs: 2, Count: 1, Sum: 25 * time.Millisecond, Max: 25 * time.Millisecond, Realtime: true}, "longest 25"},
		{"often", &bench.Hiccups{CPUs: 2, Count: 60, Sum: 300 * time.Millisecond, Max: 7 * time.Millisecond, Realtime: true}, "1.5% of the step"},
		{"without real-time priority", &bench.Hiccups{CPUs: 2, Count: 60, Sum: 300 * time.Millisecond, Max: 7 * time.Millisecond}, "all CPUs were busy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := MachineStalls(step(c.h)).Join("\n")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%s: %q, want %q in it", c.name, got, c.want)
			}
		})
	}
}

// The text of each warning agrees with its kind and values.
func TestSentences(t *testing.T) {
	second := time.Second
	load := bench.Load{
		Elapsed: second, Wall: second, Succeeded: 900, Sent: 1000, Scheduled: 1100, Dropped: 100, Late: 500, WaitedForConnection: 300, MaxOpenConnections: 8, Cut: 2, LeadIn: 2 * second, Unserved: 3,
		Paced: 90, Overran: 30,
		ClientCPU: 1900 * time.Millisecond, ClientCPUs: 2, Saturation: .99,
		Failed: map[bench.ErrorKind]int64{bench.ErrClient: 4}, Examples: map[bench.ErrorKind]string{bench.ErrClient: "no ports"},
	}
	behind := bench.Load{Elapsed: second, Succeeded: 100, Sent: 100, Scheduled: 100, Backlog: 50, Sending: bench.Latencies{Mean: 10 * time.Millisecond}}
	usage := func(cpu time.Duration, kills int64) *bench.Usage {
		return &bench.Usage{CPU: cpu, Memory: &bench.Memory{OOMKills: kills}}
	}
	host := func(busy, steal time.Duration, heat int64) *bench.HostReading {
		return &bench.HostReading{Host: &bench.HostUsage{Busy: busy, Steal: steal, Throttles: &heat}}
	}
	step := bench.StepResult{Load: load, Before: usage(0, 1), After: usage(second/2, 3), HostBefore: host(0, 0, 1), HostAfter: host(90*second, 10*second, 5),
		Hiccups:    &bench.Hiccups{CPUs: 2, Count: 7, Sum: 50 * time.Millisecond, Max: 40 * time.Millisecond, Realtime: true},
		Interleave: &bench.Interleave{Waited: second, WaitedCPU: second / 2}}
	loop := Loop{Open: true, Reopened: 31, Connections: 8, LateAfter: time.Millisecond}
	of := func(f ...bench.Warning) bench.Warnings { return f }
	little := func(open bool, busy, shared, counted time.Duration) bench.Warnings {
		return Loop{Open: open, Connections: 10, Responses: 200, Busy: busy, Shared: shared, Counted: counted}.little(bench.Load{Elapsed: second})
	}
	onMachine := OnThisMachine(step, bench.InstanceInfo{Limits: bench.Limits{CPUs: 1.5}, LimitsEnforced: true}, 2)
	for _, c := range []struct {
		name  string
		of    bench.Warnings
		kind  bench.WarningKind
		key   string
		value float64
		want  string
	}{
		{"interrupted", loop.Warnings(load), bench.WarnInterrupted, "requests", 2, "interrupted: 2 requests in flight not counted"},
		{"reopened", loop.Warnings(load), bench.WarnReopened, "times", 31, "31 reconnects; latency includes them"},
		{"pace", loop.Warnings(load), bench.WarnPace, "overran", 30, "30 of 90 iterations took longer than their pace; the next one began at once"},
		{"client limit", loop.Warnings(load), bench.WarnClientLimit, "requests", 4, "4 requests failed: client out of ports, files or memory: no ports"},
		{"dropped", loop.Warnings(load), bench.WarnDropped, "dropped", 100, "100 of 1100 scheduled requests dropped: all 8 connections in use, the contender did not keep up"},
		{"late", loop.Warnings(load), bench.WarnLate, "late", 200, "200 requests sent late: all 8 connections in use"},
		{"late by itself", loop.Warnings(load), bench.WarnClientBound, "late", 300, "client-bound: 300 of 1000 requests sent over 1ms late although connections were free"},
		{"unserved", loop.Warnings(load), bench.WarnQueueOutlastedLeadIn, "unserved", 3, "queue outlasted the lead-in: after 2.00 s, 3 of 8 connections had no response. The measured interval may be unstable"},
		{"client maybe bound", loop.Warnings(load), bench.WarnClientMaybeBound, "client_cpus", 1.9, "the client may be the bottleneck: it used 1.90 of its 2 CPUs"},
		{"a busy thread", of(Saturated(load)), bench.WarnClientBound, "share", .99, "client-bound: a client thread was busy 99% of the step and would hide a faster contender"},
		{"not keeping up", loop.Warnings(behind), bench.WarnNotKeepingUp, "backlog", 50, "the contender did not keep up: backlog of 50 requests at the end, 1 expected at this throughput and latency"},
		{"clock", little(false, 10*second, 10*second, 9*second), bench.WarnClockUnsteady, "by_counting", 9, "unstable machine clock: 10.00 requests in flight by time, 9.00 by count"},
		{"responses seen late", little(true, 8*second, 8*second, 10*second), bench.WarnResponsesSeenLate, "by_times", 8, "the client saw responses late: 8.00 requests in flight by time, 10.00 by count"},
		{"a slow client", little(false, 8*second, 8*second, 10*second), bench.WarnClientBound, "gap_ns", 1e7, "client-bound: 8.0 of 10.0 connections busy; the client takes 10ms from response to next request"},
		{"unstable load", little(false, 12*second, 10*second, 10*second), bench.WarnUnstableLoad, "by_latency", 12, "unstable load: throughput × mean latency is 12.00, but 10.00 requests were in flight; the queue grew or shrank"},
		{"ports", of(WaitedForPorts(12*second, 4000)), bench.WarnWaitedForPorts, "ports", 4000, "step started 12s late, once 4,000 local ports were free: closed connections hold theirs for a minute"},
		{"busy out of turn", BusyOutOfTurn(step), bench.WarnBusyOutOfTurn, "cpus", .5, "used 0.50 CPUs while others were loaded, which may have slowed them"},
		{"readings", of(ReadingsFailed(3)), bench.WarnReadingsFailed, "readings", 3, "3 readings failed"},
		{"counters", of(CountersMissing("gone")), bench.WarnCountersMissing, "", 0, "counters missing for this step: gone"},
		{"killed", Killed(step), bench.WarnOOM, "processes", 2, "out of memory: the kernel killed 2 processes"},
		{"rate", of(RateChanged(100, []string{"to 200/s after 3 s"}, 2)), bench.WarnRateChanged, "changes", 3, "rate changed by hand from 100/s to 200/s after 3 s, and 2 more: this step mixes several rates"},
		{"machine stall", MachineStalls(step), bench.WarnMachineStall, "longest_ns", 4e7, "machine stalls: 7 of 1 ms or more, longest 40.0 ms, 2.5% of the step per CPU; the highest latencies may come from them"},
		{"other run", of(OtherRun()), bench.WarnOtherRun, "", 0, "another locbench run is active on this machine; both may be slower than alone"},
		{"steal", onMachine, bench.WarnSteal, "share", .1, "CPU steal: other VMs took 10.0% of this machine's CPU time"},
		{"heat", onMachine, bench.WarnOverheated, "times", 4, "thermal throttling (4 times)"},
		{"bottleneck", onMachine, bench.WarnClientMaybeBound, "contender_cpus", .5, "the client may be the bottleneck: it used 1.90 of 2 CPUs, the contender only 0.50 of its 1.5"},
		{"incident", of(Incident(bench.Incident{Kind: bench.IncidentPaused, Text: "paused from outside"}, 3*second)), bench.WarningKind(bench.IncidentPaused), "after_ns", 3e9, "paused from outside, 3.00 s after its start"},
		{"silence", of(Incident(bench.Incident{Kind: bench.IncidentSilent, Text: "it does not respond: frozen"}, 0)), bench.WarningKind(bench.IncidentSilent), "", 0, "it does not respond: frozen"},
		{"pause", of(Paused(3 * second)), bench.WarnRunPaused, "pause_ns", 3e9, "run was paused for 3.00 s before this step"},
		{"clock set", of(ClockSet(-2*second, 3)), bench.WarnClockSet, "moved_ns", -2e9, "the clock was set back by 2s in or before step 3, or the machine slept; durations are correct, timestamps use the old clock"},
		{"hung", of(Hung(15*second, false)), bench.WarnHung, "grace_ns", 15e9, "did not stop within 15s of SIGTERM and was killed (SIGKILL)"},
		{"ignored", of(Hung(15*second, true)), bench.WarnHung, "grace_ns", 15e9, "did not stop within 15s of SIGTERM and was killed (SIGKILL): PID 1 of a container ignores it without a handler; handle it, or start the program with tini, and from a shell with exec"},
		{"memory", of(Overcommitted(3, 9<<30, 8<<30)), bench.WarnOvercommitted, "contenders", 3, "3 contenders run at the same time and may use 9 GiB; this machine has 8 GiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range c.of {
				if f.Text != c.want {
					continue
				}
				if value, ok := f.Values[c.key]; f.Kind != c.kind || c.key != "" && (!ok || value != c.value) {
					t.Errorf("%q with %v, want %q with %s %g", f.Kind, f.Values, c.kind, c.key, c.value)
				}
				return
			}
			t.Errorf("%q, want %q", c.of.Join(" | "), c.want)
		})
	}
}
