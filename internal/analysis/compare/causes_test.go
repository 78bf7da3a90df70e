package compare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// counters makes what the counters of each step say: switches and bytes of log per request, CPU time of the step,
// CPU time of a need.
type counters struct {
	voluntary, involuntary, log float64
	cpu, db, engine             time.Duration
	p50                         time.Duration
	collected                   float64 // of the CPU time
}

func (c counters) of(l *bench.TrialResult) {
	for i := range l.Steps {
		s := &l.Steps[i]
		n := func(each float64) int64 { return int64(each * float64(s.Load.Ended())) }
		s.Before.Switches, s.Before.Log = &bench.Switches{Source: "x"}, &bench.Log{EngineCPU: new(time.Second)}
		s.After.Switches = &bench.Switches{Source: "x", Voluntary: n(c.voluntary), Involuntary: n(c.involuntary)}
		s.After.Log = &bench.Log{Bytes: n(c.log), Lines: n(1), EngineCPU: new(time.Second + c.engine)}
		s.After.CPU = s.Before.CPU + c.cpu
		s.Load.Latency.P50 = c.p50
		s.Before.ThreadTime = &bench.ThreadTime{}
		s.After.ThreadTime = &bench.ThreadTime{Served: c.cpu, Collected: time.Duration(c.collected * float64(c.cpu))}
		s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Unix(1, 0), Source: "x"}}}
		s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Unix(11, 0), Source: "x", CPU: c.db}}}
	}
}

// A cause is named for the side that is worse, where its counters differ decidedly, and never for a
// healthy one.
func TestCauses(t *testing.T) {
	healthy := counters{voluntary: 2, involuntary: .1, log: 0, cpu: 10 * time.Second, db: time.Second, p50: 10 * time.Millisecond}
	lock := healthy
	lock.voluntary, lock.cpu, lock.db = 12, 4*time.Second, 400*time.Millisecond
	with := func(c counters, change func(*counters)) counters { change(&c); return c }
	const wait = "the new has 12.1 context switches per request at 8 connections, the old 2.1, with fewer CPUs in use: its threads wait for a lock or a pool."
	for name, c := range map[string]struct {
		slower float64
		fresh  counters
		want   string
	}{
		"a lock":                             {.4, lock, wait},
		"a lock without an effect":           {1, lock, ""},
		"switches below three times":         {.4, with(lock, func(c *counters) { c.voluntary = 6.1 }), ""},
		"switches for a lack of CPUs":        {.4, with(lock, func(c *counters) { c.voluntary, c.involuntary = 5, 7 }), ""},
		"CPUs as busy, p50 as high":          {.8, with(lock, func(c *counters) { c.cpu = 8 * time.Second; c.db = 800 * time.Millisecond }), ""},
		"CPUs as busy, p50 lower":            {.8, with(lock, func(c *counters) { c.cpu = 9 * time.Second; c.p50 /= 2 }), strings.Replace(wait, "fewer CPUs in use", "a lower p50", 1)},
		"more work for the need":             {.4, with(lock, func(c *counters) { c.db = 600 * time.Millisecond }), ""},
		"more work":                          {.4, with(lock, func(c *counters) { c.cpu = 6 * time.Second }), ""},
		"a log":                              {.6, with(healthy, func(c *counters) { c.log = 412 }), "the new logs 412 B per request, the old 0 B."},
		"a log that the engine works for":    {.6, with(healthy, func(c *counters) { c.log, c.engine = 412, 3900*time.Millisecond }), "the new logs 412 B per request, the old 0 B; the engine (dockerd and shim) uses 0.39 CPUs for that."},
		"a log without an effect":            {1, with(healthy, func(c *counters) { c.log = 412 }), ""},
		"a log of a few bytes":               {.6, with(healthy, func(c *counters) { c.log = 15 }), ""},
		"a log of the better side":           {1.6, with(healthy, func(c *counters) { c.log = 412; c.cpu = 16 * time.Second }), ""},
		"a service that is slower, no cause": {.4, healthy, ""},
		"a collector": {.6, with(healthy, func(c *counters) { c.cpu, c.collected = 16*time.Second, 1 }),
			"the new web: the collector took 50% of its CPU time at 8 connections: its heap is small for what it keeps and allocates; give it a larger heap."},
	} {
		t.Run(name, func(t *testing.T) {
			f := usual()
			f.peak *= c.slower
			r := compared(t, of(trials("web", 6, usual(), healthy.of)), of(trials("web", 6, f, c.fresh.of)), Options{})
			testenv.Equal(t, strings.Join(r.Contenders[0].Causes, "|"), c.want)
			var b strings.Builder
			testenv.OK(t, r.Text(&b, 0))
			testenv.Check(t, strings.Contains(b.String(), c.want), "not in the text: %s", b.String())
		})
	}
}

