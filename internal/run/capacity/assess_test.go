package capacity

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

const ms = time.Millisecond

// Each probe sends 10,000 requests in 10 s, so a backlog of N requests is N milliseconds of work.
func TestAssess(t *testing.T) {
	conditions := testenv.Must(profile.ParseConditions("p99<50ms,errors<5%"))(t)
	type change = func(*bench.StepResult)
	load := func(f func(*bench.Load)) change { return func(s *bench.StepResult) { f(&s.Load) } }
	latency := func(p50, p99 time.Duration, medians ...time.Duration) change {
		return load(func(l *bench.Load) {
			l.Latency, l.Windows = bench.Latencies{Count: 1, P50: p50, P99: p99}, windows(medians...)
		})
	}
	backlog := func(n int64) change { return load(func(l *bench.Load) { l.Backlog = n }) }
	late := func(n int64, p99FromSending time.Duration) change {
		return load(func(l *bench.Load) { l.Late, l.Sending = n, bench.Latencies{Count: 10000, P99: p99FromSending} })
	}
	waited := func(n int64) change {
		return load(func(l *bench.Load) { l.Late, l.WaitedForConnection, l.MaxOpenConnections = n, n, 256 })
	}
	unexpected := func(n int64) change {
		return load(func(l *bench.Load) { l.Failed, l.Checked = map[bench.ErrorKind]int64{bench.ErrWrong: n}, 400 })
	}
	busy := load(func(l *bench.Load) { l.Saturation = .99 })
	suspected := func(s *bench.StepResult) {
		s.Warnings = bench.Warnings{
			{Kind: bench.WarnErrors, Text: "errors"}, {Kind: bench.WarnClientMaybeBound, Text: "suspected"},
		}
	}
	short := func(s *bench.StepResult) {
		s.Step.Duration, s.Load.Elapsed, s.Load.Succeeded = 2*time.Second, 2*time.Second, 2000
	}
	const (
		missed  = "p99 is 60ms, not <50ms"
		aSecond = "p99 is 1s, not <50ms"
		busily  = "client-bound: a client thread was busy 99% of the step and would hide a faster contender"
		lately  = " of 10000 requests sent late although connections were free; met when counted from sending"
	)
	queue := func(n string) string {
		return "backlog of " + n + " requests at the end (" + n + "ms of work at this throughput): a queue grew"
	}
	rise := func(by string) string {
		return "median latency rose by about " + by + " from start to end: a queue grew"
	}
	slow := latency(ms, 60*ms)
	for name, test := range map[string]struct {
		want    string
		changes []change
	}{
		"sustained":                     {"sustained", nil},
		"a busy client":                 {"sustained", []change{busy, suspected}},
		"a late client":                 {"sustained", []change{late(900, ms)}},
		"slow":                          {missed, []change{slow}},
		"as many unexpected as allowed": {"sustained", []change{unexpected(4)}},
		"one more unexpected body": {"5 of 400 compared bodies were unexpected (1.2%)",
			[]change{unexpected(5)}},
		"1% waited for a connection": {"sustained", []change{waited(100)}},
		"one more request waited": {"101 of 10000 requests waited: all 256 connections in use",
			[]change{waited(101)}},
		"dropped requests": {"errors is 5%, not <5%", []change{load(func(l *bench.Load) {
			l.Succeeded, l.Sent, l.Dropped, l.WaitedForConnection = 9500, 9500, 500, 500
		})}},
		"nothing": {"p99 is unknown: no success; errors is unknown: no success; no request was sent",
			[]change{load(func(l *bench.Load) { *l = bench.Load{} })}},

		"the longest backlog":                  {"sustained", []change{backlog(251)}},
		"a longer backlog":                     {queue("252"), []change{backlog(252)}},
		"the longest backlog at this latency":  {"sustained", []change{backlog(300), latency(40*ms, 41*ms)}},
		"a longer backlog at this latency":     {queue("301"), []change{backlog(301), latency(40*ms, 41*ms)}},
		"the longest backlog of a short probe": {"sustained", []change{short, backlog(101)}},
		"a longer backlog of a short probe":    {queue("102"), []change{short, backlog(102)}},

		"the largest rise":        {"sustained", []change{latency(ms, 2*ms, ms, ms, 26*ms, 26*ms)}},
		"a larger rise":           {rise("104ms"), []change{latency(ms, 2*ms, ms, ms, 27*ms, 27*ms)}},
		"too few windows":         {"sustained", []change{latency(ms, 2*ms, ms, 100*ms, 200*ms)}},
		"the largest rise of 4 s": {"sustained", []change{latency(ms, 2*ms, 4000*ms, 4000*ms, 4050*ms, 4050*ms)}},
		"a larger rise of 4 s": {rise("204ms"),
			[]change{latency(ms, 2*ms, 4000*ms, 4000*ms, 4051*ms, 4051*ms)}},
		"a rise, five windows": {rise("200ms"), []change{latency(ms, 2*ms, 30*ms, 10*ms, 90*ms, 110*ms, 120*ms)}},
		"a rise, six windows": {rise("135ms"),
			[]change{latency(ms, 2*ms, 10*ms, 30*ms, 50*ms, 60*ms, 110*ms, 150*ms)}},
		"a backlog and a rise": {queue("252"), []change{latency(ms*4/5, 2*ms, ms, ms, 99*ms, 99*ms), backlog(252)}},
		"a delay that varies": {"sustained",
			[]change{latency(ms, 2*ms, 1980*ms, 2010*ms, 1990*ms, 2020*ms, 2030*ms)}},
		"a pause":             {"sustained", []change{latency(ms, 2*ms, ms, ms, ms, ms, 600*ms)}},
		"a queue that shrank": {"sustained", []change{latency(ms, 2*ms, 600*ms, 400*ms, ms, ms, ms)}},
		"a slow start, then a rise": {aSecond + "; " + rise("488ms"),
			[]change{latency(723*ms, time.Second, 500*ms, 595*ms, 690*ms, 790*ms, 880*ms)}},

		"late by the client": {"client: " + missed + "; client-bound: 1" + lately,
			[]change{slow, late(1, 49*ms)}},
		"late as others waited": {missed, []change{slow, late(0, 49*ms)}},
		"late and slow":         {missed, []change{slow, late(900, 50*ms)}},
		"late, never measured":  {missed, []change{slow, load(func(l *bench.Load) { l.Late = 900 })}},
		"late, and a queue":     {missed + "; " + queue("400"), []change{slow, late(900, ms), backlog(400)}},
		"slow, a busy client":   {"client: " + missed + "; " + busily + "; suspected", []change{slow, suspected, busy}},
	} {
		t.Run(name, func(t *testing.T) {
			probe := benchtest.With(benchtest.Step(10000, latency(ms*4/5, 9*ms)), test.changes...)
			v, why := Assess(conditions, probe, 1, .01)
			got := Reason(why)
			if v.Client {
				got = "client: " + got
			}
			if v.Sustained {
				got += "sustained"
			}
			testenv.Check(t, got == test.want, "%s, want %s", got, test.want)
		})
	}
}

