package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// TestCause: what ended the trial is its cause, never what happened earlier.
func TestCause(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	info := &InstanceInfo{StartedAt: start, Limits: Limits{Memory: 256 << 20}, LimitsEnforced: true}
	at := start.Add(41 * time.Second)
	silent := &Cause{Kind: CauseSilent, Text: "did not respond after the load"}
	for name, test := range map[string]struct {
		trial           TrialResult
		kind            CauseKind
		text, predicate string
	}{
		"killed": {
			TrialResult{State: TrialFailed, Instance: info, Exit: &Exit{At: at, Code: 137, Signal: "SIGKILL", OOMKilled: true}},
			CauseKilled, "killed out of memory at 256 MiB (limits.memory), 41.0 s after its start",
			"was killed out of memory at 256 MiB (limits.memory), 41.0 s after its start",
		},
		"killed without a limit": {TrialResult{State: TrialFailed, Exit: &Exit{OOMKilled: true}}, CauseKilled,
			"killed out of memory", "was killed out of memory"},
		"exited": {
			TrialResult{State: TrialFailed, Instance: info, Exit: &Exit{At: at, Code: 7}},
			CauseExited, "the contender died: exit code 7, 41.0 s after its start", "died: exit code 7, 41.0 s after its start",
		},
		"silent": {TrialResult{State: TrialFailed, Cause: silent}, CauseSilent, silent.Text, silent.Text},
		"not ready": {TrialResult{State: TrialFailed, Cause: &Cause{Kind: CauseNotReady, Text: "not ready after 10s: GET /"}},
			CauseNotReady, "not ready after 10s: GET /", "was not ready after 10s: GET /"},
		"silent, then killed on stop": {TrialResult{State: TrialFailed, Cause: silent, Exit: &Exit{Code: 137}}, CauseSilent,
			silent.Text, silent.Text},
		"a need that ended":                      {trial: TrialResult{State: TrialFailed, Exit: &Exit{Code: 1}, Cause: &Cause{Kind: CauseNeed, Text: "lost db: it has ended"}}},
		"an earlier silence of a complete trial": {trial: TrialResult{State: TrialComplete, Cause: silent}},
		"an incident before another failure": {trial: TrialResult{State: TrialFailed, Failure: "build",
			Incidents: []Incident{{Kind: IncidentSilent, Text: "no response: frozen"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := test.trial.WhyFailed()
			if c == nil {
				c = &Cause{}
			}
			testenv.Check(t, c.Kind == test.kind && c.String() == test.text && c.Predicate() == test.predicate,
				"%q, %q, %q", c.Kind, c, c.Predicate())
		})
	}
}

// TestExclusionNamesTheCauseFirst: whatever else was wrong with the contender, the cause comes
// first, the gravest of all rounds; checks and errors that follow from it are left out.
func TestExclusionNamesTheCauseFirst(t *testing.T) {
	failing := StepResult{Load: Load{Outcomes: Outcomes{Failed: map[ErrorKind]int64{ErrRefused: 36}, Succeeded: 964}}}
	unexpected := StepResult{Load: Load{Outcomes: Outcomes{Failed: map[ErrorKind]int64{ErrWrong: 3}, Succeeded: 964, Checked: 114}}}
	trial := func(e *Exit, c *Cause, steps ...StepResult) TrialResult {
		return TrialResult{State: TrialFailed, Exit: e, Cause: c, Steps: steps,
			Checks: []CheckResult{{Group: "lifecycle", Name: "stops", Status: CheckFailed}}}
	}
	killed, silent := &Exit{OOMKilled: true}, &Cause{Kind: CauseSilent, Text: "did not respond"}
	for name, test := range map[string]struct {
		trials []TrialResult
		want   string
	}{
		"errors":            {[]TrialResult{trial(killed, nil, failing)}, "was killed out of memory"},
		"unexpected bodies": {[]TrialResult{trial(killed, nil, unexpected)}, "was killed out of memory, and sent unexpected bodies: 3 of 114"},
		"graver later":      {[]TrialResult{trial(nil, silent), trial(&Exit{Code: 7}, nil), trial(killed, nil), trial(nil, silent)}, "was killed out of memory"},
		"a need that ended": {[]TrialResult{trial(nil, &Cause{Kind: CauseNeed, Text: "lost db"}, failing, unexpected)}, ""},
		"without a cause":   {[]TrialResult{trial(nil, nil, failing)}, "failed 1 of 1 check, and failed at least 3.6%"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run{}
			for _, trial := range test.trials {
				r.Trials = append(r.Trials, TrialEntry{Trial: Trial{Contender: "a"}, State: trial.State, Excluded: r.ExclusionOf(trial)})
			}
			all := r.Excluded()
			if test.want == "" && len(all) == 0 {
				return
			}
			testenv.Check(t, len(all) == 1 && strings.HasPrefix(all[0].String(), test.want) && (test.want != "was killed out of memory" || all[0].String() == test.want),
				"%v, want %q", all, test.want)
		})
	}
}

// TestKilledProcessesAsCause: a contender of several processes continues to run, so it was not
// killed itself. A limit is named only where it is enforced.
func TestKilledProcessesAsCause(t *testing.T) {
	info := &InstanceInfo{Limits: Limits{Memory: 256 << 20}}
	for enforced, want := range map[bool]string{
		true:  "lost 2 processes, killed out of memory at 256 MiB (limits.memory), first in step 3",
		false: "lost 2 processes, killed out of memory, first in step 3",
	} {
		info.LimitsEnforced = enforced
		c := KilledProcesses(2, 3, info)
		testenv.Check(t, c.Predicate() == want && c.String() == want && c.Kind == CauseKilled, "%+v, want %q", c, want)
		if c := CauseOf(Exit{OOMKilled: true}, info); strings.Contains(c.Text, "256 MiB") != enforced {
			t.Errorf("enforced %v: %q", enforced, c.Text)
		}
	}
	c := KilledProcesses(1, 3, info)
	testenv.Check(t, strings.HasPrefix(c.Text, "lost 1 process, "), "%q", c.Text)
	at := time.Unix(5, 0)
	testenv.Equal(t, CauseOf(Exit{Code: 1, At: at}, &InstanceInfo{StartedAt: at}).Text, "exit code 1", "at its start")
	if c := CauseOf(Exit{Code: 1, Said: "no database"}, nil); c.String() != "the contender died: exit code 1: no database" {
		t.Errorf("%q", c)
	}
	a, b := &Cause{Kind: CauseExited, Text: "a"}, &Cause{Kind: CauseExited, Text: "b"}
	testenv.Check(t, graver(a, b) == a, "of two alike the first is named")
}

// A path of the profile is shown unchanged, and no folder above what it has in common with
// the profile.
func TestPathOfTheProfile(t *testing.T) {
	for _, c := range []struct{ profile, path, want string }{
		{"/home/u/svc/bench.yaml", "/home/u/svc/mut/bug4/bookings", "mut/bug4/bookings"},
		{"/home/u/svc/bench.yaml", "/home/u/base/bookings", "../base/bookings"},
		{"/home/u/svc/bench.yaml", "/home/v/bookings", "../../v/bookings"},
		{"/home/u/svc/bench.yaml", "/tmp/secret/bookings", "bookings"},
		{"", "/home/u/svc/bookings", "bookings"},
		{"quick", "/home/u/svc/bookings", "bookings"},
		{"/bench.yaml", "/", "/"},
		{"/home/u/svc/bench.yaml", "bookings", "bookings"},
		{"/home/u/svc/bench.yaml", "", ""},
	} {
		got := (Run{ProfileFile: c.profile}).Path(c.path)
		testenv.Check(t, got == c.want, "%s of %s: %q, want %q", c.path, c.profile, got, c.want)
	}
}

func TestOutcome(t *testing.T) {
	trials := func(states ...TrialState) (all []TrialEntry) {
		for i, s := range states {
			all = append(all, TrialEntry{Trial: Trial{Contender: []string{"b", "a"}[i%2], Round: i/2 + 1}, State: s})
		}
		return all
	}
	several := func(n int, entry TrialEntry) (all []TrialEntry) {
		for i := range n {
			entry.Trial = Trial{Contender: string(rune('a' + i)), Round: 1}
			all = append(all, entry)
		}
		return all
	}
	dead, mixes := TrialEntry{State: TrialFailed}, TrialEntry{State: TrialComplete, Excluded: &Exclusion{FailedChecks: 1, Checks: 2}}
	const check = " failed 1 of 2 checks"
	for _, c := range []struct {
		state  RunState
		trials []TrialEntry
		want   string
	}{
		{RunComplete, trials(TrialComplete, TrialComplete), "complete"},
		{RunComplete, trials(TrialComplete, TrialFailed), "complete; failed: a"},
		{RunFailed, trials(TrialComplete, TrialFailed), "complete; failed: a"},
		{RunComplete, trials(TrialFailed, TrialComplete, TrialComplete, TrialFailed), "complete; failed: a in 1 of 2 rounds, b in 1 of 2 rounds"},
		{RunFailed, trials(TrialFailed, TrialFailed), "failed: a, b"},
		{RunFailed, trials(TrialComplete, TrialAborted), "failed"}, // a threshold has ended it
		{RunFailed, trials(TrialComplete, TrialFailed, TrialPending, TrialPending), "failed: a in 1 of 2 rounds"},
		{RunInterrupted, trials(TrialFailed, TrialAborted), "interrupted; failed: b"},
		{RunRunning, trials(TrialComplete, TrialRunning), "running"},
		{RunFailed, nil, "failed"},
		{RunFailed, several(3, dead), "failed: a, b, c"}, {RunFailed, several(4, dead), "failed: 4 contenders"},
		{RunComplete, several(3, mixes), "complete; a" + check + "; b" + check + "; c" + check},
		{RunComplete, several(4, mixes), "complete; 4 contenders excluded"},
	} {
		testenv.Equal(t, (Run{State: c.state, Trials: c.trials}).OutcomeText(), c.want)
	}
}

// A contender that failed, and is excluded for that, is one that failed.
func TestOutcomeCounts(t *testing.T) {
	entry := func(name string, state TrialState, e *Exclusion) TrialEntry {
		return TrialEntry{Trial: Trial{Contender: name, Round: 1}, State: state, Excluded: e}
	}
	right := entry("right", TrialComplete, nil)
	killed := entry("killed", TrialFailed, &Exclusion{Cause: &Cause{Kind: CauseKilled}})
	mixes := entry("mixes", TrialComplete, &Exclusion{Unexpected: &Unexpected{Count: 1, Compared: 50}})
	for want, trials := range map[string][]TrialEntry{
		"": {right}, "1 failed": {right, killed}, "1 excluded": {right, mixes}, "1 failed, 1 excluded": {killed, mixes},
	} {
		testenv.Equal(t, (Run{State: RunComplete, Trials: trials}).OutcomeCounts(), want)
	}
}

func TestControl(t *testing.T) {
	changed := func(kinds ...ControlKind) (r TrialResult) {
		for _, k := range kinds {
			r.ManualChanges = append(r.ManualChanges, ManualChange{Control: Control{Kind: k}})
		}
		return r
	}
	check(t,
		fact{"words", ControlSkipStep.Words(), "skip step"}, fact{"skip", Control{Kind: ControlSkipStep}.Validate(), nil},
		fact{"unknown", Control{Kind: "x"}.Validate(), `unknown control "x"`},
		fact{"a rate", Control{Kind: "rate"}.Validate(), `unknown control "rate"`},
		fact{"by hand", changed(ControlPause).ChangedByHand(), true}, fact{"nothing", changed().ChangedByHand(), false},
	)
}

// The program is asked to stop, and killed after the grace period, or as soon as that makes sense.
func TestTerminate(t *testing.T) {
	const grace, sec = 5 * time.Second, time.Second
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		exitAfter, code int           // s after SIGTERM; -1: only when killed
		reported        time.Duration // from the end until it is reported
		killedAfter     time.Duration // from SIGKILL to the end
		force           time.Duration
		ask, kill       error
		want            StopResult
		err             string
	}{
		"graceful":        {exitAfter: 2, want: StopResult{Took: 2 * sec, Graceful: true}},
		"at once":         {exitAfter: 0, reported: sec, want: StopResult{Took: sec, Graceful: true}},
		"by the signal":   {exitAfter: 2, code: 143, want: StopResult{Took: 2 * sec}},
		"reported late":   {exitAfter: 2, reported: sec, want: StopResult{Took: 2 * sec, Graceful: true}},
		"killed":          {exitAfter: -1, want: StopResult{Took: grace, Killed: true}},
		"killed slowly":   {exitAfter: -1, killedAfter: 9 * sec, want: StopResult{Took: 14 * sec, Killed: true}},
		"never ends":      {exitAfter: -1, killedAfter: time.Hour, want: StopResult{Killed: true}, err: "still running 10s after SIGKILL"},
		"forced":          {exitAfter: -1, force: 3 * sec, want: StopResult{Took: 3 * sec, Killed: true, Forced: true}},
		"has no signal":   {exitAfter: -1, ask: errors.ErrUnsupported, want: StopResult{Killed: true}},
		"refuses to ask":  {exitAfter: -1, ask: refused, err: "refused"},
		"refuses to kill": {exitAfter: -1, kill: refused, want: StopResult{Killed: true}, err: "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			var got StopResult
			var err error
			synctest.Test(t, func(t *testing.T) {
				exited, force := make(chan struct{}), make(chan struct{})
				var exit Exit
				end := func(after time.Duration) {
					time.AfterFunc(after, func() {
						exit = Exit{At: time.Now(), Code: test.code}
						time.AfterFunc(test.reported, func() { close(exited) })
					})
				}
				ask := func() error {
					if test.exitAfter >= 0 {
						end(time.Duration(test.exitAfter) * sec)
					}
					return test.ask
				}
				kill := func() error {
					if test.kill == nil && test.killedAfter <= KillTimeout {
						end(test.killedAfter)
					}
					return test.kill
				}
				if test.force > 0 {
					time.AfterFunc(test.force, func() { close(force) })
				}
				ctx := context.WithoutCancel(WithForce(t.Context(), force))
				got, err = Stopping{exited, func() *Exit { return &exit }, ask, kill}.Terminate(ctx, grace)
				testenv.Check(t, err != nil || got.Exit == exit, "exit %+v, want %+v", got.Exit, exit)
			})
			got.Exit = Exit{}
			check(t, fact{"result", got, test.want}, fact{"error", err, cmp.Or(test.err, "<nil>")})
		})
	}
	ended := make(chan struct{})
	close(ended)
	got, err := Stopping{Exited: ended, Exit: func() *Exit { return &Exit{Code: 3} }}.Terminate(t.Context(), grace)
	check(t, fact{"ended before", got, StopResult{ExitedBeforeStop: true, Exit: Exit{Code: 3}}}, fact{"error", err, nil},
		fact{"never forced", Forced(t.Context()) == nil, true})
}

