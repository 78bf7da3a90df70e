package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// CheckStatus is the outcome of a check.
type CheckStatus string

// The outcomes. CheckInfo is a measured value that cannot fail, such as the size of an image.
const (
	CheckPassed  CheckStatus = "passed"
	CheckFailed  CheckStatus = "failed"
	CheckSkipped CheckStatus = "skipped"
	CheckInfo    CheckStatus = "info"
)

// CheckResult is the result of one check. A failed check never ends a run.
type CheckResult struct {
	Group   string        `json:"group"` // "lifecycle", or an endpoint group: "get", "search", …
	Name    string        `json:"name"`  // unique within the group
	Status  CheckStatus   `json:"status"`
	Value   string        `json:"value,omitempty"`  // value for tables: "11.8 MiB", "4 processes, 11 threads", "404"
	Detail  string        `json:"detail,omitempty"` // why it failed or was skipped: expected and actual response, bounded
	Took    time.Duration `json:"took_ns"`
	Suite   string        `json:"suite,omitempty"`
	Request string        `json:"request,omitempty"` // "GET /items?id=1"
}

// Mark is a reading of the counters between two phases: "after start-up", "after checks".
type Mark struct {
	Name  string `json:"name"`
	Usage Usage  `json:"usage"`
}

// TrialState is the state of a trial.
type TrialState string

// The states. --resume repeats every trial that is not complete, from the start.
const (
	TrialPending  TrialState = "pending"
	TrialRunning  TrialState = "running"
	TrialComplete TrialState = "complete" // every step was run
	TrialFailed   TrialState = "failed"   // did not start, died or hung; earlier results are kept
	TrialAborted  TrialState = "aborted"  // interrupted from outside
)

// TrialResult is the result of one trial: one file.
type TrialResult struct {
	Schema   int           `json:"schema"`
	Trial    Trial         `json:"trial"`
	State    TrialState    `json:"state"`
	Service  Service       `json:"service"`
	Artifact Artifact      `json:"artifact"`
	Instance *InstanceInfo `json:"instance,omitempty"`
	Started  time.Time     `json:"started"`
	Ended    time.Time     `json:"ended,omitzero"`
	// time from process start to the first response that says "ready"
	StartUp       *Duration      `json:"start_up_ns,omitempty"`
	FirstResponse *FirstResponse `json:"first_response,omitempty"` // nil: the first response said "ready"
	// times of the first requests, if the profile has first_requests
	FirstRequests *FirstRequests `json:"first_requests,omitempty"`
	Marks         []Mark         `json:"marks,omitempty"`
	Checks        []CheckResult  `json:"checks,omitempty"`
	Steps         []StepResult   `json:"steps,omitempty"`
	Stop          *StopResult    `json:"stop,omitempty"`
	Exit          *Exit          `json:"exit,omitempty"`    // set if the contender exited before it was stopped
	Failure       string         `json:"failure,omitempty"` // what went wrong, as text
	Cause         *Cause         `json:"cause,omitempty"`   // why it failed; nil: it did not, or for another reason
	LastLog       []LogLine      `json:"last_log,omitempty"`
	Warnings      Warnings       `json:"warnings,omitempty"`
	Lost          *Lost          `json:"lost,omitempty"` // what was not measured; nil if the trial is complete

	// what happened to the contender or its needs, in order of time
	Incidents     []Incident     `json:"incidents,omitempty"`
	ManualChanges []ManualChange `json:"manual_changes,omitempty"` // what the user changed or noted during the trial
}

// Definition returns the definition of the trial's steps; ok is false if no step sent a request.
func (t TrialResult) Definition() (d Definition, ok bool) {
	for _, s := range t.Steps {
		if s.Load.Sent > 0 && (!ok || s.Load.Definition < d) {
			d, ok = s.Load.Definition, true
		}
	}
	return d, ok
}

