package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// CheckStatus is the outcome of a check.
type CheckStatus string

// The outcomes. Info is a measured value that cannot fail, such as the size of an image.
const (
	CheckPassed  CheckStatus = "passed"
	CheckFailed  CheckStatus = "failed"
	CheckSkipped CheckStatus = "skipped"
	CheckInfo    CheckStatus = "info"
)

// CheckResult is one check. A failed one is a result, never the end of a run.
type CheckResult struct {
	Group   string        `json:"group"` // "lifecycle", or an endpoint group: "get", "search", …
	Name    string        `json:"name"`  // unique within the group
	Status  CheckStatus   `json:"status"`
	Value   string        `json:"value,omitempty"`  // what a table shows: "11.8 MiB", "4 processes, 11 threads", "404"
	Detail  string        `json:"detail,omitempty"` // of a failure or skip: wanted and got, bounded
	Took    time.Duration `json:"took_ns"`
	Suite   string        `json:"suite,omitempty"`
	Request string        `json:"request,omitempty"` // "GET /city/v1/get?id=1"
}

// Mark is a reading between the phases: "after start-up", "after checks".
type Mark struct {
	Name  string `json:"name"`
	Usage Usage  `json:"usage"`
}

// TrialState says how far a trial has come.
type TrialState string

// The states. Only a complete trial is whole; --resume runs every other again as a fresh life.
const (
	TrialPending  TrialState = "pending"
	TrialRunning  TrialState = "running"
	TrialComplete TrialState = "complete" // every step was run
	TrialFailed   TrialState = "failed"   // did not start, died or hung; what it did before is kept
	TrialAborted  TrialState = "aborted"  // interrupted from outside
)

// TrialResult is all that is known of one trial. One file each.
type TrialResult struct {
	Schema   int           `json:"schema"`
	Trial    Trial         `json:"trial"`
	State    TrialState    `json:"state"`
	Service  Service       `json:"service"`
	Artifact Artifact      `json:"artifact"`
	Instance *InstanceInfo `json:"instance,omitempty"`
	Started  time.Time     `json:"started"`
	Ended    time.Time     `json:"ended,omitzero"`
	// from the start of the process to the first response that says it is ready
	StartUp       *Duration      `json:"start_up_ns,omitempty"`
	FirstResponse *FirstResponse `json:"first_response,omitempty"` // nil: that was the first of any kind
	Phases        *Phases        `json:"first_requests,omitempty"` // of the first requests, where the profile asked for them
	Marks         []Mark         `json:"marks,omitempty"`
	Checks        []CheckResult  `json:"checks,omitempty"`
	Steps         []StepResult   `json:"steps,omitempty"`
	Stop          *StopResult    `json:"stop,omitempty"`
	Exit          *Exit          `json:"exit,omitempty"`    // if it ended before it was asked to
	Failure       string         `json:"failure,omitempty"` // what went wrong, in words
	LastLog       []LogLine      `json:"last_log,omitempty"`
	Warnings      Warnings       `json:"warnings,omitempty"`
	Lost          *Lost          `json:"lost,omitempty"` // what it has not measured, where it did not run to its end

	Incidents     []Incident     `json:"incidents,omitempty"`      // what was done to it from outside, in the order of time
	ManualChanges []ManualChange `json:"manual_changes,omitempty"` // what somebody asked for while it ran
}

// Definition returns that of the trial's steps; ok is false where nothing was sent in any.
func (l TrialResult) Definition() (d Definition, ok bool) {
	for _, s := range l.Steps {
		if s.Load.Sent > 0 && (!ok || s.Load.Definition < d) {
			d, ok = s.Load.Definition, true
		}
	}
	return d, ok
}

