package bench

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
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
		StepEnded{Result: StepResult{Index: 1, Step: Step{KeepRequests: 2}, Load: Load{Succeeded: 9, KeptOf: 10, Kept: []KeptRequest{
			{Request: "get", Start: -up, Latency: up, Lag: 3, Status: 200, Bytes: 7}, {Request: "get", Status: 429, Rejected: true}, {Error: ErrReset},
		}}}},
		LogLines{Lines: []LogLine{{At: at, Stream: "stderr", Text: "x"}}, Dropped: 4},
		Notice{Level: "warning", Text: "limits not enforced"},
		InstanceStopped{Stop: StopResult{Graceful: true, Took: up}},
		TrialEnded{State: TrialFailed, Failure: "died", Exit: &Exit{At: at, Code: 137, OOMKilled: true}},
		ChangedManually{Control: Control{Kind: ControlNote, Text: "x"}, Step: new(int)}, Paused{}, Resumed{Took: 3}, RunEnded{State: RunFailed, Err: "e"},
	} {
		in := Record{Seq: int64(i + 1), At: at, Trial: trial, Event: e}
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatalf("%s: %v", EventName(e), err)
		}
		var out Record
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !reflect.DeepEqual(in, out) {
			t.Errorf("%s: came back as %+v, was %+v", EventName(e), out, in)
		}
	}
	for in, want := range map[string]string{
		`5`: "json: ", `{"type":"x","seq":3}`: `event 3 (x): unknown event type "x"`,
		`{"type":"notice","seq":3,"event":5}`: "event 3 (notice): json: ",
	} {
		if err := json.Unmarshal([]byte(in), new(Record)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	_, err := json.Marshal(Record{Event: ChangedManually{Control: Control{Rate: math.NaN()}}})
	check(t, fact{"a value without JSON", err != nil, true}, fact{"a strange event", EventName(nil), "unknown"})
}

// A trial is the sum of its events.
func TestTrialResult_Apply(t *testing.T) {
	at := time.Unix(5, 0)
	up, step, exit, lost := 9*time.Millisecond, new(3), &Exit{Code: 7}, &Lost{Phase: PhaseLoad}
	first, cause, control := &FirstResponse{Status: 503}, &Cause{Kind: CauseExited}, Control{Kind: ControlNote, Text: "x"}
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