func TestDrift(t *testing.T) {
	trend := func(change float64) string { return Trend{Change: change}.String() }
	// from a start of b to an end of e, as multiples of the mean
	from := func(b, e float64) string { return trend(2 * (e - b) / (e + b)) }
	both := func(throughput, cpu float64) Drift {
		return Drift{Throughput: &Trend{Change: throughput}, CPU: &Trend{Change: cpu}}
	}
	drifting := func(d *Drift) StepResult {
		return StepResult{Drift: d, Load: Load{Warnings: Warnings{{Text: "load"}}}, Warnings: Warnings{{Text: "step"}}}
	}
	up, down, machine := both(.12, -.031), both(-1, .12), both(-.1, .1)
	machine.Machine = true
	check(t,
		fact{"up", trend(.031), "rose by 3.1%"}, fact{"up more", trend(.12), "rose by 13%"}, fact{"no change", trend(0), "rose by 0.0%"},
		fact{"fivefold", from(1, 5), "rose by 400%"}, fact{"nearly tenfold", from(1, 9.9), "rose by 890%"},
		fact{"a little more than tenfold", from(1, 10.1), "rose over 10×"}, fact{"from below 0", trend(2.5), "rose over 10×"},
		fact{"down", trend(-.031), "fell by 3.1%"}, fact{"down more", trend(-.12), "fell by 11%"}, fact{"to a fifth", from(5, 1), "fell by 80%"},
		fact{"nearly to a tenth", from(9.9, 1), "fell by 90%"}, fact{"below a tenth", from(10.1, 1), "fell over 90%"},
		fact{"faster", up, "still warming up: throughput rose by 13% and CPU time per request fell by 3.1% over the step"},
		fact{"slower", down, "unstable: throughput fell by 67% and CPU time per request rose by 13% over the step"},
		fact{"CPU alone", Drift{CPU: &Trend{Change: -.12}}, "still warming up: CPU time per request fell by 11% over the step"},
		fact{"compiled", Drift{Compiled: .314}, "still warming up: compilers took 31% of its CPU time in the second half of the step"},
		fact{"the machine", Drift{Throughput: &Trend{Change: -.1}, Machine: true},
			"the machine changed: throughput fell by 9.5% over the step, as with the contenders next to it"},
		fact{"the machine is not its own", (&Drift{Machine: true}).Own(), false}, fact{"none is not its own", (*Drift)(nil).Own(), false},
		fact{"a drift is its own", up.Own(), true},
		fact{"throughput alone", Drift{Throughput: &Trend{Change: .12}}.Name(), StillWarmingUp},
		fact{"neither", both(0, 0).Name(), Unstable}, fact{"only less throughput", Drift{Throughput: &Trend{Change: -.1}}.Name(), Unstable},
		fact{"warnings", drifting(nil).AllWarnings(), "[load step]"},
		fact{"first", drifting(&up).AllWarnings()[0], Warning{Kind: WarnWarmingUp, Text: up.String()}},
		fact{"the machine's", drifting(&machine).AllWarnings()[0].Kind, WarnMachineChanged},
		fact{"also first", drifting(&down).AllWarnings()[0], Warning{Kind: WarnDrifting, Text: down.String()}},
	)
}