// Run is the record of a run: run.json.
type Run struct {
	Schema   int          `json:"schema"`
	ID       string       `json:"id"` // also in the labels of containers
	State    RunState     `json:"state"`
	Profile  Profile      `json:"profile"`
	Trials   []TrialEntry `json:"trials"`                 // all trials, in the order of the run
	Hash     string       `json:"profile_hash,omitempty"` // hash of the parts of the profile that results depend on
	Seed     uint64       `json:"seed"`                   // decides the order of the trials and the drawn ids
	Started  time.Time    `json:"started"`
	Ended    time.Time    `json:"ended,omitzero"`
	Command  []string     `json:"command"`
	Machine  Machine      `json:"machine"`
	Isolated *Isolation   `json:"isolation,omitempty"` // nil: CPUs were not assigned
	Software Software     `json:"software"`
	Needs    []NeedInfo   `json:"needs,omitempty"`
	Data     DataInfo     `json:"data"`
	Files    []DataFile   `json:"files,omitempty"` // files with values and bodies of requests
	Warnings Warnings     `json:"warnings,omitempty"`
	Resumed  []time.Time  `json:"resumed,omitempty"`
	// SLO of a search for capacity, which chose the steps
	Search string `json:"search,omitempty"`
	TLS    *TLS   `json:"tls,omitempty"` // nil: certificates of the system
	// load engine that was chosen; "": auto. The loop of a step says which one ran
	Engine Engine `json:"engine,omitempty"`
	// needs whose URL has a user from the environment: a resumed run takes that URL again
	UserUnsaved []string `json:"user_unsaved,omitempty"`
	// running services, one per contender; then locbench starts none
	Targets  []Target `json:"targets,omitempty"`
	Services []string `json:"services_dir,omitempty"` // folders with contenders that are not bundled
	// Command of a run after parsing: options as --name=value, without those of the output, then
	// contenders. Absent for other commands
	Given []string `json:"given,omitempty"`
	// files and images of needs: a resumed run has the same
	NeedParts []NeedPart `json:"need_parts,omitempty"`
	// path of the profile; absent: it is bundled, or was not a file
	ProfileFile string `json:"profile_file,omitempty"`
	// folders with files that the profile may name, in addition to its own
	AllowFiles []string `json:"allow_files,omitempty"`

	// contenders with failed checks are compared (--accept-failed-checks)
	AcceptFailedChecks bool `json:"accept_failed_checks,omitempty"`

	// why its contenders are not interleaved; nil: they are
	Plain *Plain `json:"not_interleaved,omitempty"`

	// what is built before the first trial; absent: nothing
	Builds Builds `json:"builds,omitzero"`

	// manual changes outside trials; the others are in the files of their trials
	ManualChanges []ManualChange `json:"manual_changes,omitempty"`
}

// Builds are the contenders that a run builds before its first trial.
type Builds struct {
	Count int      `json:"count"`
	Last  Duration `json:"last_ns,omitempty"` // what their last builds took in all; 0: not known of each
}

// Path returns a path of the profile as outputs show it: from the folder of the profile on. Results
// are passed on, so what has only the root in common with that folder is its last element.
func (r Run) Path(path string) string {
	switch {
	case !filepath.IsAbs(path):
		return path
	case !filepath.IsAbs(r.ProfileFile):
		return filepath.Base(path)
	}
	top := func(file string) string { return strings.SplitN(filepath.ToSlash(file), "/", 3)[1] }
	if rel, err := filepath.Rel(filepath.Dir(r.ProfileFile), path); err == nil && top(r.ProfileFile) == top(path) {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(path)
}

// TrialEntry is the entry of a trial in run.json.
type TrialEntry struct {
	Trial Trial      `json:"trial"`
	State TrialState `json:"state"`
	File  string     `json:"file"` // relative to the results folder

	Excluded *Exclusion `json:"excluded,omitempty"` // why its contender is excluded; nil: it is not
	Bodies   *Bodies    `json:"bodies,omitempty"`   // bodies compared in its steps; nil: none
}

// RunState is the state of a run.
type RunState string

// The states.
const (
	RunRunning     RunState = "running"  // or killed before it could write another state
	RunComplete    RunState = "complete" // every trial was run, and at least one is complete (see Run.Outcome)
	RunFailed      RunState = "failed"   // no trial is complete, or not all were run, or a threshold stopped some
	RunInterrupted RunState = "interrupted"
)

// Outcome returns the state of a run and the contenders that failed in it: "kt-ktor in 2 of 6
// rounds". A run in which some contenders failed is complete, whatever its record says.
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
	slices.Sort(labels) // the order of the first round is random
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
	excluded := r.onlyExcluded()
	if len(excluded) > named {
		text += fmt.Sprintf("; %d contenders excluded", len(excluded))
	} else {
		for _, u := range excluded {
			text += "; " + u.Label + " " + u.Brief()
		}
	}
	return text
}

// OutcomeCounts is the short form of OutcomeText for a narrow place: "1 failed, 2 excluded"; "" if
// no contender is either.
func (r Run) OutcomeCounts() string {
	_, failed := r.Outcome()
	var parts []string
	if n := len(failed); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := len(r.onlyExcluded()); n > 0 {
		parts = append(parts, fmt.Sprintf("%d excluded", n))
	}
	return strings.Join(parts, ", ")
}

// onlyExcluded leaves out excluded contenders that failed: Outcome names them.
func (r Run) onlyExcluded() []ExcludedContender {
	return slices.DeleteFunc(r.Excluded(), func(u ExcludedContender) bool { return u.Cause != nil && u.Unexpected == nil })
}
