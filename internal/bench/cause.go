package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
)

// CauseKind is what ended a trial of a contender, for programs.
type CauseKind string

// The kinds, the gravest first.
const (
	CauseKilled CauseKind = "killed" // by the kernel: out of memory
	CauseExited CauseKind = "exited"
	CauseSilent CauseKind = "silent" // it did not respond any more
	// it ran, and did not become ready in time
	CauseNotReady CauseKind = "not_ready"
	CauseHung     CauseKind = "hung" // it handled SIGTERM, and did not stop in time
	CauseNeed     CauseKind = "need" // a need ended or did not respond: not the contender's fault
)

// Cause is why a contender did not complete its trial.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// what happened, without its subject: "killed out of memory at 256 MiB (limits.memory), 41.0 s
	// after its start", "exit code 7", "did not respond after the load: GET /: i/o timeout"
	Text string `json:"text"`
	// number of killed processes of a contender that continued to run
	Processes int64 `json:"processes,omitempty"`
}

// String returns the cause as the failure of a trial: "the contender died: exit code 7".
func (c Cause) String() string {
	if c.Kind == CauseExited {
		return AbortedDied + ": " + c.Text
	}
	return c.Text
}

// Predicate returns the cause after the name of the contender: "was killed out of memory at 256
// MiB".
func (c Cause) Predicate() string {
	switch {
	case c.Kind == CauseKilled && c.Processes == 0, c.Kind == CauseNotReady:
		return "was " + c.Text
	case c.Kind == CauseExited:
		return "died: " + c.Text
	}
	return c.Text
}

// WhyFailed returns why the contender failed the trial; nil if it did not, or for another reason.
// It is the first sentence about the contender in every output.
func (t TrialResult) WhyFailed() *Cause {
	switch {
	case t.State != TrialFailed || t.LostNeed():
		return nil
	case t.Cause == nil && t.Exit != nil: // results without the field
		return CauseOf(*t.Exit, t.Instance)
	}
	return t.Cause
}

// LostNeed reports whether the trial failed because a need ended, or did not respond.
func (t TrialResult) LostNeed() bool {
	return t.State == TrialFailed && t.Cause != nil && t.Cause.Kind == CauseNeed
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
		text := e.String() + after
		if e.Said != "" {
			text += ": " + e.Said
		}
		return &Cause{Kind: CauseExited, Text: text}
	}
	return &Cause{Kind: CauseKilled, Text: outOfMemory(limit) + after}
}

// KilledProcesses returns the cause that the kernel killed n processes of a contender, the first
// one in step (from 1), while others continued to run.
func KilledProcesses(n int64, step int, info *InstanceInfo) Cause {
	limit := int64(0)
	if info.LimitsEnforced {
		limit = info.Limits.Memory
	}
	processes := "1 process"
	if n > 1 {
		processes = units.Count(n) + " processes"
	}
	return Cause{
		Kind: CauseKilled, Processes: n,
		Text: fmt.Sprintf("lost %s, %s, first in step %d", processes, outOfMemory(limit), step),
	}
}

func outOfMemory(limit int64) string {
	if limit <= 0 {
		return "killed out of memory"
	}
	// The kernel kills at the limit: the memory in use was all of it, whatever the last reading.
	return "killed out of memory at " + units.Bytes(limit) + " (limits.memory)"
}

// graver returns the cause of the graver kind, the first of two alike; either may be nil.
func graver(a, b *Cause) *Cause {
	if a == nil || b != nil && b.Kind.rank() < a.Kind.rank() {
		return b
	}
	return a
}

// rank orders the kinds, the gravest first.
func (k CauseKind) rank() int {
	return slices.Index([]CauseKind{CauseKilled, CauseExited, CauseSilent, CauseNotReady, CauseHung}, k)
}

// signalNames are those of Linux by their numbers, from 1.
var signalNames = strings.Fields(`SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE
	SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF
	SIGWINCH SIGIO SIGPWR SIGSYS`)

const (
	firstRealTime = 34
	lastRealTime  = 64
)

// SignalHint says how a signal is written.
const SignalHint = "write one such as SIGINT"

// SignalNumber returns the number of a signal on Linux, of its name or number as images and compose
// files have it: SIGINT, INT, 2, SIGRTMIN+3; 0 for another text.
func SignalNumber(name string) int {
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= lastRealTime {
		return n
	}
	name = "SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")
	from, sign, text := firstRealTime, 1, ""
	if rest, ok := strings.CutPrefix(name, "SIGRTMIN"); ok {
		text = strings.TrimPrefix(rest, "+")
	} else if rest, ok := strings.CutPrefix(name, "SIGRTMAX"); ok {
		from, sign, text = lastRealTime, -1, strings.TrimPrefix(rest, "-")
	} else {
		return slices.Index(signalNames, name) + 1
	}
	n, err := strconv.Atoi(text)
	if n = from + sign*n; text != "" && err != nil || n < firstRealTime || n > lastRealTime {
		return 0
	}
	return n
}

// SignalName returns the name of a signal by its number: "SIGINT"; its text if it has none.
func SignalName(number int) string {
	if number > 0 && number <= len(signalNames) {
		return signalNames[number-1]
	}
	return strconv.Itoa(number)
}