// Run is the record of a whole run: run.json.
type Run struct {
	Schema   int          `json:"schema"`
	ID       string       `json:"id"` // also in every label
	State    RunState     `json:"state"`
	Profile  Profile      `json:"profile"`
	Trials   []TrialEntry `json:"trials"`                 // in the order in which they run
	Hash     string       `json:"profile_hash,omitempty"` // of what the profile decides about the figures
	Seed     uint64       `json:"seed"`                   // of the order and of the drawn ids
	Started  time.Time    `json:"started"`
	Ended    time.Time    `json:"ended,omitzero"`
	Command  []string     `json:"command"`
	Machine  Machine      `json:"machine"`
	Isolated *Isolation   `json:"isolation,omitempty"` // nil: by a version that separated nothing
	Software Software     `json:"software"`
	Store    StoreInfo    `json:"store"`
	Data     DataInfo     `json:"data"`
	Files    []DataFile   `json:"files,omitempty"` // that requests take values and bodies from
	Warnings Warnings     `json:"warnings,omitempty"`
	Resumed  []time.Time  `json:"resumed,omitempty"`
	// the objective under which the steps were chosen one by one, as locbench capacity does
	Search string `json:"search,omitempty"`
	TLS    *TLS   `json:"tls,omitempty"` // nil: certificates are checked against those of the system
	// the user in the store's URL came from the environment: a resumed run needs the URL again
	StoreUserUnsaved bool `json:"store_user_unsaved,omitempty"`
	// services that run already, one for each contender; no trial launches anything then
	Targets  []Target `json:"targets,omitempty"`
	Services []string `json:"services_dir,omitempty"` // folders outside the binary that contenders came from

	// somebody wants claims about contenders whose checks failed
	AcceptFailedChecks bool `json:"accept_failed_checks,omitempty"`

	// what somebody asked for between two trials, or before the first; the others are with their trials
	ManualChanges []ManualChange `json:"manual_changes,omitempty"`
}

// TrialEntry is a trial's line in run.json.
type TrialEntry struct {
	Trial Trial      `json:"trial"`
	State TrialState `json:"state"`
	File  string     `json:"file"` // relative to the results folder

	Excluded *Exclusion `json:"excluded,omitempty"` // why its contender supports no claim; nil: nothing is known against it
}

// RunState says how a run stands.
type RunState string

const (
	RunRunning     RunState = "running"  // or killed: then nobody could write another
	RunComplete    RunState = "complete" // every trial was run, and at least one to its end (see Run.Outcome)
	RunFailed      RunState = "failed"   // no trial is complete, or not all were run, or a threshold has cut some short
	RunInterrupted RunState = "interrupted"
)

// Outcome returns the state of a run, and which contenders have failed in it: "kt-ktor in 2 of 6
// rounds". It is complete though one has failed, which earlier versions called failed.
func (r Run) Outcome() (state RunState, failed []string) {
	rounds, failures := map[string]int{}, map[string]int{}
	var labels []string
	complete, tried := false, true
	for _, e := range r.Trials {
		label := e.Trial.Label()
		if rounds[label]++; rounds[label] == 1 {
			labels = append(labels, label)
		}
		switch e.State {
		case TrialComplete:
			complete = true
		case TrialFailed:
			failures[label]++
		default:
			tried = false
		}
	}
	slices.Sort(labels) // their order in the first round is drawn
	for _, label := range labels {
		switch n := failures[label]; {
		case n == 0:
		case n == rounds[label]:
			failed = append(failed, label)
		default:
			failed = append(failed, fmt.Sprintf("%s in %d of %d rounds", label, n, rounds[label]))
		}
	}
	if r.State == RunFailed && complete && tried {
		return RunComplete, failed
	}
	return r.State, failed
}

// OutcomeText returns a line: "complete; failed: kt-ktor; orders-fake failed 36 of 36 checks".
func (r Run) OutcomeText() string {
	const named = 3
	state, failed := r.Outcome()
	text := string(state)
	if len(failed) > 0 {
		if state != RunFailed {
			text += "; failed"
		}
		if n := len(failed); n > named {
			text = fmt.Sprintf("%s: %d contenders", text, n)
		} else {
			text += ": " + strings.Join(failed, ", ")
		}
	}
	if excluded := r.Excluded(); len(excluded) > named {
		text += fmt.Sprintf("; %d contenders excluded", len(excluded))
	} else {
		for _, u := range excluded {
			text += "; " + u.Label + " " + u.Brief()
		}
	}
	return text
}
