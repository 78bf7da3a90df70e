package verdict_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
)

// The golden file has every warning: what it is about, its kind, its sentence and its values.
func TestWarnings(t *testing.T) {
	second := time.Second
	full := load{
		Elapsed: 2 * second, Wall: 2 * second, Outcomes: bench.Outcomes{Succeeded: 900, Rejected: bench.Statuses{429: 40}, Failed: map[bench.ErrorKind]int64{bench.ErrClient: 4}, Examples: map[bench.ErrorKind]string{bench.ErrClient: "no ports"}}, Counts: bench.Counts{Sent: 1000, Scheduled: 1100, Dropped: 100, Late: 500, WaitedForConnection: 300, Cut: 2, Paced: 90, Overran: 30, Reconnects: 31, SentAgain: 22, Drain: 4, DrainMax: 5990 * time.Millisecond}, MaxOpenConnections: 8, LeadIn: 2 * second, Unserved: 3,
		Latency:   bench.Latencies{Count: 900, Max: 28 * time.Millisecond},
		ClientCPU: 3800 * time.Millisecond, ClientCPUs: 2, Saturation: .99,
	}
	behind := load{Elapsed: 2 * second, Outcomes: bench.Outcomes{Succeeded: 200}, Counts: bench.Counts{Sent: 100, Scheduled: 100}, Backlog: 50,
		Sending: bench.Latencies{Mean: 10 * time.Millisecond}}
	usage := func(cpu time.Duration, kills int64) *bench.Usage {
		return &bench.Usage{CPU: cpu, Memory: &bench.Memory{OOMKills: kills}}
	}
	host := func(busy, steal time.Duration, heat int64) *bench.HostReading {
		return &bench.HostReading{Host: &bench.HostUsage{Busy: busy, Steal: steal, Throttles: &heat}}
	}
	all := step{
		Load: full, Before: usage(0, 1), After: usage(second, 3), HostBefore: host(0, 0, 1),
		HostAfter:  host(90*second, 10*second, 5),
		Hiccups:    &bench.Hiccups{CPUs: 2, Count: 7, Sum: 50 * time.Millisecond, Max: 40 * time.Millisecond, Realtime: true},
		Interleave: &bench.Interleave{Waited: 2 * second, WaitedCPU: second, WaitedNeeds: map[string]time.Duration{"db": second / 2, "cache": 0}},
	}
	busyStalls := all
	busyStalls.Hiccups = &bench.Hiccups{CPUs: 2, Count: 7, Max: 40 * time.Millisecond}
	of := func(w ...bench.Warning) bench.Warnings { return w }
	little := func(open bool, busy, shared, counted time.Duration) bench.Warnings {
		o := verdict.Loop{Open: open, Connections: 10, Responses: 200, Busy: busy, Shared: shared, Counted: counted}
		return o.Warnings(load{Elapsed: 2 * second})
	}
	limits := bench.Limits{CPUs: 1.5}
	var text strings.Builder
	for _, c := range []struct {
		about string
		found bench.Warnings
	}{
		{"a load", verdict.Loop{Open: true, Connections: 8, LateAfter: time.Millisecond}.Warnings(full)},
		{"an empty load", verdict.Loop{}.Warnings(load{})},
		{"a thread of the client", of(verdict.Saturated(full))},
		{"a backlog", verdict.Loop{Open: true}.Warnings(behind)},
		{"a clock", little(false, 20*second, 20*second, 18*second)},
		{"responses seen late", little(true, 16*second, 16*second, 20*second)},
		{"a slow client", little(false, 16*second, 16*second, 20*second)},
		{"an unstable load", little(false, 24*second, 20*second, 20*second)},
		{"delayed acknowledgments", verdict.DelayedACKs(step{Load: load{Latency: latencies(map[time.Duration]float64{42 * time.Millisecond: 1})}})},
		{"ports", of(verdict.WaitedForPorts(12*second+second/3, 4000))},
		{"a pause", of(verdict.Paused(3 * second))},
		{"counters", of(verdict.CountersMissing("gone"))},
		{"readings", of(verdict.ReadingsFailed(3))},
		{"another run", of(verdict.OtherRun("process 4711, /home/me/results/a"))},
		{"a need's cold caches", verdict.ColdCaches(usual.with(waits(1, &bench.Disk{Read: 12 << 20, Reads: 310})).step(0))},
		{"a need without counters", of(verdict.NeedNotMeasured(bench.NeedInfo{Name: "db", From: bench.NeedExternal}))},
		{"needs of services", of(verdict.OwnNeeds(bench.NeedSpec{Name: "db", Service: "a"}, bench.NeedSpec{Service: "b"}))},
		{"an incident", of(verdict.Incident(bench.Incident{Kind: bench.IncidentPaused, Text: "paused from outside"},
			3*second))},
		{"an incident at no time", of(verdict.Incident(bench.Incident{Kind: bench.IncidentSilent,
			Text: "it does not respond"}, 0))},
		{"a clock set back", of(verdict.ClockSet(-2349*time.Millisecond, 3))},
		{"a clock set forward", of(verdict.ClockSet(2*second, 1))},
		{"a clock not set", of(verdict.ClockSet(0, 1))},
		{"a contender that does not stop", of(verdict.Hung(15*second, "SIGTERM", false))},
		{"PID 1", of(verdict.Hung(15*second, "SIGQUIT", true))},
		{"memory of all", of(verdict.Overcommitted(3, 9<<30, 8<<30))},
		{"busy out of turn", verdict.BusyOutOfTurn("bookings:new", all)},
		{"not interleaved", verdict.BusyOutOfTurn("", step{})},
		{"a pool that fills slowly", verdict.FirstResponses(
			step{Load: load{FirstResponse: 8 * second, Latency: bench.Latencies{Count: 1, P50: 27 * time.Millisecond}},
				Before: &bench.Usage{Threads: new(80)}, After: &bench.Usage{Threads: new(83)}},
			[]bench.Usage{{}, {Threads: new(20)}, {Threads: new(44)}})},
		{"first responses that did not come", verdict.FirstResponses(
			step{Load: load{FirstResponse: 10 * second, Timeouts: bench.Latencies{Count: 64, Min: 10 * second}}}, nil)},
		{"usual first responses", verdict.FirstResponses(step{Load: load{FirstResponse: second - 1}}, nil)},
		{"killed", verdict.Killed(all)},
		{"memory at one end", verdict.Killed(step{Before: usage(0, 1), After: &bench.Usage{}})},
		{"machine stalls", verdict.MachineStalls(all)},
		{"stalls without real-time priority", verdict.MachineStalls(busyStalls)},
		{"stalls that are not known", verdict.MachineStalls(step{})},
		{"this machine", verdict.OnThisMachine(all, bench.InstanceInfo{Limits: limits, LimitsEnforced: true}, 2)},
		{"without limits", verdict.OnThisMachine(all, bench.InstanceInfo{Limits: limits}, 2)},
		{"without counters", verdict.OnThisMachine(step{}, bench.InstanceInfo{}, 2)},
	} {
		fmt.Fprintf(&text, "%s\n", c.about)
		for _, w := range c.found {
			fmt.Fprintf(&text, "  %s: %s\n", w.Kind, w.Text)
			for _, name := range slices.Sorted(maps.Keys(w.Values)) {
				fmt.Fprintf(&text, "    %s %.10g\n", name, w.Values[name])
			}
		}
	}
	testenv.Golden(t, "testdata/warnings.txt", text.String())
}

