package bench

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is something that happened in a run. The set is closed: the types of this file. There is at most about one a
// second (log lines are bounded besides), never one a request.
type Event interface{ event() }

// Record is an Event on the stream: numbered and timed.
type Record struct {
	Seq   int64     // from 1, without gaps
	At    time.Time //
	Leg   *Leg      // nil when it concerns the whole run
	Event Event
}

// Phase names a part of a run or of a leg.
type Phase string

// The phases, in their usual order.
const (
	PhaseStore  Phase = "store"  // of the run: start or reach the store
	PhaseSeed   Phase = "seed"   // of the run
	PhaseBuild  Phase = "build"  // of the run: images and binaries of all contenders
	PhaseLaunch Phase = "launch" // of a leg, from here on
	PhaseReady  Phase = "ready"
	PhaseCheck  Phase = "check"
	PhaseLoad   Phase = "load"
	PhaseStop   Phase = "stop"
)

type (
	// RunStarted opens every run, and every resumed part of one.
	RunStarted struct {
		Run Run    `json:"run"`
		Dir string `json:"dir"` // results folder
	}
	// LegStarted opens a leg.
	LegStarted struct {
		Number int `json:"number"` // from 1, in the order of the run
		Of     int `json:"of"`
	}
	// PhaseStarted opens a phase.
	PhaseStarted struct {
		Phase Phase  `json:"phase"`
		Note  string `json:"note,omitempty"`
	}
	// PhaseEnded closes a phase. Err is empty when it went well.
	PhaseEnded struct {
		Phase Phase         `json:"phase"`
		Took  time.Duration `json:"took_ns"`
		Err   string        `json:"error,omitempty"`
		Note  string        `json:"note,omitempty"`
	}
	// Progress tells how far a long phase is. Total is 0 when unknown.
	Progress struct {
		Phase Phase  `json:"phase"`
		Done  int64  `json:"done"`
		Total int64  `json:"total,omitempty"`
		Unit  string `json:"unit,omitempty"` // "documents", "checks"; "" with a Text alone
		Text  string `json:"text,omitempty"` // e.g. the last line of a build; hostile
	}
	// CheckDone tells one check's outcome.
	CheckDone struct {
		Check CheckResult `json:"check"`
	}
	// StepStarted opens a step.
	StepStarted struct {
		Index int  `json:"index"` // from 0
		Of    int  `json:"of"`
		Step  Step `json:"step"`
	}
	// WindowClosed is one more second of load.
	WindowClosed struct {
		Index  int    `json:"index"` // of the step
		Window Window `json:"window"`
	}
	// UsageRead is one more reading of the contender's counters.
	UsageRead struct {
		Usage Usage `json:"usage"`
	}
	// StepEnded closes a step. Its windows and samples have been told already, but it repeats them: a results file needs no memory.
	StepEnded struct {
		Result StepResult `json:"result"`
	}
	// LogLine events carry what the contender wrote, bounded.
	LogLines struct {
		Lines   []LogLine `json:"lines"`
		Dropped int64     `json:"dropped,omitempty"` // lines left out since the last event
	}
	// Notice is a word to the user that is not the end of anything.
	Notice struct {
		Level string `json:"level"` // info, warning, error
		Text  string `json:"text"`
	}
	// LegEnded closes a leg with its whole result.
	LegEnded struct {
		Result LegResult `json:"result"`
	}
	// RunEnded closes the run.
	RunEnded struct {
		State RunState `json:"state"`
		Err   string   `json:"error,omitempty"`
	}
)

func (RunStarted) event()   {}
func (LegStarted) event()   {}
func (PhaseStarted) event() {}
func (PhaseEnded) event()   {}
func (Progress) event()     {}
func (CheckDone) event()    {}
func (StepStarted) event()  {}
func (WindowClosed) event() {}
func (UsageRead) event()    {}
func (StepEnded) event()    {}
func (LogLines) event()     {}
func (Notice) event()       {}
func (LegEnded) event()     {}
func (RunEnded) event()     {}

var eventNames = map[string]func() Event{
	"run_started":   func() Event { return &RunStarted{} },
	"leg_started":   func() Event { return &LegStarted{} },
	"phase_started": func() Event { return &PhaseStarted{} },
	"phase_ended":   func() Event { return &PhaseEnded{} },
	"progress":      func() Event { return &Progress{} },
	"check_done":    func() Event { return &CheckDone{} },
	"step_started":  func() Event { return &StepStarted{} },
	"window_closed": func() Event { return &WindowClosed{} },
	"usage_read":    func() Event { return &UsageRead{} },
	"step_ended":    func() Event { return &StepEnded{} },
	"log_lines":     func() Event { return &LogLines{} },
	"notice":        func() Event { return &Notice{} },
	"leg_ended":     func() Event { return &LegEnded{} },
	"run_ended":     func() Event { return &RunEnded{} },
}

// EventName is the name of e's type in events.jsonl and in the output of --json.
func EventName(e Event) string {
	switch e.(type) {
	case RunStarted, *RunStarted:
		return "run_started"
	case LegStarted, *LegStarted:
		return "leg_started"
	case PhaseStarted, *PhaseStarted:
		return "phase_started"
	case PhaseEnded, *PhaseEnded:
		return "phase_ended"
	case Progress, *Progress:
		return "progress"
	case CheckDone, *CheckDone:
		return "check_done"
	case StepStarted, *StepStarted:
		return "step_started"
	case WindowClosed, *WindowClosed:
		return "window_closed"
	case UsageRead, *UsageRead:
		return "usage_read"
	case StepEnded, *StepEnded:
		return "step_ended"
	case LogLines, *LogLines:
		return "log_lines"
	case Notice, *Notice:
		return "notice"
	case LegEnded, *LegEnded:
		return "leg_ended"
	case RunEnded, *RunEnded:
		return "run_ended"
	}
	return "unknown"
}

type wireRecord struct {
	Seq   int64           `json:"seq"`
	At    time.Time       `json:"at"`
	Leg   *Leg            `json:"leg,omitempty"`
	Type  string          `json:"type"`
	Event json.RawMessage `json:"event"`
}

// MarshalJSON writes {"seq":…,"at":…,"leg":…,"type":"step_ended","event":{…}}.
func (r Record) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(r.Event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wireRecord{r.Seq, r.At, r.Leg, EventName(r.Event), body})
}

// UnmarshalJSON reads what MarshalJSON writes. An unknown type is an error.
func (r *Record) UnmarshalJSON(data []byte) error {
	var w wireRecord
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	make, ok := eventNames[w.Type]
	if !ok {
		return fmt.Errorf("unknown event type %q", w.Type)
	}
	p := make()
	if err := json.Unmarshal(w.Event, p); err != nil {
		return fmt.Errorf("event %s: %w", w.Type, err)
	}
	*r = Record{w.Seq, w.At, w.Leg, deref(p)}
	return nil
}

// deref turns the pointers that decoding needs into the values that the stream carries.
func deref(e Event) Event {
	switch e := e.(type) {
	case *RunStarted:
		return *e
	case *LegStarted:
		return *e
	case *PhaseStarted:
		return *e
	case *PhaseEnded:
		return *e
	case *Progress:
		return *e
	case *CheckDone:
		return *e
	case *StepStarted:
		return *e
	case *WindowClosed:
		return *e
	case *UsageRead:
		return *e
	case *StepEnded:
		return *e
	case *LogLines:
		return *e
	case *Notice:
		return *e
	case *LegEnded:
		return *e
	case *RunEnded:
		return *e
	}
	return e
}
