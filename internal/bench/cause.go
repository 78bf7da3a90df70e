package bench

import (
	"fmt"
	"time"

	"locbench/internal/bench/units"
)

// CauseKind is what ended a trial of a contender, for programs.
type CauseKind string

// The kinds, the gravest first.
const (
	CauseKilled CauseKind = "killed" // by the kernel: out of memory
	CauseExited CauseKind = "exited"
	CauseSilent CauseKind = "silent" // it did not respond any more
)

// Cause is why a contender did not complete its trial.
type Cause struct {
	Kind CauseKind `json:"kind"`
	Text string    `json:"text"` // "killed out of memory at 256 MiB (limits.memory), 41.0 s after its start"
}

// Cause returns why the contender failed the trial; nil if it did not, or for another reason. It is
// the first sentence about the contender in every output.
func (t TrialResult) Cause() *Cause {
	switch e := t.Exit; {
	case e != nil:
		return CauseOf(*e, t.Instance)
	case t.State != TrialFailed:
		return nil
	}
	for _, in := range t.Incidents {
		if in.Kind == IncidentSilent {
			return &Cause{CauseSilent, in.Text}
		}
	}
	return nil
}

// CauseOf returns the cause that is an exit. info may be nil.
func CauseOf(e Exit, info *InstanceInfo) *Cause {
	after, limit := "", int64(0)
	if info != nil {
		if d := e.At.Sub(info.StartedAt); !info.StartedAt.IsZero() && !e.At.IsZero() && d > 0 {
			after = ", " + units.Duration(d.Round(time.Millisecond)) + " after its start"
		}
		if info.LimitsEnforced {
			limit = info.Limits.Memory
		}
	}
	if !e.OOMKilled {
		text := AbortedDied + ": " + e.String() + after
		if e.Said != "" {
			text += ": " + e.Said
		}
		return &Cause{CauseExited, text}
	}
	text := "killed out of memory"
	if limit > 0 {
		// The kernel kills at the limit: the memory in use was all of it, whatever the last reading.
		text += fmt.Sprintf(" at %s (limits.memory)", units.Bytes(limit))
		after += ", peak " + units.Bytes(limit)
	}
	return &Cause{CauseKilled, text + after}
}
