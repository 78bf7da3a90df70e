package bench

import (
	"reflect"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// filled returns a reading in which every counter is n times that of filled(1).
func filled(n int64) Usage {
	d := func(x int64) *Duration { v := Duration(n * x); return &v }
	i := func(x int64) *int64 { v := n * x; return &v }
	return Usage{
		At: time.Unix(1000+n, 0), Source: "cgroup v1", CPU: Duration(n * 100), CPUUser: d(60), CPUSystem: d(40),
		Throttling: &Throttling{Periods: n * 10, Throttled: n * 3, Time: Duration(n * 7)},
		Memory: &Memory{Used: n * 1000, Peak: n * 2000, PeakSource: "max_usage", Limit: 1 << 20, OOMKills: n, LimitHits: i(5), MajorFaults: i(6),
			MinorFaults: i(7), Refaults: i(8), StepPeak: i(9)},
		Processes: new(int(n)), Threads: new(int(2 * n)),
		Pressure: &Pressure{Source: "cgroup v2", CPU: &Stall{Duration(n * 11), d(12)}, Memory: &Stall{Some: Duration(n * 13)}},
		Switches: &Switches{"x", n * 14, n * 15}, Network: &Network{"y", n * 16, n * 17}, Log: &Log{n * 23, n * 24, d(25)}, Took: Duration(n),
		Disk: &Disk{"io.stat", n * 18, n * 19, n * 20, n * 21}, ThreadCPU: map[int]time.Duration{7: time.Duration(n) * 22},
		ThreadTime: &ThreadTime{Duration(n * 23), Duration(n * 24), Duration(n * 25), Duration(n * 26)},
	}
}

// From 1 to 3 and from 10 to 14 equals from 1 to 7: counters grow by 6, everything else is that of
// the last reading.
func TestAdvance(t *testing.T) {
	first := filled(1).Advance(filled(1), filled(3))
	testenv.Check(t, reflect.DeepEqual(first, filled(3)),
		"one slice is %+v, the reading at its end %+v", first, filled(3))
	got := first.Advance(filled(10), filled(14))
	want, last := filled(7), filled(14)
	want.Processes, want.Threads, want.Took = last.Processes, last.Threads, last.Took
	want.Memory.Used, want.Memory.Peak, want.Memory.StepPeak = last.Memory.Used, last.Memory.Peak, last.Memory.StepPeak
	testenv.Check(t, reflect.DeepEqual(got, want), "two slices are\n%+v\nwant\n%+v", got, want)
	// Every field is advanced or copied: a new field that Advance does not handle would be zero.
	v := reflect.ValueOf(got)
	for i := range v.NumField() {
		testenv.Check(t, !v.Field(i).IsZero(), "%s is lost", v.Type().Field(i).Name)
	}
}

// fill sets every number below v to n.
func fill(v any, n int64) {
	testenv.Fill(v, func(name string, v reflect.Value) {
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			*at = time.Unix(n, 0)
		} else if v.CanInt() && name != "key" {
			v.SetInt(n)
		}
	})
}

// numbers calls each with every number below v.
func numbers(name string, v reflect.Value, each func(name string, n int64)) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			each(name, 0)
			return
		}
		numbers(name, v.Elem(), each)
	case reflect.Map:
		numbers(name, v.MapIndex(reflect.Zero(v.Type().Key())), each)
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			each(name, at.Unix())
			return
		}
		for i := range v.NumField() {
			numbers(name+"."+v.Type().Field(i).Name, v.Field(i), each)
		}
	case reflect.Int, reflect.Int64:
		each(name, v.Int())
	}
}

// TestAdvanceKnowsEveryNumber finds a counter that Advance does not advance. Every number that is
// not a counter has to be listed here.
func TestAdvanceKnowsEveryNumber(t *testing.T) {
	gauges := map[string]bool{"Usage.Processes": true, "Usage.Threads": true, "Usage.Took": true, "HostReading.Needs.CPUs": true,
		"HostReading.Needs.BusiestThread": true}
	for _, memory := range []string{"Usage.Memory", "HostReading.Needs.Memory"} {
		for _, name := range []string{".Used", ".Peak", ".Limit", ".StepPeak"} {
			gauges[memory+name] = true
		}
	}
	var usage [3]Usage
	var host [3]HostReading
	for i, n := range []int64{1000, 10, 17} {
		fill(&usage[i], n)
		fill(&host[i], n)
	}
	check := func(name string, n int64) {
		want := int64(1007)
		if gauges[name] {
			want = 17
		}
		testenv.Check(t, n == want, "%s is %d, want %d: is it missing in Advance, or here?", name, n, want)
	}
	numbers("Usage", reflect.ValueOf(usage[0].Advance(usage[1], usage[2])), check)
	numbers("HostReading", reflect.ValueOf(*host[0].Advance(&host[1], &host[2])), check)
}

// A value that one of the readings does not have stays unknown, and so does one of another source.
func TestAdvance_Unknown(t *testing.T) {
	bare := Usage{At: time.Unix(5, 0), CPU: 5}
	other := filled(2)
	other.Switches, other.Network = &Switches{Source: "other"}, &Network{Source: "other"}
	other.Pressure = &Pressure{Source: "other", CPU: &Stall{}}
	without, later := filled(1).Advance(bare, filled(3)), filled(1).Advance(filled(2), bare)
	mixed := filled(1).Advance(other, filled(3))
	check(t,
		fact{"before", all(without.CPUUser, without.Throttling, without.Pressure, without.Switches, without.Network),
			"<nil> <nil> <nil> <nil> <nil>"},
		fact{"after", all(later.Memory, later.CPUSystem), "<nil> <nil>"},
		fact{"of another source", all(mixed.Pressure, mixed.Switches, mixed.Network), "<nil> <nil> <nil>"})
}

