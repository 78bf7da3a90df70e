package bench

import (
	"context"
	"fmt"
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
	ControlAbort         ControlKind = "abort"           // end the run now, gracefully, as Ctrl-C does
)

// Control is an action of the user. In JSON it is one line on a controlled run's standard input.
type Control struct {
	Kind ControlKind `json:"kind"`
}

// Validate returns an error that says what is wrong; a Control may come from another program.
func (c Control) Validate() error {
	switch c.Kind {
	case ControlPause, ControlResume, ControlSkipStep, ControlSkipContender, ControlStop, ControlAbort:
		return nil
	}
	return fmt.Errorf("unknown control %q", c.Kind)
}

// ManualChange is an action of the user that the run has carried out.
type ManualChange struct {
	At      time.Time `json:"at"`
	Step    *int      `json:"step,omitempty"` // index of the step that ran then; nil between steps
	Control Control   `json:"control"`
}

// ChangedByHand reports whether the trial has a manual change.
func (t TrialResult) ChangedByHand() bool { return len(t.ManualChanges) > 0 }

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
