package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestRecord_JSON(t *testing.T) {
	trial := &Trial{Contender: "rs-actix", Variant: "lto", Round: 3}
	at := time.Date(2026, 11, 21, 8, 0, 0, 123, time.UTC)
	up := 12 * time.Millisecond
	for i, e := range []Event{
		RunStarted{Run: Run{ID: "x", Seed: 1<<64 - 1}, Dir: "results/x"},
		Prepared{Needs: []NeedInfo{{Name: "elasticsearch", From: NeedEmbedded}}, Software: Software{Docker: "20.10"}},
		TrialStarted{Number: 1, Of: 6, Service: Service{Name: "rs-actix"}},
		PhaseStarted{Phase: PhaseReady, Note: "note"},
		PhaseEnded{Phase: PhaseReady, Took: up, Err: "no"},
		Progress{Phase: PhaseSeed, Done: 1, Total: 2, Unit: "documents"},
		InstanceStarted{Info: InstanceInfo{ID: "abc", StartedAt: at}},
		InstanceReady{StartUp: up},
		MarkRead{Mark: Mark{Name: "after start-up", Usage: Usage{At: at, CPU: up}}},
		RequestsTimed{FirstRequests: FirstRequests{Request: "city by id", Started: at, First: RequestPhases{New: true, Connect: up, Total: 2 * up}, Kept: []RequestPhases{{Start: up, Err: "reset"}}}},
		CheckDone{Check: CheckResult{Group: "get", Name: "n", Status: CheckFailed, Detail: "\x1b[31m"}},
		StepStarted{Index: 1, Of: 2, Step: Step{Connections: 64, Duration: time.Second}},
		WindowClosed{Index: 1, Window: Window{Succeeded: 5, Failed: map[ErrorKind]int64{ErrTimeout: 2}}},
		UsageRead{Usage: Usage{At: at, Throttling: &Throttling{Periods: 3}}},
		StepEnded{Result: StepResult{Index: 1, Step: Step{KeepRequests: 2}, Load: Load{Outcomes: Outcomes{Succeeded: 9}, KeptOf: 10, Kept: []KeptRequest{
			{Request: "get", Start: -up, Latency: up, Lag: 3, Status: 200, Bytes: 7}, {Request: "get", Status: 429, Rejected: true}, {Error: ErrReset},
		}}}},
		LogLines{Lines: []LogLine{{At: at, Stream: "stderr", Text: "x"}}, Dropped: 4},
		Notice{Level: "warning", Text: "limits not enforced"},
		InstanceStopped{Stop: StopResult{Graceful: true, Took: up}},
		TrialEnded{State: TrialFailed, Failure: "died", Exit: &Exit{At: at, Code: 137, OOMKilled: true}},
		ChangedManually{Control: Control{Kind: ControlPause}, Step: new(int)}, Paused{}, Resumed{Took: 3}, RunEnded{State: RunFailed, Err: "e"},
	} {
		in := Record{Seq: int64(i + 1), At: at, Trial: trial, Event: e}
		data, err := json.Marshal(in)
		testenv.Need(t, err == nil, "%s: %v", EventName(e), err)
		var out Record
		testenv.OK(t, json.Unmarshal(data, &out))
		testenv.Check(t, reflect.DeepEqual(in, out), "%s: came back as %+v, was %+v", EventName(e), out, in)
	}
	for in, want := range map[string]string{
		`5`: "json: ", `{"type":"x","seq":3}`: `event 3 (x): unknown event type "x"`,
		`{"type":"notice","seq":3,"event":5}`: "event 3 (notice): json: ",
	} {
		err := json.Unmarshal([]byte(in), new(Record))
		testenv.Check(t, err != nil && strings.HasPrefix(err.Error(), want), "%s: %v, want %s", in, err, want)
	}
	_, err := json.Marshal(Record{Event: StepEnded{StepResult{Step: Step{Rate: math.NaN()}}}})
	check(t, fact{"a value without JSON", err != nil, true}, fact{"a strange event", EventName(nil), "unknown"})
}

