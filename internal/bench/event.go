package bench

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Event is something that happened in a run. The set is closed: the types of this file. There is at
// most about one a second (log lines are bounded besides), never one a request.
type Event interface{ event() }

// Record is an Event on the stream: numbered and timed.
type Record struct {
	Seq   int64     // from 1, without gaps when published; a subscriber far behind may miss some
	At    time.Time //
	Trial *Trial    // nil when it concerns the whole run
	Event Event
}

// Phase names a part of a run or of a trial.
type Phase string

// The phases, in their usual order.
const (
	PhaseStore  Phase = "store"  // of the run: start or reach the store
	PhaseSeed   Phase = "seed"   // of the run
	PhaseBuild  Phase = "build"  // of the run: images and binaries of all contenders
	PhaseLaunch Phase = "launch" // of a trial, from here on
	PhaseReady  Phase = "ready"
	PhaseTiming Phase = "timing" // single requests, timed one by one
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
	// Prepared says what the stages before the first trial have found.
	Prepared struct {
		Store    StoreInfo `json:"store"`
		Software Software  `json:"software"`
	}
	// TrialStarted opens a trial.
	TrialStarted struct {
		Number   int      `json:"number"` // from 1, in the order of the run
		Of       int      `json:"of"`
		Service  Service  `json:"service"`
		Artifact Artifact `json:"artifact"`
	}
	// InstanceStarted says what was launched.
	InstanceStarted struct {
		Info InstanceInfo `json:"info"`
	}
	// InstanceReady says that it has answered as one that is ready does.
	InstanceReady struct {
		// from the start of the process to that response; 0: not known
		StartUp       time.Duration  `json:"start_up_ns,omitempty"`
		FirstResponse *FirstResponse `json:"first_response,omitempty"` // nil: that was the first
	}
	// RequestsTimed says where the first requests of a trial have spent their time.
	RequestsTimed struct {
		Phases Phases `json:"phases"`
	}
	// MarkRead is a reading between the phases.
	MarkRead struct {
		Mark Mark `json:"mark"`
	}
	// InstanceStopped says how gracefully it stopped.
	InstanceStopped struct {
		Stop StopResult `json:"stop"`
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
	// Progress says how far a long phase is. Total is 0 when unknown.
	Progress struct {
		Phase Phase  `json:"phase"`
		Done  int64  `json:"done"`
		Total int64  `json:"total,omitempty"`
		Unit  string `json:"unit,omitempty"` // "documents", "checks"; "" with a Text alone
		Text  string `json:"text,omitempty"` // e.g. the last line of a build; hostile
	}
	// CheckDone says one check's outcome.
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
	// StepEnded closes a step. It repeats the windows and samples that were reported one by one.
	StepEnded struct {
		Result StepResult `json:"result"`
	}
	// LogLines carry what the contender wrote, bounded.
	LogLines struct {
		Lines   []LogLine `json:"lines"`
		Dropped int64     `json:"dropped,omitempty"` // lines left out since the last event
	}
	// Notice is a word to the user that is not the end of anything.
	Notice struct {
		Level  string             `json:"level"` // info, warning, error
		Text   string             `json:"text"`
		Kind   WarningKind        `json:"kind,omitempty"` // of a warning or an error, which stays with the results
		Values map[string]float64 `json:"values,omitempty"`
	}
	// IncidentOccurred says what was done to the contender, or to what it depends on, from outside.
	IncidentOccurred struct {
		Incident Incident `json:"incident"`
	}
	// ChangedManually says that somebody has changed the course of the run, or marked a moment, at the
	// record's time.
	ChangedManually struct {
		Control Control `json:"control"`
		Step    *int    `json:"step,omitempty"` // index of the step that runs; nil between steps
	}
	// Paused says that the run stands still, between two steps or trials, because somebody asked for
	// it.
	Paused struct{}
	// Resumed reports that it continues.
	Resumed struct {
		Took time.Duration `json:"took_ns"` // of the pause
	}
	// TrialEnded closes a trial.
	TrialEnded struct {
		State    TrialState `json:"state"`
		Failure  string     `json:"failure,omitempty"` // what went wrong, in words
		Exit     *Exit      `json:"exit,omitempty"`    // if the contender ended before it was asked to
		LastLog  []LogLine  `json:"last_log,omitempty"`
		Lost     *Lost      `json:"lost,omitempty"`     // what it has not measured
		Excluded *Exclusion `json:"excluded,omitempty"` // why its contender supports no claim
	}
	// RunEnded closes the run.
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

// events are all types by their names in events.jsonl and in the output of --json.
var events = map[string]Event{
	"run_started": RunStarted{}, "prepared": Prepared{}, "trial_started": TrialStarted{}, "trial_ended": TrialEnded{},
	"phase_started": PhaseStarted{}, "phase_ended": PhaseEnded{}, "progress": Progress{},
	"instance_started": InstanceStarted{}, "instance_ready": InstanceReady{}, "instance_stopped": InstanceStopped{},
	"requests_timed": RequestsTimed{}, "mark_read": MarkRead{}, "check_done": CheckDone{},
	"step_started": StepStarted{}, "window_closed": WindowClosed{}, "usage_read": UsageRead{}, "step_ended": StepEnded{},
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

// Apply folds one event of this trial into its result, so all who show it agree.
func (l *TrialResult) Apply(at time.Time, e Event) {
	switch e := e.(type) {
	case TrialStarted:
		l.Schema, l.State = SchemaVersion, TrialRunning
		l.Service, l.Artifact, l.Started = e.Service, e.Artifact, at
	case InstanceStarted:
		l.Instance = new(e.Info)
	case InstanceReady:
		if e.StartUp > 0 {
			l.StartUp = new(e.StartUp)
		}
		l.FirstResponse = e.FirstResponse
	case RequestsTimed:
		l.Phases = new(e.Phases)
	case MarkRead:
		l.Marks = append(l.Marks, e.Mark)
	case CheckDone:
		l.Checks = append(l.Checks, e.Check)
	case StepEnded:
		l.Steps = append(l.Steps, e.Result)
	case InstanceStopped:
		l.Stop = new(e.Stop)
	case Notice:
		if e.Level != "info" {
			l.Warnings = append(l.Warnings, e.Warning())
		}
	case IncidentOccurred:
		l.Incidents = append(l.Incidents, e.Incident)
	case ChangedManually:
		l.ManualChanges = append(l.ManualChanges, ManualChange{At: at, Step: e.Step, Control: e.Control})
	case TrialEnded:
		l.State, l.Failure, l.Exit, l.LastLog, l.Lost, l.Ended = e.State, e.Failure, e.Exit, e.LastLog, e.Lost, at
	}
}