func TestLoop_NotLookedAt(t *testing.T) {
	type counts = map[bench.ErrorKind]int64
	examples := map[bench.ErrorKind]string{
		bench.UnreadLong: "longer than 1 MiB", bench.UnreadBroken: "br body could not be unpacked: it is broken",
		bench.UnreadEncoding: `encoding "x" is not gzip, deflate, br or zstd`,
	}
	const (
		text   = " bodies to compare were not looked at, and are neither right nor wrong: "
		broken = "br body could not be unpacked: it is broken"
		fix    = ". Clients cannot read a broken body either: fix the contender"
	)
	for _, test := range []struct {
		name string
		load bench.Load
		want string
	}{
		{"none", load{Outcomes: bench.Outcomes{Checked: 300}}, ""},
		{"nothing to compare", load{}, ""},
		{"few", load{Outcomes: bench.Outcomes{Checked: 91, Unread: counts{bench.UnreadLong: 9}}}, ""},
		{"a tenth", load{Outcomes: bench.Outcomes{Checked: 90, Unread: counts{bench.UnreadLong: 10}}}, "10 of 100" + text + "longer than 1 MiB"},
		{"all", load{Outcomes: bench.Outcomes{Unread: counts{bench.UnreadEncoding: 1200}}},
			"1,200 of 1,200" + text + `encoding "x" is not gzip, deflate, br or zstd`},
		{"one broken of many", load{Outcomes: bench.Outcomes{Checked: 300, Unread: counts{bench.UnreadBroken: 1}}}, "1 of 301" + text + broken + fix},
		{"two reasons", load{Outcomes: bench.Outcomes{Unread: counts{bench.UnreadLong: 3, bench.UnreadBroken: 4}}},
			"7 of 7" + text + "4 × " + broken + ", 3 × longer than 1 MiB" + fix},
		{"two reasons as often", load{Outcomes: bench.Outcomes{Unread: counts{bench.UnreadLong: 4, bench.UnreadBroken: 4}}},
			"8 of 8" + text + "4 × " + broken + ", 4 × longer than 1 MiB" + fix},
		{"one kind of request", load{Outcomes: bench.Outcomes{Checked: 990, Unread: counts{bench.UnreadLong: 10}}, Requests: []bench.RequestLoad{
			{Name: "get", Outcomes: bench.Outcomes{Checked: 990}}, {Name: "list", Outcomes: bench.Outcomes{Unread: counts{bench.UnreadLong: 10}, Examples: examples}}}},
			`"list": 10 of 10` + text + "longer than 1 MiB"},
		{"two kinds of requests", load{Requests: []bench.RequestLoad{
			{Name: "a", Outcomes: bench.Outcomes{Checked: 5, Unread: counts{bench.UnreadLong: 5}, Examples: examples}},
			{Name: "b", Outcomes: bench.Outcomes{Checked: 4, Unread: counts{bench.UnreadLong: 6}, Examples: examples}}}},
			`"b": 6 of 10` + text + "longer than 1 MiB (and 1 other kind of requests)"},
		{"three kinds of requests", load{Requests: []bench.RequestLoad{
			{Name: "a", Outcomes: bench.Outcomes{Checked: 5, Unread: counts{bench.UnreadLong: 5}, Examples: examples}},
			{Name: "b", Outcomes: bench.Outcomes{Unread: counts{bench.UnreadLong: 5}}},
			{Name: "c", Outcomes: bench.Outcomes{Checked: 99, Unread: counts{bench.UnreadLong: 1}}},
			{Name: "d", Outcomes: bench.Outcomes{Unread: counts{bench.UnreadLong: 6}, Examples: examples}}}},
			`"d": 6 of 6` + text + "longer than 1 MiB (and 2 other kinds of requests)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.load.Examples = examples
			got := (verdict.Loop{}).Warnings(test.load)
			testenv.Check(t, got.Join("|") == test.want, "%q, want %q", got, test.want)
		})
	}
}