// A trial is the sum of its events.
func TestTrialResult_Apply(t *testing.T) {
	at := time.Unix(5, 0)
	up, step, exit, lost := 9*time.Millisecond, new(3), &Exit{Code: 7}, &Lost{Phase: PhaseLoad}
	first, cause, control := &FirstResponse{Status: 503}, &Cause{Kind: CauseExited}, Control{Kind: ControlPause}
	var got TrialResult
	for i, e := range []Event{
		TrialStarted{Service: Service{Name: "a"}, Artifact: Artifact{Image: "i"}}, InstanceStarted{InstanceInfo{PID: 5}},
		InstanceReady{up, first}, RequestsTimed{FirstRequests{Request: "r"}}, MarkRead{Mark{Name: "m"}}, CheckDone{CheckResult{Name: "c"}},
		StepEnded{StepResult{Index: 3}}, InstanceStopped{StopResult{Killed: true}}, Notice{Level: "warning", Text: "w"},
		Notice{Level: "info", Text: "no warning"}, IncidentOccurred{Incident{Text: "t"}}, ChangedManually{control, step}, Paused{},
		TrialEnded{State: TrialFailed, Failure: "f", Cause: cause, Exit: exit, LastLog: []LogLine{{Text: "l"}}, Lost: lost},
	} {
		got.Apply(at.Add(time.Duration(i)), e)
	}
	check(t, fact{"trial", got, TrialResult{
		Schema: SchemaVersion, State: TrialFailed, Service: Service{Name: "a"}, Artifact: Artifact{Image: "i"}, Started: at,
		Ended: at.Add(13), Instance: &InstanceInfo{PID: 5}, StartUp: &up, FirstResponse: first, Marks: []Mark{{Name: "m"}},
		FirstRequests: &FirstRequests{Request: "r"}, Checks: []CheckResult{{Name: "c"}}, Steps: []StepResult{{Index: 3}},
		Stop: &StopResult{Killed: true}, Warnings: Warnings{{Text: "w"}}, Incidents: []Incident{{Text: "t"}},
		ManualChanges: []ManualChange{{at.Add(11), step, control}}, Failure: "f", Cause: cause, Exit: exit,
		LastLog: []LogLine{{Text: "l"}}, Lost: lost,
	}})
	got.Apply(at, TrialStarted{})
	got.StartUp = nil
	got.Apply(at, InstanceReady{})
	check(t, fact{"started again", got.State, TrialRunning}, fact{"an unknown time", got.StartUp == nil, true})
}

func TestFirstRequests(t *testing.T) {
	p := FirstRequests{Kept: []RequestPhases{{Total: 9}, {Total: 1, Err: "reset"}, {Total: 3, Send: 1}, {Total: 5}, {Total: 1}}}
	p.New = p.Kept[2:4]
	check(t, fact{"the lower median", p.Typical(), RequestPhases{Total: 3, Send: 1}},
		fact{"of two", p.TypicalNew(), RequestPhases{Total: 3, Send: 1}}, fact{"of none", FirstRequests{}.Typical(), RequestPhases{}})
}

// Each request of a step that continues counts once: what ended in an earlier part is of its lead-in.
func TestLoad_Continue(t *testing.T) {
	part := func() Load {
		return Load{Elapsed: 4 * time.Second, LeadIn: time.Second, FirstResponse: 7, Counts: Counts{Scheduled: 40, Sent: 39, Lead: 5, Drain: 3, Cut: 2, Reconnects: 1, SentAgain: 2}, Outcomes: Outcomes{Succeeded: 20, Rejected: Statuses{429: 4}, Statuses: Statuses{200: 28, 429: 4, 500: 5}, Failed: map[ErrorKind]int64{ErrReset: 5}, Checked: 6, Unread: map[ErrorKind]int64{ErrWrong: 1}, Examples: map[ErrorKind]string{ErrReset: "first"}},
			Requests: []RequestLoad{{Name: "a", Outcomes: Outcomes{Succeeded: 20, Checked: 6, Failed: map[ErrorKind]int64{ErrReset: 5}, Statuses: Statuses{200: 28}}}}}
	}
	l := part()
	l.FirstResponse, l.Examples = 9, map[ErrorKind]string{ErrReset: "later"}
	l.Continue(part())
	want := Load{Elapsed: 4 * time.Second, LeadIn: 6 * time.Second, FirstResponse: 7, Counts: Counts{Scheduled: 80, Sent: 78, Lead: 33, Drain: 3, Cut: 4, Reconnects: 2, SentAgain: 4}, Outcomes: Outcomes{Succeeded: 20, Rejected: Statuses{429: 8}, Statuses: Statuses{200: 56, 429: 8, 500: 10}, Failed: map[ErrorKind]int64{ErrReset: 10}, Checked: 12, Unread: map[ErrorKind]int64{ErrWrong: 2}, Examples: map[ErrorKind]string{ErrReset: "first"}},
		Requests: []RequestLoad{{Name: "a", Outcomes: Outcomes{Succeeded: 20, Checked: 12, Failed: map[ErrorKind]int64{ErrReset: 10}, Statuses: Statuses{200: 56}}}}}
	testenv.Check(t, reflect.DeepEqual(l, want), "%+v\nwant %+v", l, want)
	testenv.Equal(t, l.Succeeded+l.Lead+l.Drain+l.Rejected.Total()+l.FailedTotal()+l.Cut, l.Sent)
}

