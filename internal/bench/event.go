package bench

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Event is something that happened in a run: one of the types of this file. There is about one per
// second, never one per request; log lines are bounded separately.
type Event interface{ event() }

// Record is an Event with its number and time.
type Record struct {
	Seq   int64 // from 1, without gaps when published; a slow subscriber may miss some
	At    time.Time
	Trial *Trial // nil when it concerns the whole run
	Event Event
}

// Phase names a part of a run or of a trial.
type Phase string

// The phases, in their usual order.
const (
	PhaseNeeds Phase = "needs" // of the run: start or connect to what contenders need
	PhaseSeed  Phase = "seed"  // of the run
	PhaseBuild Phase = "build" // of the run: images and binaries of all contenders
	// PhaseRestore is of a trial, before and after it: needs that start again get their seeded
	// state
	PhaseRestore Phase = "restore"
	// PhaseMigrate is of the first trial of a contender whose start completes the state of a need
	PhaseMigrate Phase = "migrate"
	PhaseLaunch  Phase = "launch" // of a trial, from here on
	PhaseReady   Phase = "ready"
	PhaseTiming  Phase = "timing" // single requests, timed one by one
	PhaseCheck   Phase = "check"
	PhaseLoad    Phase = "load"
	PhaseStop    Phase = "stop"
)

