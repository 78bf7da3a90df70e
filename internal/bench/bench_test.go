package bench

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestRecordsSurviveJSON(t *testing.T) {
	trial := &Trial{Contender: "rs-actix", Variant: "lto", Round: 3}
	at := time.Date(2026, 11, 21, 8, 0, 0, 123, time.UTC)
	up := 12 * time.Millisecond
	for i, e := range []Event{
		RunStarted{Run: Run{ID: "x", Seed: 1<<64 - 1}, Dir: "results/x"},
		Prepared{Store: StoreInfo{Kind: StoreEmbedded}, Software: Software{Docker: "20.10"}},
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
	var r Record
	if err := json.Unmarshal([]byte(`{"type":"nonsense","event":{}}`), &r); err == nil {
		t.Error("an unknown event type was accepted")
	}
}

func TestDerivedValuesOfAStep(t *testing.T) {
	s := StepResult{
		Load:   Load{Succeeded: 1000, Elapsed: 2 * time.Second, Failed: map[ErrorKind]int64{ErrTimeout: 200, "5xx": 50}},
		Before: &Usage{CPU: time.Second, Throttling: &Throttling{Periods: 10, Throttled: 1, Time: time.Second}},
		After:  &Usage{CPU: 1500 * time.Millisecond, Throttling: &Throttling{Periods: 30, Throttled: 9, Time: 3 * time.Second}, Memory: &Memory{Used: 100 << 20, Peak: 500 << 20}},
	}
	if got := s.Load.Throughput(); got != 500 {
		t.Errorf("throughput %v, want 500: errors must not count", got)
	}
	if got := s.Load.ErrorRate(); got != 0.2 {
		t.Errorf("error rate %v, want 0.2", got)
	}
	if got, ok := s.CPUPerRequest(); !ok || got != 500*time.Microsecond {
		t.Errorf("CPU per request %v %v, want 500µs", got, ok)
	}
	if got, ok := s.Throttling(); !ok || got != (Throttling{20, 8, 2 * time.Second}) {
		t.Errorf("throttling %+v %v", got, ok)
	}
	if got, ok := s.MemorySeconds(); !ok || got != 1 {
		t.Errorf("memory per rate %v %v, want 1 MiB·s", got, ok)
	}
	if _, ok := (StepResult{Load: Load{Succeeded: 1}}).CPUPerRequest(); ok {
		t.Error("CPU per request is reported although no counter was read")
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"go-nethttp-1":                      Trial{"go-nethttp", "", 1}.String(),
		"rs-actix.lto-12":                   Trial{"rs-actix", "lto", 12}.String(),
		"rs-actix:lto":                      Trial{"rs-actix", "lto", 12}.Label(),
		"exit code 3":                       Exit{Code: 3}.String(),
		"killed by SIGKILL (out of memory)": Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}.String(),
	} {
		t.Run(want, func(t *testing.T) {
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestTypicalRequest(t *testing.T) {
	p := FirstRequests{Kept: []RequestPhases{{Total: 9}, {Total: 1, Err: "reset"}, {Total: 3, Send: 1}, {Total: 5}, {Total: 1}}}
	if got := p.Typical(); got != (RequestPhases{Total: 3, Send: 1}) {
		t.Errorf("%+v", got)
	}
	if got := p.TypicalNew(); got != (RequestPhases{}) {
		t.Errorf("of none: %+v", got)
	}
}