// The engine follows from the loop.
func TestEngineOfLoop(t *testing.T) {
	for loop, want := range map[string]Engine{
		"io_uring": "fast", "epoll": "fast", "vegeta": "vegeta", "": "", "x": "",
	} {
		testenv.Equal(t, (Load{Loop: loop}).Engine(), want, loop)
	}
}

// loaded returns a trial whose steps ran with the loops.
func loaded(contender string, loops ...string) TrialResult {
	trial := TrialResult{Trial: Trial{Contender: contender}}
	for i, loop := range loops {
		s := Step{Connections: i + 1}
		s.Name = s.DefaultName()
		trial.Steps = append(trial.Steps, StepResult{Index: i, Step: s, Load: Load{Loop: loop}})
	}
	return trial
}

// One engine is named once; several with the contenders.
func TestEngineWords(t *testing.T) {
	for want, trials := range map[string][]TrialResult{
		"":                         {loaded("a", "", ""), {}},
		"fast":                     {loaded("a", "io_uring", "epoll"), loaded("b", "epoll", "")},
		"vegeta":                   {loaded("a", "vegeta")},
		"a: fast; b: vegeta":       {loaded("b", "vegeta", "vegeta"), loaded("a", "io_uring")},
		"a: fast; b: fast, vegeta": {loaded("b", "epoll", "vegeta"), loaded("a", "epoll"), loaded("b", "epoll", "epoll"), loaded("b", "epoll", "vegeta")},
	} {
		testenv.Equal(t, EngineWords(trials), want)
	}
}

// fact is what the program returns in a case, and what it should return.
type fact struct {
	name      string
	got, want any
}

// check tests facts. A text is expected of anything that prints as that text.
func check(t *testing.T, facts ...fact) {
	t.Helper()
	for _, f := range facts {
		t.Run(f.name, func(t *testing.T) {
			t.Helper()
			if _, text := f.want.(string); text {
				f.got = fmt.Sprint(f.got)
			}
			testenv.Check(t, reflect.DeepEqual(f.got, f.want), "%+v, want %+v", f.got, f.want)
		})
	}
}

// texts tests texts by what they should be.
func texts(t *testing.T, all map[string]string) {
	t.Helper()
	for want, got := range all {
		check(t, fact{want, got, want})
	}
}

// all returns the values of a function with several, as one text.
func all(values ...any) string { return fmt.Sprint(values...) }

func TestTextsOfFailures(t *testing.T) {
	one, after := 1, 600_400*time.Microsecond
	steps := func(n int) string { return Lost{Steps: slices.Repeat([]string{"a"}, n)}.String() }
	texts(t, map[string]string{
		"go-nethttp-1":                Trial{"go-nethttp", "", 1}.String(),
		"rs-actix.lto-12":             Trial{"rs-actix", "lto", 12}.String(),
		"rs-actix:lto":                Trial{"rs-actix", "lto", 12}.Label(),
		"connection refused":          ErrRefused.Words(),
		"step 2: paused from outside": Incident{Text: "paused from outside", Step: &one}.String(),
		"paused from outside":         Incident{Text: "paused from outside"}.String(),
		"stopped in step 2 after 600ms, 1234 responses; not measured: 16c, 64c": Lost{
			Phase: PhaseLoad, Step: &one, After: &after, Responses: 1234, Steps: []string{"16c", "64c"}}.String(),
		"stopped in step 2, 0 responses":                     Lost{Step: &one}.String(),
		"stopped in phase ready; not measured: 1 connection": Lost{Phase: PhaseReady, Steps: []string{"1 connection"}}.String(),
		"not measured: a, a, a, a, a, a, a, a":               steps(8),
		"not measured: a, a, a, a, a, a, a, a and 1 more":    steps(9),
		"":                                  steps(0),
		"exit code 3":                       Exit{Code: 3}.String(),
		"exit code 0":                       Exit{}.String(),
		"killed by SIGKILL":                 Exit{Code: 137, Signal: "SIGKILL"}.String(),
		"killed by SIGKILL (out of memory)": Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}.String(),
		"exit code unknown; the container engine was stopped or restarted": Exit{Code: -1, EngineLost: true}.String(),
		"exit code 0; the container engine was stopped or restarted":       Exit{EngineLost: true}.String(),
		"gone, exit code unknown":                   Exit{Code: -1}.String(),
		"exit code 127 (the command was not found)": Exit{Code: 127}.String(),
		"killed by SIGSEGV (segmentation fault)":    Exit{Code: 139, Signal: "SIGSEGV"}.String(),
	})
}

