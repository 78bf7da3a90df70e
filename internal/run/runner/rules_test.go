package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

const ms = time.Millisecond

// periodic counts the periods of its CPU quota, of which one begins at begins.
type periodic struct {
	*fakeInstance
	begins time.Time
	source string
}

func (p periodic) Usage(context.Context) (bench.Usage, error) {
	now := time.Now()
	return bench.Usage{At: now, Source: p.source, Throttling: &bench.Throttling{Periods: int64(now.Sub(p.begins) / quotaPeriod)}}, nil
}

// TestPeriods: slices of a contender with an enforced quota begin with its periods, where these can be seen.
func TestPeriods(t *testing.T) {
	limited := bench.InstanceInfo{LimitsEnforced: true, Limits: bench.Limits{CPUs: .5}}
	for name, c := range map[string]struct {
		info    bench.InstanceInfo
		source  string
		limited bool
		known   bool
	}{
		"a quota":       {limited, "cgroup v2", true, true},
		"not a group":   {limited, "/proc", true, false},
		"not enforced":  {bench.InstanceInfo{Limits: limited.Limits}, "cgroup v2", false, false},
		"without limit": {bench.InstanceInfo{LimitsEnforced: true}, "cgroup v2", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inst := periodic{newFakeInstance(c.info), time.Now().Add(-137 * ms), c.source}
				var p periods
				p.find(t.Context(), inst)
				p.look.Wait()
				testenv.Equal(t, p.limited, c.limited)
				if testenv.Equal(t, !p.began.IsZero(), c.known); c.known {
					off := p.began.Sub(inst.begins) % quotaPeriod
					testenv.Check(t, off < ms || off > quotaPeriod-ms, "%v next to the beginning of a period", off)
				}
			})
		})
	}
	// One that is idle, and counts none, is looked at for a second.
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var p periods
		p.find(t.Context(), periodic{newFakeInstance(limited), time.Time{}, "cgroup v2"})
		p.look.Wait()
		testenv.Equal(t, p.began.IsZero(), true)
		testenv.Equal(t, time.Since(began).Round(10*ms), periodPatience)
	})
}

func TestPeriods_Align(t *testing.T) {
	began := time.Now()
	for at, want := range map[time.Duration]time.Duration{
		0: 0, 2 * ms: 0, 2*ms + 1: 100 * ms, 30 * ms: 100 * ms, 100 * ms: 100 * ms, 102 * ms: 100 * ms, 103 * ms: 200 * ms, 1000 * ms: 1000 * ms,
	} {
		testenv.Equal(t, (&periods{began: began}).align(began.Add(at)).Sub(began), want, at)
		testenv.Equal(t, (&periods{}).align(began.Add(at)).Sub(began), at, "not known")
	}
}

// rotationOf returns a rotation of n slots.
func rotationOf(n int, length time.Duration) *rotation {
	r := &rotation{length: length}
	for i := range n {
		r.slots = append(r.slots, &slot{rotation: r, number: i, label: fmt.Sprint(i), trial: bench.Trial{Contender: string(rune('a' + i))}})
	}
	return r
}

// TestRotation_Order: from the first to the last and back; the one at either end is loaded twice in a row.
func TestRotation_Order(t *testing.T) {
	for n, want := range map[int]string{2: "0 1 1 0 0 1 1 0", 3: "0 1 2 2 1 0 0 1"} {
		r := rotationOf(n, time.Second)
		var order, rows []string
		for at := range 8 {
			r.at = at
			active := r.active(at)
			order = append(order, fmt.Sprint(active))
			rows = append(rows, fmt.Sprint(r.slots[active].inRow()))
		}
		testenv.Equal(t, strings.Join(order, " "), want)
		for i := range 7 {
			testenv.Equal(t, rows[i] == "2", order[i] == order[i+1], n, i)
		}
	}
}

