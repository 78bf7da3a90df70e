package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ControlKind names an action that a user can take during a run.
type ControlKind string

// Words returns the kind as people read it: "skip step".
func (k ControlKind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// The kinds. A running step continues unless the comment says otherwise. Each action taken is
// recorded as ChangedManually.
const (
	ControlPause    ControlKind = "pause"     // pause before the next step or trial
	ControlResume   ControlKind = "resume"    // continue after a pause, or cancel a requested one
	ControlSkipStep ControlKind = "skip_step" // end the running step now; its results are kept, marked as aborted
	// end the running trial now, and skip the contender's later rounds
	ControlSkipContender ControlKind = "skip_contender"
	ControlStop          ControlKind = "stop_after_step" // finish the running step, then end the run gracefully
	// open loop: schedule this number of requests per second from now on
	ControlRate  ControlKind = "rate"
	ControlNote  ControlKind = "note"  // mark the moment with Text
	ControlAbort ControlKind = "abort" // end the run now, gracefully, as Ctrl-C does
)

// NoteLimit is the maximum length of Control.Text, in bytes.
const NoteLimit = 500

// Control is an action of the user. In JSON it is one line on a controlled run's standard input.
type Control struct {
	Kind ControlKind `json:"kind"`
	Text string      `json:"text,omitempty"` // text of a note
	Rate float64     `json:"rate,omitempty"` // requests per second
}

// Validate returns an error that says what is wrong; a Control may come from another program.
func (c Control) Validate() error {
	switch c.Kind {
	case ControlPause, ControlResume, ControlSkipStep, ControlSkipContender, ControlStop, ControlAbort:
	case ControlRate:
		if !(c.Rate > 0 && c.Rate <= 1e9) {
			return fmt.Errorf("control %q: rate %g: expected more than 0 and at most 1e9 requests per second", c.Kind, c.Rate)
		}
	case ControlNote:
		if c.Text == "" || len(c.Text) > NoteLimit {
			return fmt.Errorf("control %q: text of %d bytes: expected 1 to %d", c.Kind, len(c.Text), NoteLimit)
		}
	default:
		return fmt.Errorf("unknown control %q", c.Kind)
	}
	return nil
}

// ManualChange is an action of the user that the run has carried out.
type ManualChange struct {
	At      time.Time `json:"at"`
	Step    *int      `json:"step,omitempty"` // index of the step that ran then; nil between steps
	Control Control   `json:"control"`
}

// ChangedByHand reports whether the trial has a manual change other than a note.
func (t TrialResult) ChangedByHand() bool {
	return slices.ContainsFunc(t.ManualChanges, func(c ManualChange) bool { return c.Control.Kind != ControlNote })
}

type forceKey struct{}

// WithForce returns ctx with the channel force, which is closed when the user asks for the end a
// second time. context.WithoutCancel keeps it.
func WithForce(ctx context.Context, force <-chan struct{}) context.Context {
	return context.WithValue(ctx, forceKey{}, force)
}

// Forced returns the channel of WithForce, which is closed to force the end; nil without.
func Forced(ctx context.Context) <-chan struct{} {
	force, _ := ctx.Value(forceKey{}).(<-chan struct{})
	return force
}