func TestWarning_JSON(t *testing.T) {
	late := map[string]float64{"late": 5}
	for name, test := range map[string]struct {
		in   string
		want Warning
		out  string // "": as it came in
	}{
		"typed":                    {`{"kind":"late","text":"5 late","values":{"late":5}}`, Warning{WarnLate, "5 late", late}, ""},
		"values without a kind":    {`{"text":"5 late","values":{"late":5}}`, Warning{Text: "5 late", Values: late}, ""},
		"typed, without values":    {`{"kind":"clock_set","text":"x"}`, Warning{Kind: WarnClockSet, Text: "x"}, ""},
		"of a later version":       {`{"kind":"something new","text":"x"}`, Warning{Kind: "something new", Text: "x"}, ""},
		"a text":                   {`"something"`, Warning{Text: "something"}, ""},
		"an object without a kind": {`{"text":"x"}`, Warning{Text: "x"}, `"x"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := Warning{Text: "before"}
			if err := json.Unmarshal([]byte(test.in), &got); err != nil || !reflect.DeepEqual(got, test.want) {
				t.Fatalf("%+v, %v, want %+v", got, err, test.want)
			}
			out, err := json.Marshal(got)
			if want := test.out; err != nil || want == "" && string(out) != test.in || want != "" && string(out) != want {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
	for _, wrong := range []string{`5`, `["x"]`, `{"kind":5}`, `{"text":["x"]}`, ``} {
		testenv.Check(t, new(Warning).UnmarshalJSON([]byte(wrong)) != nil, "%s was read as a warning", wrong)
	}
}

func TestWarnings(t *testing.T) {
	hung, values := Warning{WarnHung, "it hung", map[string]float64{"grace_ns": 5}}, map[string]float64{"x": 1}
	var added Warnings
	for _, w := range (Warnings{{Text: "a"}, {Text: "a"}, {Kind: WarnLate, Text: "a"}, {Text: "a", Values: values}, {Text: "b"}}) {
		added.Add(w)
	}
	once := slices.Clone(added)
	title := func(kind WarningKind) string { return Warning{Kind: kind, Text: "text: 2 of 8"}.Title() }
	check(t,
		fact{"added once", once, "[a a a b]"}, fact{"again", added.Add(Warning{Text: "b"}), false}, fact{"new", added.Add(hung), true},
		fact{"has", added.Has(WarnSteal, WarnHung), true}, fact{"has not", added.Has(WarnSteal), false},
		fact{"joined", added[2:].Join("|"), "a|b|it hung"}, fact{"a notice of a warning", WarningNotice(hung).Warning(), hung},
		fact{"its level", WarningNotice(hung).Level, "warning"}, fact{"title", title(WarnClientBound), "client-bound"},
		fact{"of an incident", title(WarningKind(IncidentPaused)), "contender was paused"}, fact{"without one", title(""), "text: 2 of 8"},
		fact{"of a later version", title("x"), "text: 2 of 8"},
	)
}