// TestInterleaving_Length: whole periods of a quota, at least two seconds if they cannot be seen; twice that in a row.
func TestInterleaving_Length(t *testing.T) {
	seen := time.Now()
	for _, c := range []struct {
		length, want time.Duration
		limited      bool
		began        time.Time
	}{
		{130 * ms, 130 * ms, false, time.Time{}}, {130 * ms, 200 * ms, true, seen}, {200 * ms, 200 * ms, true, seen},
		{201 * ms, 300 * ms, true, seen}, {130 * ms, 2 * time.Second, true, time.Time{}}, {3 * time.Second, 3 * time.Second, true, time.Time{}},
	} {
		r := rotationOf(2, c.length)
		p := &r.slots[0].periods
		p.limited, p.began = c.limited, c.began
		i := &interleaving{slot: r.slots[0]}
		testenv.Equal(t, i.Length(), c.want, c.length)
		r.at = 3 // 0 follows 0
		testenv.Equal(t, i.Length(), 2*c.want, c.length)
	}
}

// TestInterleaving_Alternate: contenders of an open loop that use much of their quota are loaded one after the
// other; the first reason counts, and the slowest iteration of all.
func TestInterleaving_Alternate(t *testing.T) {
	for _, c := range []struct {
		open    bool
		ofQuota float64
		want    string
	}{{true, .7, ""}, {true, .71, "0: its rate takes most of its CPU quota"}, {false, 1, ""}} {
		r := rotationOf(2, time.Second)
		i := &interleaving{slot: r.slots[0], open: c.open, read: &readings{ofQuota: c.ofQuota}}
		i.vote()
		testenv.Equal(t, i.why(), c.want)
		testenv.Equal(t, i.Alternating(), c.want != "")
		(&interleaving{slot: r.slots[1]}).Alternate("late")
		if c.want == "" {
			testenv.Equal(t, i.why(), "1: late")
		} else {
			testenv.Equal(t, i.why(), c.want)
		}
		testenv.Equal(t, i.Fit(3*ms), 3*ms)
		testenv.Equal(t, (&interleaving{slot: r.slots[1]}).Fit(2*ms), 3*ms)
		// The next load has the hint of the one before.
		next, record := r.slots[0].interleave(t.Context(), 1, bench.Step{Rate: 1}, &readings{})
		testenv.Equal(t, next.Fit(0), 3*ms)
		testenv.Equal(t, next.Alternating(), false)
		testenv.Equal(t, record.With, []string{"1"})
	}
}

// TestSoon: the trials of the round that start after an interleaved one.
func TestSoon(t *testing.T) {
	a, b, c, d := bench.Selection{Contender: "a"}, bench.Selection{Contender: "b"}, bench.Selection{Contender: "c"}, bench.Selection{Contender: "d"}
	r := &runner{broken: map[bench.Selection]error{b: errNotBuilt}, neverReady: map[bench.Selection]int{a: 1, c: 1}, unmigrated: map[bench.Selection]int{}}
	all := rotationOf(4, 0)
	names := func(s *slot) (text string) {
		for _, trial := range r.soon(s) {
			text += trial.Contender
		}
		return text
	}
	testenv.Equal(t, names(nil), "")
	testenv.Equal(t, names(all.slots[0]), "d")
	r.cfg.RetryNotReady = true
	testenv.Equal(t, names(all.slots[0]), "cd")
	r.cfg.RetryNotReady, r.unmigrated[d] = false, 1
	testenv.Equal(t, names(all.slots[0])+names(all.slots[3]), "")
}