// windows returns windows with these median latencies, and an empty one after them.
func windows(medians ...time.Duration) (all []bench.Window) {
	for _, d := range append(medians, 10*time.Second) {
		all = append(all, bench.Window{Succeeded: 1, P50: d})
	}
	all[len(medians)].Succeeded = 0
	return all
}

// On a machine of two CPUs that other processes use, a rate that was not sustained is not the
// contender's limit, unless it has used its quota.
func TestAssess_Others(t *testing.T) {
	s := time.Second
	for name, test := range map[string]struct {
		busy, idle, steal, cpu time.Duration
		limit                  float64
		want                   string
	}{
		"alone":                               {4 * s, 6 * s, 0, 2 * s, 1, ""},
		"crowded":                             {9900 * ms, 100 * ms, 0, s, 1, "69%"},
		"stolen":                              {5 * s, 0, 5 * s, s, 1, "70%"},
		"crowded, no limit":                   {10 * s, 0, 0, 4900 * ms, 0, "31%"},
		"crowded, but at its quota":           {10 * s, 0, 0, 4900 * ms, 1, ""},
		"full of contender, client and store": {9 * s, s, 0, 6 * s, 2, ""},
		"a reading is missing":                {0, 0, 0, s, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			res := bench.StepResult{
				Step: bench.Step{Duration: 5 * s}, Before: &bench.Usage{}, After: &bench.Usage{CPU: test.cpu},
				Load:       bench.Load{Elapsed: 5 * s, Wall: 5 * s, ClientCPU: s},
				HostBefore: &bench.HostReading{Host: &bench.HostUsage{}, Needs: map[string]*bench.NeedUsage{"db": {Source: "/proc"}}},
				HostAfter: &bench.HostReading{
					Host:  &bench.HostUsage{Busy: test.busy, Idle: test.idle, Steal: test.steal},
					Needs: map[string]*bench.NeedUsage{"db": {At: time.Time{}.Add(5 * s), Source: "/proc", CPU: s}},
				},
			}
			want := "no request was sent"
			if test.want != "" {
				want += "; other processes used " + test.want + " of the CPU time"
			}
			v, why := Assess(nil, res, test.limit, 0)
			testenv.Check(t, v == (Verdict{Client: test.want != ""}) && Reason(why) == want,
				"%+v %q, want %q", v, why, want)
		})
	}
}