// TestRoundTime: interleaved trials of a round count once, others add up, and an incomplete round
// does not count.
func TestRoundTime(t *testing.T) {
	at := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	trial := func(name string, round, from, to int, state TrialState) TrialResult {
		second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
		return TrialResult{Trial: Trial{Contender: name, Round: round}, State: state, Started: second(from), Ended: second(to)}
	}
	trials := []TrialResult{
		trial("a", 1, 0, 20, TrialComplete), trial("b", 1, 2, 22, TrialComplete),
		trial("a", 2, 30, 50, TrialComplete), trial("b", 2, 32, 90, TrialFailed),
	}
	for interleave, want := range map[time.Duration]time.Duration{0: 40 * time.Second, 1: 22 * time.Second} {
		r := Run{Profile: Profile{Interleave: interleave, Contenders: make([]Selection, 2)}}
		for _, l := range trials {
			r.Trials = append(r.Trials, TrialEntry{Trial: l.Trial, State: l.State})
		}
		got, ok := r.RoundTime(trials)
		testenv.Check(t, ok && got == want, "interleaved every %v: %v %v, want %v", interleave, got, ok, want)
	}
	r := Run{Trials: []TrialEntry{{Trial: trials[3].Trial}}}
	got, ok := r.RoundTime(trials[3:])
	testenv.Check(t, !ok, "%v from a failed round", got)
	for name, test := range map[string]struct {
		interleave time.Duration
		trials     []TrialResult
		want       time.Duration // 0: not known
	}{
		"a mean":                  {0, []TrialResult{trial("a", 1, 0, 20, TrialComplete), trial("a", 2, 30, 70, TrialComplete)}, 30 * time.Second},
		"interleaved with itself": {1, []TrialResult{trial("a", 1, 0, 40, TrialComplete), trial("a", 2, 1, 40, TrialComplete)}, 20 * time.Second},
		"a clock that was set":    {0, []TrialResult{trial("a", 1, 40, 20, TrialComplete)}, 0},
		"a trial that is missing": {0, nil, 0},
	} {
		r := Run{Profile: Profile{Interleave: test.interleave, Contenders: make([]Selection, 1)}}
		for _, l := range test.trials {
			r.Trials = append(r.Trials, TrialEntry{Trial: l.Trial})
		}
		got, ok := r.RoundTime(test.trials)
		testenv.Check(t, got == test.want && ok == (test.want > 0), "%s: %v %v, want %v", name, got, ok, test.want)
	}
}

// TestNotInterleaved: a reason is named unless the user chose it or there is nothing to choose.
func TestNotInterleaved(t *testing.T) {
	for name, test := range map[string]struct {
		contenders int
		plain      *Plain
		want       string
	}{
		"interleaved":   {2, nil, ""},
		"by choice":     {2, &Plain{Reason: PlainChosen, Text: "x"}, ""},
		"one contender": {1, &Plain{Reason: PlainMemory, Text: "x"}, ""},
		"memory":        {2, &Plain{Reason: PlainMemory, Text: "little memory"}, "little memory"},
	} {
		testenv.Equal(t, (Run{Plain: test.plain, Profile: Profile{Contenders: make([]Selection, test.contenders)}}).NotInterleaved(), test.want, name)
	}
}