type (
	// RunStarted is the first event of a run and of each resumption.
	RunStarted struct {
		Run Run    `json:"run"`
		Dir string `json:"dir"` // results folder
	}
	// Prepared reports the needs and the software before the first trial.
	Prepared struct {
		Needs     []NeedInfo `json:"needs,omitempty"`
		NeedParts []NeedPart `json:"need_parts,omitempty"`
		Software  Software   `json:"software"`
	}
	// TrialStarted is the first event of a trial.
	TrialStarted struct {
		Number   int      `json:"number"` // number of the trial, from 1, in the order of the run
		Of       int      `json:"of"`     // number of trials of the run
		Service  Service  `json:"service"`
		Artifact Artifact `json:"artifact"`
	}
	// InstanceStarted describes the instance that was launched.
	InstanceStarted struct {
		Info InstanceInfo `json:"info"`
	}
	// InstanceReady reports the first response that says "ready".
	InstanceReady struct {
		// time from process start to that response; 0: not known
		StartUp       time.Duration  `json:"start_up_ns,omitempty"`
		FirstResponse *FirstResponse `json:"first_response,omitempty"` // nil: the first response said "ready"
	}
	// RequestsTimed reports the phases of the first requests of a trial.
	RequestsTimed struct {
		FirstRequests FirstRequests `json:"phases"`
	}
	// MarkRead reports counters that were read between two phases.
	MarkRead struct {
		Mark Mark `json:"mark"`
	}
	// InstanceStopped reports how the instance stopped.
	InstanceStopped struct {
		Stop StopResult `json:"stop"`
	}
	// PhaseStarted is the first event of a phase.
	PhaseStarted struct {
		Phase Phase  `json:"phase"`
		Note  string `json:"note,omitempty"`
	}
	// PhaseEnded is the last event of a phase. Err is empty if it succeeded.
	PhaseEnded struct {
		Phase Phase         `json:"phase"`
		Took  time.Duration `json:"took_ns"`
		Err   string        `json:"error,omitempty"`
		Note  string        `json:"note,omitempty"`
	}
	// Progress reports how far a long phase has come. Total is 0 while it is not known.
	Progress struct {
		Phase Phase  `json:"phase"`
		Done  int64  `json:"done"`
		Total int64  `json:"total,omitempty"`
		Unit  string `json:"unit,omitempty"` // "documents", "checks"; "" if there is only a Text
		Text  string `json:"text,omitempty"` // such as the last line of a build; not trusted
	}
	// CheckDone reports the outcome of one check.
	CheckDone struct {
		Check CheckResult `json:"check"`
	}
	// StepStarted is the first event of a step.
	StepStarted struct {
		Index int  `json:"index"` // index of the step, from 0
		Of    int  `json:"of"`    // number of steps of the trial
		Step  Step `json:"step"`
	}
	// WindowClosed reports one more second of load.
	WindowClosed struct {
		Index  int    `json:"index"` // index of the step, from 0
		Window Window `json:"window"`
	}
	// WindowGrew reports the current second of load so far, in short steps: the next WindowGrew or
	// WindowClosed of the step replaces it.
	WindowGrew struct {
		Index  int    `json:"index"` // index of the step, from 0
		Window Window `json:"window"`
	}
	// UsageRead reports one more reading of the counters of the contender, and of its needs.
	UsageRead struct {
		Usage Usage                 `json:"usage"`
		Needs map[string]*NeedUsage `json:"needs,omitempty"` // by their names
	}
	// StepEnded is the last event of a step. It repeats the windows and samples reported before.
	StepEnded struct {
		Result StepResult `json:"result"`
	}
	// LogLines reports lines that the contender wrote, bounded.
	LogLines struct {
		Lines   []LogLine `json:"lines"`
		Dropped int64     `json:"dropped,omitempty"` // lines omitted since the last event
	}
	// Notice is a message to the user; the run continues.
	Notice struct {
		Level  string             `json:"level"` // info, warning, error
		Text   string             `json:"text"`
		Kind   WarningKind        `json:"kind,omitempty"` // kind of a warning or an error, which is saved with the results
		Values map[string]float64 `json:"values,omitempty"`
	}
	// IncidentOccurred reports what happened to the contender, or to its needs.
	IncidentOccurred struct {
		Incident Incident `json:"incident"`
	}
	// ChangedManually reports that the user has changed the run by hand, or added a note.
	ChangedManually struct {
		Control Control `json:"control"`
		Step    *int    `json:"step,omitempty"` // index of the running step; nil between steps
	}
	// Paused reports that the user has paused the run between two steps or trials.
	Paused struct{}
	// Resumed reports that the run continues.
	Resumed struct {
		Took time.Duration `json:"took_ns"` // length of the pause
	}
	// TrialEnded is the last event of a trial.
	TrialEnded struct {
		State    TrialState `json:"state"`
		Failure  string     `json:"failure,omitempty"` // what went wrong, as text
		Cause    *Cause     `json:"cause,omitempty"`   // why the contender failed; nil: another reason
		Exit     *Exit      `json:"exit,omitempty"`    // set if the contender exited before it was stopped
		LastLog  []LogLine  `json:"last_log,omitempty"`
		Lost     *Lost      `json:"lost,omitempty"`     // what was not measured
		Excluded *Exclusion `json:"excluded,omitempty"` // why its contender is excluded
	}
	// RunEnded is the last event of a run.
	RunEnded struct {
		State RunState `json:"state"`
		Err   string   `json:"error,omitempty"`
	}
)

func (RunStarted) event()       {}
func (Prepared) event()         {}
func (TrialStarted) event()     {}
func (PhaseStarted) event()     {}
func (PhaseEnded) event()       {}
func (Progress) event()         {}
func (InstanceStarted) event()  {}
func (InstanceReady) event()    {}
func (MarkRead) event()         {}
func (RequestsTimed) event()    {}
func (CheckDone) event()        {}
func (StepStarted) event()      {}
func (WindowClosed) event()     {}
func (WindowGrew) event()       {}
func (UsageRead) event()        {}
func (StepEnded) event()        {}
func (LogLines) event()         {}
func (Notice) event()           {}
func (InstanceStopped) event()  {}
func (IncidentOccurred) event() {}
func (ChangedManually) event()  {}
func (Paused) event()           {}
func (Resumed) event()          {}
func (TrialEnded) event()       {}
func (RunEnded) event()         {}