// A certain change of the CPU time per request is said to be that of the runtime's compilers or collectors
// where it mostly is, and where both sides would show it.
func TestCauses_KindOfThread(t *testing.T) {
	type spent struct {
		language                             string
		served, compiled, collected, runtime float64 // s of each step
		p99                                  float64 // times the usual one
	}
	java := spent{"Java", 9, .5, .5, 0, 1}
	with := func(s spent, change func(*spent)) spent { change(&s); return s }
	collects := with(java, func(s *spent) { s.collected += 2 })
	for name, c := range map[string]struct {
		old, fresh spent
		want       string
	}{
		"all of it":                {java, collects, "CPU per request 20.0% higher at 8 connections: all of it the collectors'."},
		"better":                   {collects, java, "CPU per request 16.7% lower at 8 connections: all of it the collectors'."},
		"compilers":                {java, with(java, func(s *spent) { s.compiled += 2 }), "CPU per request 20.0% higher at 8 connections: all of it the compilers'."},
		"one of these two":         {java, with(java, func(s *spent) { s.runtime += 2 }), "CPU per request 20.0% higher at 8 connections: all of it the compilers' and collectors'."},
		"96%":                      {java, with(java, func(s *spent) { s.collected += 1.92; s.served += .08 }), "CPU per request 20.0% higher at 8 connections: all of it the collectors'."},
		"94%":                      {java, with(java, func(s *spent) { s.collected += 1.88; s.served += .12 }), "CPU per request 20.0% higher at 8 connections: most of it the collectors'."},
		"67%":                      {java, with(java, func(s *spent) { s.collected += 1.34; s.served += .66 }), "CPU per request 20.0% higher at 8 connections: most of it the collectors'."},
		"66%":                      {java, with(java, func(s *spent) { s.collected += 1.32; s.served += .68 }), ""},
		"more than all of it":      {java, with(java, func(s *spent) { s.collected += 3; s.served-- }), "CPU per request 20.0% higher at 8 connections: all of it the collectors'."},
		"the other way":            {java, with(java, func(s *spent) { s.collected -= .4; s.served += 2 }), ""},
		"served":                   {java, with(java, func(s *spent) { s.served += 2 }), ""},
		"no change":                {java, with(java, func(s *spent) { s.collected += 2; s.served -= 2 }), ""},
		"none in old, one runtime": {spent{"C#", 10, 0, 0, 0, 1}, spent{"C#", 10, 2, 0, 0, 1}, "CPU per request 20.0% higher at 8 connections: all of it the compilers'."},
		"none in old, another":     {spent{"Go", 10, 0, 0, 0, 1}, spent{"Java", 10, 2, 0, 0, 1}, ""},
		"none in old, unknown":     {spent{"", 10, 0, 0, 0, 1}, spent{"", 10, 2, 0, 0, 1}, ""},
		"two runtimes with both":   {with(java, func(s *spent) { s.language = "C#" }), collects, "CPU per request 20.0% higher at 8 connections: all of it the collectors'."},
		"within 3%":                {java, with(java, func(s *spent) { s.collected += .1; s.p99 = 3 }), ""},
		"not read in old":          {spent{"Java", -1, 0, 0, 0, 1}, spent{"Java", 1, .5, 11, 0, 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			side := func(c spent) raw {
				f := usual()
				f.p99 = scaled(f.p99, c.p99)
				return of(trials("web", 6, f, func(l *bench.TrialResult) {
					l.Service.Language = c.language
					for i := range l.Steps {
						s, of := &l.Steps[i], func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
						s.After.CPU = s.Before.CPU + of(c.served+c.compiled+c.collected+c.runtime)
						s.Before.ThreadTime = &bench.ThreadTime{}
						s.After.ThreadTime = &bench.ThreadTime{Served: of(c.served), Compiled: of(c.compiled), Collected: of(c.collected), Runtime: of(c.runtime)}
						if c.served < 0 {
							s.After.CPU, s.After.ThreadTime = s.Before.CPU+of(10), nil
						}
					}
				}))
			}
			why := compared(t, side(c.old), side(c.fresh), Options{}).Contenders[0].Why()
			got := slices.DeleteFunc(why, func(line string) bool { return !strings.Contains(line, " of it ") })
			testenv.Equal(t, strings.Join(got, "|"), c.want)
		})
	}
}