func TestFromOutside(t *testing.T) {
	outside := bench.Warnings{{Kind: bench.WarnSteal}, {Kind: bench.WarnClientMaybeBound}, {Kind: bench.WarnOverheated}}
	s := step{Warnings: append(bench.Warnings{{Kind: bench.WarnLate}}, outside...)}
	got := verdict.FromOutside(s)
	testenv.Check(t, reflect.DeepEqual(got, outside) && len(s.Warnings) == 4, "%+v of %+v", got, s.Warnings)
}

// Without counters nothing is said of other programs, of a quota, and of memory.
func TestWithoutCounters(t *testing.T) {
	busy := made{rate: 10, busy: 1}
	for name, change := range map[string]func(*step){
		"none of the contender": func(s *step) { s.Before, s.After = nil, nil },
		"none of the machine":   func(s *step) { s.HostBefore, s.HostAfter = nil, nil },
		"no length":             func(s *step) { s.Load.Wall, s.Load.Scheduled, s.Load.Dropped = 0, 0, 5 },
		"no periods":            func(s *step) { s.After.Throttling.Throttled, s.Load.Wall = 5, 0 },
		"no memory":             func(s *step) { s.After.Memory, s.Load.Wall = nil, 0 },
	} {
		s := busy.with(change).step(0)
		share := verdict.ShareOfOthers(s, 1.5)
		testenv.Check(t, share == 0 && !verdict.AtQuota(s, 0), "%s: share %g", name, share)
	}
	testenv.Equal(t, verdict.ShareOfOthers(made{rate: 10, busy: 1, storeUnknown: true}.step(0), 0), 1)
	for _, m := range []bench.Machine{{CPUs: 4}, {Load1: "9"}, {CPUs: 4, Load1: "x"}} {
		load, busy := verdict.BusyBefore(m)
		testenv.Check(t, !busy, "%+v: load %g", m, load)
	}
}