// TestIncidents: one that is reported twice counts once, and no more than 200 of a trial are kept.
func TestIncidents(t *testing.T) {
	f := start(t, func(f *fakeRun) {
		f.only(1)
		f.cfg.Run.Profile.Steps = f.cfg.Run.Profile.Steps[:1]
		f.load(1, func(ctx context.Context) (bench.Load, error) {
			paused := bench.Incident{Kind: bench.IncidentPaused, Text: "paused"}
			for _, in := range []bench.Incident{paused, paused, {Kind: bench.IncidentSilent, Text: "paused"}, {Kind: bench.IncidentSilent, Text: "other"}, paused} {
				f.launcher.onIncident(in)
			}
			for n := range maxIncidents {
				f.launcher.onIncident(bench.Incident{Kind: bench.IncidentPaused, Text: fmt.Sprint(n)})
			}
			return good(ctx, bench.Step{})
		})
	})
	trial := f.first()
	testenv.Equal(t, len(trial.Incidents), maxIncidents)
	var got []string
	for _, in := range trial.Incidents[:5] {
		got = append(got, in.Text)
	}
	testenv.Equal(t, got, []string{"paused", "paused", "other", "paused", "0"})
	warned := trial.Steps[0].Warnings
	testenv.Equal(t, warned[len(warned)-1].Text, "and 190 more incidents")
}

// TestLost: what a trial has not measured.
func TestLost(t *testing.T) {
	steps := []bench.Step{{Name: "one"}, {Name: "two"}, {Name: "three"}}
	done, cut := bench.StepResult{}, &bench.StepResult{Index: 1, Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 5}}}
	long := &bench.StepResult{Index: 2, Load: bench.Load{Elapsed: time.Second}}
	search := func(context.Context, bench.Trial, []bench.StepResult) (s bench.Step, ok bool) { return s, ok }
	for name, c := range map[string]struct {
		done int
		cut  *bench.StepResult
		next func(context.Context, bench.Trial, []bench.StepResult) (bench.Step, bool)
		want string
	}{
		"all": {done: 3, want: "nothing"}, "none": {want: "one two three"}, "in the second": {1, cut, nil, "three, in step 1 with 5 after -"},
		"in the last": {2, long, nil, ", in step 2 with 0 after 1s"}, "of a search": {1, cut, search, ", in step 1 with 5 after -"}, "a search": {1, nil, search, "nothing"},
	} {
		l := &trialRun{cfg: &Config{Run: bench.Run{Profile: bench.Profile{Steps: steps}}, Next: c.next}, steps: slices.Repeat([]bench.StepResult{done}, c.done), cut: c.cut}
		got := "nothing"
		if lost := l.lost(); lost != nil {
			got = strings.Join(lost.Steps, " ")
			if lost.Step != nil {
				after := "-"
				if lost.After != nil {
					after = lost.After.String()
				}
				got += fmt.Sprintf(", in step %d with %d after %s", *lost.Step, lost.Responses, after)
			}
		}
		testenv.Equal(t, got, c.want, name)
	}
}

// TestSamplesOfAStep: readings before the measured interval are of its lead-in, those from its start to its end are its own.
func TestSamplesOfAStep(t *testing.T) {
	at := func(s int) bench.Usage { return bench.Usage{At: time.Unix(int64(s), 0)} }
	of := func(all []bench.Usage) (text string) {
		for _, u := range all {
			text += fmt.Sprint(u.At.Unix())
		}
		return text
	}
	all := func() []bench.Usage { return []bench.Usage{at(1), at(2), at(3), at(4)} }
	two, three := at(2), at(3)
	testenv.Equal(t, of(before(all(), &two)), "1")
	testenv.Equal(t, of(before(all(), nil)), "1234")
	testenv.Equal(t, of(within(all(), &two, &three)), "23")
	testenv.Equal(t, of(within(all(), nil, nil)), "1234")
}

// TestSampling: of the readings in slices those are kept that are a second or more apart.
func TestSampling(t *testing.T) {
	at := func(d time.Duration) bench.Usage {
		return bench.Usage{At: time.Unix(0, 0).Add(d), ThreadCPU: map[int]time.Duration{1: 1}}
	}
	first := at(0)
	published := 0
	r := &readings{res: &bench.StepResult{Before: &first}, publish: func(bench.Usage, *bench.HostReading) { published++ }}
	for _, d := range []time.Duration{999 * ms, time.Second, 1999 * ms, 2 * time.Second} {
		r.sample(at(d), nil)
	}
	testenv.Equal(t, len(r.res.Samples), 2)
	testenv.Equal(t, published, 2)
	testenv.Check(t, r.res.Samples[0].ThreadCPU == nil, "threads in %+v", r.res.Samples[0])
}