// events maps the names in events.jsonl and in the output of --json to all types.
var events = map[string]Event{
	"run_started": RunStarted{}, "prepared": Prepared{}, "trial_started": TrialStarted{}, "trial_ended": TrialEnded{},
	"phase_started": PhaseStarted{}, "phase_ended": PhaseEnded{}, "progress": Progress{},
	"instance_started": InstanceStarted{}, "instance_ready": InstanceReady{}, "instance_stopped": InstanceStopped{},
	"requests_timed": RequestsTimed{}, "mark_read": MarkRead{}, "check_done": CheckDone{},
	"step_started": StepStarted{}, "window_closed": WindowClosed{}, "window_grew": WindowGrew{}, "usage_read": UsageRead{}, "step_ended": StepEnded{},
	"log_lines": LogLines{}, "notice": Notice{}, "incident": IncidentOccurred{}, "changed_manually": ChangedManually{},
	"paused": Paused{}, "resumed": Resumed{}, "run_ended": RunEnded{},
}

// EventName returns the name of e's type in events.jsonl and in the output of --json: "step_ended".
func EventName(e Event) string {
	for name, known := range events {
		if reflect.TypeOf(known) == reflect.TypeOf(e) {
			return name
		}
	}
	return "unknown"
}

type wireRecord struct {
	Seq   int64           `json:"seq"`
	At    time.Time       `json:"at"`
	Trial *Trial          `json:"trial,omitempty"`
	Type  string          `json:"type"`
	Event json.RawMessage `json:"event"`
}

// MarshalJSON writes {"seq":…,"at":…,"trial":…,"type":"step_ended","event":{…}}.
func (r Record) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(r.Event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wireRecord{r.Seq, r.At, r.Trial, EventName(r.Event), body})
}

// UnmarshalJSON reads what MarshalJSON writes. An unknown type is an error.
func (r *Record) UnmarshalJSON(data []byte) error {
	var w wireRecord
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	known, ok := events[w.Type]
	if !ok {
		return fmt.Errorf("event %d (%s): unknown event type %q", w.Seq, w.Type, w.Type)
	}
	e := reflect.New(reflect.TypeOf(known))
	if err := json.Unmarshal(w.Event, e.Interface()); err != nil {
		return fmt.Errorf("event %d (%s): %w", w.Seq, w.Type, err)
	}
	*r = Record{w.Seq, w.At, w.Trial, e.Elem().Interface().(Event)}
	return nil
}

// Apply updates the result with one event of its trial. All readers of events use it.
func (t *TrialResult) Apply(at time.Time, e Event) {
	switch e := e.(type) {
	case TrialStarted:
		t.Schema, t.State = SchemaVersion, TrialRunning
		t.Service, t.Artifact, t.Started = e.Service, e.Artifact, at
	case InstanceStarted:
		t.Instance = new(e.Info)
	case InstanceReady:
		if e.StartUp > 0 {
			t.StartUp = new(e.StartUp)
		}
		t.FirstResponse = e.FirstResponse
	case RequestsTimed:
		t.FirstRequests = new(e.FirstRequests)
	case MarkRead:
		t.Marks = append(t.Marks, e.Mark)
	case CheckDone:
		t.Checks = append(t.Checks, e.Check)
	case StepEnded:
		t.Steps = append(t.Steps, e.Result)
	case InstanceStopped:
		t.Stop = new(e.Stop)
	case Notice:
		if e.Level != "info" {
			t.Warnings = append(t.Warnings, e.Warning())
		}
	case IncidentOccurred:
		t.Incidents = append(t.Incidents, e.Incident)
	case ChangedManually:
		t.ManualChanges = append(t.ManualChanges, ManualChange{At: at, Step: e.Step, Control: e.Control})
	case TrialEnded:
		t.State, t.Failure, t.Cause, t.Exit = e.State, e.Failure, e.Cause, e.Exit
		t.LastLog, t.Lost, t.Ended = e.LastLog, e.Lost, at
	}
}
