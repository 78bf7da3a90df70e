package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ControlKind names what a person can ask of a run while it runs.
type ControlKind string

// Words returns the kind as people read it: "skip step".
func (k ControlKind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// The kinds. None of them touches a step that is being measured but those that say so; all of them
// are on record as ChangedManually.
const (
	ControlPause    ControlKind = "pause"     // before the next step or trial; the running step is finished first
	ControlResume   ControlKind = "resume"    // continue after a pause, or take one back that was asked for
	ControlSkipStep ControlKind = "skip_step" // end the running step now; what it measured is kept, marked as aborted
	// end the running trial now, and leave out the contender's later rounds
	ControlSkipContender ControlKind = "skip_contender"
	ControlStop          ControlKind = "stop_after_step" // finish the running step, then end the run in order
	ControlRate          ControlKind = "rate"            // open loop: this many requests due per second from now on
	ControlNote          ControlKind = "note"            // mark the moment with Text
	ControlAbort         ControlKind = "abort"           // end the run now, in order, as Ctrl-C does
)

// NoteLimit bounds Control.Text, in bytes.
const NoteLimit = 500

// Control is one such wish. In JSON it is one line on the standard input of a controlled run.
type Control struct {
	Kind ControlKind `json:"kind"`
	Text string      `json:"text,omitempty"` // of a note
	Rate float64     `json:"rate,omitempty"` // requests per second
}

// Validate says what is wrong with it; it may come from outside.
func (c Control) Validate() error {
	switch c.Kind {
	case ControlPause, ControlResume, ControlSkipStep, ControlSkipContender, ControlStop, ControlAbort:
	case ControlRate:
		if !(c.Rate > 0 && c.Rate <= 1e9) {
			return fmt.Errorf("control %q: rate %g; more than 0 requests per second", c.Kind, c.Rate)
		}
	case ControlNote:
		if c.Text == "" || len(c.Text) > NoteLimit {
			return fmt.Errorf("control %q: a text of 1 to %d bytes", c.Kind, NoteLimit)
		}
	default:
		return fmt.Errorf("unknown control %q", c.Kind)
	}
	return nil
}

// ManualChange is a wish that the run has taken up, as it is kept in the trial's result.
type ManualChange struct {
	At      time.Time `json:"at"`
	Step    *int      `json:"step,omitempty"` // index of the step that ran then; nil between steps
	Control Control   `json:"control"`
}

// ChangedByHand reports whether somebody intervened in the course of the trial; a note does not.
func (l TrialResult) ChangedByHand() bool {
	return slices.ContainsFunc(l.ManualChanges, func(i ManualChange) bool { return i.Control.Kind != ControlNote })
}

type forceKey struct{}

// WithForce returns ctx with force, which is closed when whoever waits for the end has asked for it
// again. It stays in what context.WithoutCancel makes of ctx.
func WithForce(ctx context.Context, force <-chan struct{}) context.Context {
	return context.WithValue(ctx, forceKey{}, force)
}

// Forced returns closed when what is being stopped may take no more time; nil without WithForce.
func Forced(ctx context.Context) <-chan struct{} {
	force, _ := ctx.Value(forceKey{}).(<-chan struct{})
	return force
}