// TestWarmOn: a warm-up continues while compilers are at work, and until enough requests were served without them.
func TestWarmOn(t *testing.T) {
	res := func(compiled time.Duration, served int64, aborted string) bench.StepResult {
		usage := func(cpu, compiled time.Duration) *bench.Usage {
			return &bench.Usage{At: time.Unix(0, int64(cpu)), CPU: cpu, ThreadTime: &bench.ThreadTime{Compiled: compiled}}
		}
		return bench.StepResult{Step: bench.Step{WarmUp: true, UntilWarm: true, Duration: warmUpPart}, Aborted: aborted, Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: served}},
			Before: usage(0, 1), After: usage(time.Second, 1+compiled)}
	}
	cold, warm := time.Second/2, time.Duration(0)
	for name, c := range map[string]struct {
		warmed time.Duration
		idle   int   // parts so far
		served int64 // in them
		next   bool  // another warm-up follows
		all    []bench.StepResult
		want   bool
	}{
		"cold":                   {all: []bench.StepResult{res(cold, 9000, "")}, want: true},
		"warm, few requests":     {all: []bench.StepResult{res(warm, 1999, "")}, want: true},
		"warm":                   {all: []bench.StepResult{res(warm, 2000, "")}},
		"warm in all":            {served: 1500, all: []bench.StepResult{res(warm, 500, "")}},
		"warm, the third part":   {idle: 2, all: []bench.StepResult{res(warm, 1, "")}},
		"another one is cold":    {idle: 2, all: []bench.StepResult{res(warm, 9000, ""), res(cold, 9000, "")}, want: true},
		"the slowest one counts": {all: []bench.StepResult{res(warm, 1999, ""), res(warm, 9000, "")}, want: true},
		"aborted":                {all: []bench.StepResult{res(cold, 1, "skipped")}},
		"the longest":            {warmed: maxWarmUp - 2*warmUpPart, all: []bench.StepResult{res(cold, 1, "")}, want: true},
		"too long":               {warmed: maxWarmUp - 2*warmUpPart + 1, all: []bench.StepResult{res(cold, 1, "")}},
		"another follows":        {next: true, all: []bench.StepResult{res(cold, 1, "")}},
		"without compilers":      {all: []bench.StepResult{{Step: bench.Step{UntilWarm: true, Duration: warmUpPart}}}},
	} {
		l := &trialRun{cfg: &Config{Run: bench.Run{Profile: bench.Profile{Steps: []bench.Step{{WarmUp: true}, {WarmUp: c.next}}}}}, warmed: c.warmed, idle: c.idle, served: c.served}
		testenv.Equal(t, l.warmOn(0, c.all), c.want, name)
	}
}

// TestEarlierWarnings: of the parts of a warm-up each kind of warning is kept once, from the last one that has it.
func TestEarlierWarnings(t *testing.T) {
	got := withEarlier(bench.Warnings{{Kind: "a", Text: "new"}}, bench.Warnings{{Kind: "a", Text: "old"}, {Kind: "b", Text: "other"}})
	testenv.Equal(t, got.Join(", "), "new, other")
}

