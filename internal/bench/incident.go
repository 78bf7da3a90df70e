package bench

import (
	"fmt"
	"strings"
	"time"
)

// IncidentKind names what has happened to a contender, or what it depends on.
type IncidentKind string

const (
	IncidentPaused   IncidentKind = "paused"   // frozen from outside: it holds its connections and answers nothing
	IncidentUnpaused IncidentKind = "unpaused" //
	IncidentOOM      IncidentKind = "oom"      // the kernel has killed one of its processes for lack of memory
	IncidentSilent   IncidentKind = "silent"   // it does not respond, for a reason that its runtime or the kernel knows
	IncidentStore    IncidentKind = "store"    // the store does not respond
	IncidentData     IncidentKind = "data"     // the store holds more or fewer documents than before
)

// Incident is something that was done to a contender from outside, or that happened to it, as its
// runtime tells it.
type Incident struct {
	At   time.Time    `json:"at"` // by this machine's clock
	Kind IncidentKind `json:"kind"`
	Text string       `json:"text"`           // in words: "paused from outside"
	Step *int         `json:"step,omitempty"` // index of the step that ran; nil outside of steps
}

// String returns "step 2: paused from outside", with the step counted from 1.
func (i Incident) String() string {
	if i.Step == nil {
		return i.Text
	}
	return fmt.Sprintf("step %d: %s", *i.Step+1, i.Text)
}

// Lost is what a trial that did not run to its end has not measured.
type Lost struct {
	Phase Phase `json:"phase,omitempty"` // in which it ended
	// index of the step that was cut short; what it had is kept, marked as aborted
	Step      *int      `json:"step,omitempty"`
	After     *Duration `json:"after_ns,omitempty"`  // how far that step had come
	Responses int64     `json:"responses,omitempty"` // answers that it had counted by then
	Steps     []string  `json:"steps,omitempty"`     // names of the steps that were never begun, in their order
}

// String returns one line: "ended in step 2 after 600ms, with 1234 answers; not measured: 16
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
	const most = 8 // named one by one
	switch n := len(l.Steps); {
	case n > most:
		parts = append(parts, fmt.Sprintf("not measured: %s and %d more", strings.Join(l.Steps[:most], ", "), n-most))
	case n > 0:
		parts = append(parts, "not measured: "+strings.Join(l.Steps, ", "))
	}
	return strings.Join(parts, "; ")
}
