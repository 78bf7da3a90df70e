package bench

import (
	"fmt"
	"strings"
	"time"
)

// IncidentKind names what happened to a contender, or to its needs.
type IncidentKind string

// The kinds.
const (
	IncidentPaused   IncidentKind = "paused" // paused from outside: it keeps its connections and does not respond
	IncidentUnpaused IncidentKind = "unpaused"
	IncidentOOM      IncidentKind = "oom"    // the kernel killed one of its processes: out of memory
	IncidentSilent   IncidentKind = "silent" // it does not respond, for a reason known from its runtime or the kernel
	IncidentNeed     IncidentKind = "need"   // a need does not respond
	IncidentData     IncidentKind = "data"   // the data of a need has changed
	// a need was paused from outside: it keeps its connections and does not respond
	IncidentNeedPaused IncidentKind = "need_paused"
)

// Incident is something that happened to a contender during a trial.
type Incident struct {
	At   time.Time    `json:"at"` // time by this machine's clock
	Kind IncidentKind `json:"kind"`
	Text string       `json:"text"`           // such as "paused from outside"
	Step *int         `json:"step,omitempty"` // index of the step that ran; nil between steps
}

// String returns "step 2: paused from outside", with the step counted from 1.
func (i Incident) String() string {
	if i.Step == nil {
		return i.Text
	}
	return fmt.Sprintf("step %d: %s", *i.Step+1, i.Text)
}

// Lost is what a trial that did not complete has not measured.
type Lost struct {
	Phase Phase `json:"phase,omitempty"` // phase in which it ended
	// index of the step that was cut short; its results are kept, marked as aborted
	Step      *int      `json:"step,omitempty"`
	After     *Duration `json:"after_ns,omitempty"`  // how long that step had run
	Responses int64     `json:"responses,omitempty"` // responses counted until then
	Steps     []string  `json:"steps,omitempty"`     // names of the steps that were not started, in order
}

// String returns one line: "stopped in step 2 after 600ms, 1234 responses; not measured: 16
// connections, 64 connections".
func (l Lost) String() string {
	var parts []string
	switch {
	case l.Step != nil:
		text := fmt.Sprintf("stopped in step %d", *l.Step+1)
		if l.After != nil {
			text += " after " + l.After.Round(time.Millisecond).String()
		}
		parts = append(parts, fmt.Sprintf("%s, %d responses", text, l.Responses))
	case l.Phase != "":
		parts = append(parts, "stopped in phase "+string(l.Phase))
	}
	const most = 8 // steps that are named
	switch n := len(l.Steps); {
	case n > most:
		parts = append(parts, fmt.Sprintf("not measured: %s and %d more", strings.Join(l.Steps[:most], ", "), n-most))
	case n > 0:
		parts = append(parts, "not measured: "+strings.Join(l.Steps, ", "))
	}
	return strings.Join(parts, "; ")
}