// TestControls_Refused: what has no effect now is said, and why.
func TestControls_Refused(t *testing.T) {
	a := bench.Selection{Contender: "a"}
	trial, step := &bench.Trial{Contender: "a"}, &controlledStep{}
	both := []*controlled{{}, {}}
	for _, c := range []struct {
		kind bench.ControlKind
		s    *steering
		want string
	}{
		{bench.ControlPause, &steering{}, ""}, {bench.ControlPause, &steering{hold: true, stop: true}, "already paused, or pausing after this step"},
		{bench.ControlPause, &steering{over: true}, "not paused: the run is ending"}, {bench.ControlPause, &steering{stop: true}, "not paused: the run is ending"},
		{bench.ControlResume, &steering{}, "cannot resume: the run is not paused"}, {bench.ControlResume, &steering{hold: true}, ""},
		{bench.ControlSkipStep, &steering{}, "cannot skip: no step is running"}, {bench.ControlSkipStep, &steering{running: &controlled{step: step}}, ""},
		{bench.ControlSkipStep, &steering{running: &controlled{step: &controlledStep{skip: true}}}, "already skipping this step"},
		{bench.ControlSkipContender, &steering{}, "cannot skip: no contender is running"}, {bench.ControlSkipContender, &steering{running: &controlled{trial: trial}, shared: both[:1]}, ""},
		{bench.ControlSkipContender, &steering{running: &controlled{trial: trial}, shared: both}, "cannot skip: contenders are interleaved"},
		{bench.ControlSkipContender, &steering{running: &controlled{trial: trial}, skipped: map[bench.Selection]bool{a: true}}, "already skipping this contender"},
		{bench.ControlStop, &steering{}, ""}, {bench.ControlStop, &steering{stop: true, over: true}, "the run is already stopping"},
		{bench.ControlStop, &steering{over: true}, "nothing to stop: the run is ending"}, {bench.ControlAbort, &steering{over: true, stop: true}, ""},
	} {
		s := c.s
		if s.running == nil {
			s.running = &controlled{}
		}
		why, obey := s.consider(bench.Control{Kind: c.kind})
		testenv.Equal(t, why, c.want, c.kind)
		testenv.Check(t, obey != nil, "%s: no effect", c.kind)
	}
}

// TestPeak: a step at a share of a peak has that of its trial, or the lowest of all contenders.
func TestPeak(t *testing.T) {
	own := bench.StepResult{Step: bench.Step{Connections: 1}, Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 900}, Elapsed: time.Second}}
	l := &trialRun{cfg: &Config{}, steps: []bench.StepResult{own}}
	testenv.Equal(t, l.peak(bench.Step{LowestPeak: true}), 900)
	l.peaks = map[bench.Selection]float64{{Contender: "a"}: 900, {Contender: "b"}: 300}
	testenv.Equal(t, l.peak(bench.Step{LowestPeak: true}), 300)
	testenv.Equal(t, l.peak(bench.Step{}), 900)
}

// TestExplanations: the log explains an exit that the kernel did not force, and a cause from outside the failure of one that runs.
func TestExplanations(t *testing.T) {
	l := &trialRun{inst: newFakeInstance(bench.InstanceInfo{}), logs: &logRelay{}}
	testenv.Contains(t, l.explained(&bench.Exit{Code: 1}).Said, "OutOfMemoryError")
	testenv.Equal(t, l.explained(&bench.Exit{Signal: "SIGKILL"}).Said+l.explained(&bench.Exit{OOMKilled: true}).Said, "")
	refused := errors.New("refused")
	err, known := l.withCause(t.Context(), refused)
	testenv.Check(t, err == refused && !known, "%v, %t", err, known)
	l.inst = frozen{newFakeInstance(bench.InstanceInfo{})}
	err, known = l.withCause(t.Context(), refused)
	testenv.Check(t, errors.Is(err, refused) && known && strings.HasSuffix(err.Error(), ": frozen"), "%v, %t", err, known)
	for _, c := range []struct {
		info bench.InstanceInfo
		want int64
	}{{bench.InstanceInfo{Limits: bench.Limits{Memory: 5}}, 0}, {bench.InstanceInfo{LimitsEnforced: true, Limits: bench.Limits{Memory: 5}}, 5}} {
		testenv.Equal(t, (&trialRun{inst: newFakeInstance(c.info)}).memoryLimit(), c.want)
	}
}

// frozen is an instance whose kernel knows why it does not respond.
type frozen struct{ *fakeInstance }

func (frozen) Diagnose(context.Context) string { return "frozen" }