func TestAdvanceHostReading(t *testing.T) {
	at := func(n int64) *HostReading {
		d := func(x int64) Duration { return Duration(n * x) }
		return &HostReading{
			Host:  &HostUsage{At: time.Unix(n, 0), Busy: d(1), Idle: d(2), Steal: d(3), IOWait: d(4), Throttles: new(n * 5), Pressure: &Pressure{Source: "p", CPU: &Stall{Some: d(6)}}},
			Needs: map[string]*NeedUsage{"db": {At: time.Unix(n, 0), Source: "embedded", CPU: d(7), Calls: n * 8, Busy: d(9), CPUs: 1}},
		}
	}
	got := at(1).Advance(at(1), at(3)).Advance(at(10), at(14))
	testenv.Check(t, reflect.DeepEqual(got, at(7)), "host %+v, needs %+v", got.Host, got.Needs)
	other := at(1)
	other.Needs["db"].Source = "/proc"
	bare := at(1).Advance(&HostReading{}, at(2))
	check(t, fact{"without a reading", at(1).Advance(nil, at(2)) == nil, true},
		fact{"without values", all(bare.Host, bare.Needs["db"]), "<nil> <nil>"},
		fact{"of another source", at(1).Advance(other, at(2)).Needs == nil, true})
}

func TestHiccups_And(t *testing.T) {
	a := Hiccups{CPUs: 2, Count: 1, Sum: 5, Max: 5, Realtime: true}
	check(t, fact{"of one", Hiccups{}.And(a), a},
		fact{"of two", a.And(Hiccups{CPUs: 2, Count: 2, Sum: 9, Max: 8}), Hiccups{CPUs: 2, Count: 3, Sum: 14, Max: 8}})
}

func TestRun_Groups(t *testing.T) {
	trials := func(all ...string) (entries []TrialEntry) {
		for _, name := range all {
			entries = append(entries, TrialEntry{Trial: Trial{Contender: name[:1], Round: int(name[1] - '0')}})
		}
		return entries
	}
	one := Run{Trials: trials("a1", "a2", "a3"), Profile: Profile{Interleave: 1, Contenders: make([]Selection, 1)}}
	two := Run{Trials: trials("a1", "b1", "b2", "a2"), Profile: Profile{Contenders: make([]Selection, 2)}}
	interleaved := two
	interleaved.Profile.Interleave = 1
	check(t, fact{"one after the other", two.Groups(), [][]int{{0}, {1}, {2}, {3}}},
		fact{"interleaved", interleaved.Groups(), [][]int{{0, 1}, {2, 3}}},
		fact{"with itself", one.Groups(), [][]int{{0, 1}, {2}}})
}

func TestInterleaved(t *testing.T) {
	since := time.Unix(7, 0)
	alone, with := StepResult{Interleave: &Interleave{Since: since}}, StepResult{Interleave: &Interleave{Since: since, With: []string{"b"}}}
	of := func(steps ...StepResult) string { return all(TrialResult{Steps: steps}.Interleaved()) }
	check(t, fact{"a trial", of(StepResult{}, with), all(since, true)}, fact{"alone", of(StepResult{}, alone), all(time.Time{}, false)},
		fact{"waiting", Interleave{Waited: 4, WaitedCPU: 2}.WaitingCPUs(), .5}, fact{"never waiting", Interleave{}.WaitingCPUs(), 0.})
}

// The CPU time of a pause is that of the requests before it, with its threads, where it is more than 2% of their slice's.
func TestPausesOfInterleave(t *testing.T) {
	at := func(ms int64, threads *ThreadTime) Usage {
		return Usage{At: time.UnixMilli(10 * ms), CPU: Duration(ms) * time.Millisecond, ThreadTime: threads}
	}
	kinds := func(served, compiled, collected, either int64) *ThreadTime {
		return &ThreadTime{Duration(served), Duration(compiled), Duration(collected), Duration(either)}
	}
	before, after := at(100, kinds(5, 5, 5, 5)), at(1100, kinds(805, 105, 55, 15))
	step := StepResult{Before: &before, After: &after, Load: Load{Outcomes: Outcomes{Succeeded: 10}}, Interleave: &Interleave{}}
	pause := func(slice, used time.Duration, threads *ThreadTime) string {
		step.Interleave.Wait(slice, at(0, &ThreadTime{}), at(used.Milliseconds(), threads))
		cpu, _ := step.CPU()
		of, ended, _ := step.ThreadTime()
		return all(cpu, step.Interleave.WaitedCPU, of, ended)
	}
	ms, none := time.Millisecond, time.Second-Duration(800+100+50+10)
	plain := *kinds(800, 100, 50, 10)
	check(t, fact{"2%", pause(500*ms, 10*ms, kinds(9, 9, 9, 9)), all(time.Second, 10*ms, plain, none)},
		fact{"more", pause(500*ms, 11*ms, kinds(1, 2, 3, 4)), all(1011*ms, 21*ms, *kinds(801, 102, 53, 14), none+11*ms-10)},
		fact{"another, threads not known", pause(0, ms, nil), all(1012*ms, 22*ms, *kinds(801, 102, 53, 14), none+12*ms-10)})
	cpus, _ := step.CPUs()
	each, _ := step.CPUPerRequest()
	check(t, fact{"in use: of the slices alone", cpus, .1}, fact{"per request", each, 1012 * ms / 10})
}