// Warnings that were read from any file are the same after writing and reading them again.
func FuzzWarnings(f *testing.F) {
	for _, seed := range []string{`["client-bound: 2 of 8",{"kind":"late","text":"x","values":{"late":1e300}}]`, `[null]`, `[{}]`, `["… of … requests that were scheduled were dropped"]`,
		`[{"kind":"client_bound"}]`, `["\ud800 of the readings in between failed"]`, `[{"values":{"a":0}}]`, `null`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second Warnings
		if json.Unmarshal(data, &first) != nil {
			return
		}
		written := testenv.Must(json.Marshal(first))(t)
		testenv.OK(t, json.Unmarshal(written, &second))
		testenv.Need(t, len(first) == len(second), "%+v, then %+v", first, second)
		for i, one := range first {
			two := second[i]
			testenv.Check(t, one.Kind == two.Kind && one.Text == two.Text && len(one.Values) == len(two.Values), "%+v, then %+v", one, two)
		}
	})
}

// Limits of a contender go before those of all, each by itself, and a difference has words.
func TestLimitsOfContenders(t *testing.T) {
	all, own := Limits{CPUs: 1, CPUSet: 2, Memory: 3 << 20, PIDs: 4}, Selection{Contender: "b"}
	p := Profile{Limits: all, Contenders: []Selection{{Contender: "a"}, own}}
	testenv.Check(t, p.EqualLimits() && p.Under(own) == "", "without settings: %q", p.Under(own))
	for _, limits := range []Limits{{CPUs: .5}, {CPUSet: 1}, {Memory: 9 << 20}, {PIDs: 9}} {
		p.Settings = []Settings{{Selection: own, Limits: limits}}
		want := all
		switch {
		case limits.CPUs > 0:
			want.CPUs = limits.CPUs
		case limits.CPUSet > 0:
			want.CPUSet = limits.CPUSet
		case limits.Memory > 0:
			want.Memory = limits.Memory
		default:
			want.PIDs = limits.PIDs
		}
		got := p.LimitsOf(own)
		testenv.Check(t, got == want, "%+v: %+v, want %+v", limits, got, want)
		testenv.Check(t, !p.EqualLimits() && p.Under(own) == "under "+limits.Words() && p.LimitsOf(p.Contenders[0]) == all,
			"%+v: %q", limits, p.Under(own))
	}
	p.Settings[0].Limits = Limits{CPUs: 1} // its own, and the same
	testenv.Check(t, p.EqualLimits() && p.Under(own) == "", "the same limits differ: %q", p.Under(own))
}

// Settings with their own name change the variant of the manifest that they are for.
func TestSettingsInManifest(t *testing.T) {
	base := "fast"
	half := Selection{Contender: "a", Variant: "half"}
	testenv.Equal(t, (Settings{Selection: half, Base: &base}).InManifest(), (Selection{"a", "fast"}))
	testenv.Equal(t, (Settings{Selection: half}).InManifest(), half)
}

func TestLimits(t *testing.T) {
	whole := Limits{CPUs: .5, CPUSet: 2, Memory: 512 << 20, PIDs: 100}
	check(t,
		fact{"all", whole, "0.5 CPUs, set of 2, 512 MiB, 100 processes"}, fact{"none", Limits{}.Words(), "no limit"},
		fact{"some", Limits{CPUs: 1, PIDs: 20}.Words(), "1 CPU, 20 processes"},
		fact{"equal", whole.Own(whole), Limits{}}, fact{"different", whole.Own(Limits{CPUs: 1, Memory: 1}), whole})
}

func TestSignal(t *testing.T) {
	for name, want := range map[string]int{
		"SIGTERM": 15, "SIGINT": 2, "int": 2, "SIGUSR1": 10, "SIGWINCH": 28, "SIGSYS": 31, "9": 9, "64": 64, "SIGRTMIN": 34, "RTMIN+3": 37,
		"SIGRTMAX-1": 63, "SIGRTMAX": 64, "": 0, "SIG": 0, "0": 0, "65": 0, "-1": 0, "SIGFOO": 0, "SIGRTMIN+31": 0, "SIGRTMIN+x": 0, "SIGRTMAX-31": 0,
	} {
		got := SignalNumber(name)
		testenv.Check(t, got == want, "%q: %d, want %d", name, got, want)
		again := SignalNumber(SignalName(want))
		testenv.Check(t, want <= 0 || again == want, "%d is called %s", want, SignalName(want))
	}
}

func TestConfined(t *testing.T) {
	for want, c := range map[string]Confined{
		"": {}, "read-only": {ReadOnly: true},
		"read-only, tmpfs /tmp, tmpfs /run:size=1m, 256 MiB of /dev/shm, user 1000:1000": {true, []string{"/tmp", "/run:size=1m"}, 256 << 20, "1000:1000"},
	} {
		testenv.Equal(t, c.String(), want)
	}
}
