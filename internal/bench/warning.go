package bench

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// WarningKind says what a warning is about. Programs go by the kind, people read the text. What
// happened to a contender has the kind of its incident: WarningKind(IncidentOOM).
type WarningKind string

const (
	WarnOther WarningKind = "" // what it is about is in its text alone

	// Of the load generator, about its own part.
	WarnClientBound       WarningKind = "client_bound"        // the figure is the client's own
	WarnClientMaybeBound  WarningKind = "client_maybe_bound"  // the client may be the bottleneck
	WarnClientLimit       WarningKind = "client_limit"        // out of ports, files or memory on this side
	WarnInterrupted       WarningKind = "interrupted"         // requests in flight were cut off
	WarnReopened          WarningKind = "reopened"            // connections were opened again
	WarnResponsesSeenLate WarningKind = "responses_seen_late" // the client did not see answers when they came
	WarnClockUnsteady     WarningKind = "clock_unsteady"      // two records of the same time differ
	WarnWaitedForPorts    WarningKind = "waited_for_ports"    // the step began later, for lack of local ports

	// About what was asked of the contender, and what came of it.
	WarnDropped              WarningKind = "dropped"        // requests were scheduled and were never sent
	WarnLate                 WarningKind = "late"           // requests waited for a connection
	WarnNotKeepingUp         WarningKind = "not_keeping_up" // a queue was growing
	WarnQueueOutlastedLeadIn WarningKind = "unserved"       // the lead-in was too short for the queue
	WarnUnstableLoad             WarningKind = "unsteady"       // the queue grew or shrank
	WarnWarmingUp            WarningKind = "warming"        // see Drift
	WarnDrifting             WarningKind = "drifting"       // see Drift, where it became slower
	WarnMaybeUnstable        WarningKind = "maybe_unstable" // a trend that noise hides, in the first step after a warm-up
	WarnErrors               WarningKind = "errors"         // requests failed
	WarnThrottled            WarningKind = "throttled"      // by the CPU quota
	WarnMemory               WarningKind = "memory"         // nearly all of the limit is in use
	WarnOOM                              = WarningKind(IncidentOOM)
	WarnBusyOutOfTurn        WarningKind = "busy_out_of_turn" // it worked while others had their turns
	WarnRunPaused            WarningKind = "run_paused"       // on request, before the step
	WarnRateChanged          WarningKind = "rate_changed"     // on request, within the step

	// About the readings and the machine.
	WarnCountersMissing    WarningKind = "counters_missing"
	WarnReadingsFailed     WarningKind = "readings_failed"
	WarnMachineStall       WarningKind = "machine_stall"       // the whole machine did not run
	WarnSteal              WarningKind = "steal"               // CPU time went to other virtual machines
	WarnOverheated         WarningKind = "heat"                // CPUs were slowed down
	WarnOtherRun           WarningKind = "other_run"           // another run was on, on the same machine
	WarnMachineState       WarningKind = "machine_state"       // the machine was at work before the run
	WarnClockSet           WarningKind = "clock_set"           // the time of day jumped
	WarnOvercommitted      WarningKind = "overcommit"          // contenders may take more memory than there is
	WarnLimitsNotEnforced  WarningKind = "limits_not_enforced" // limits could not be enforced
	WarnPrivileged         WarningKind = "privileged"          // a contender has more rights than others
	WarnHung               WarningKind = "hung"                // a contender did not stop when asked to
	WarnResumedDifferently WarningKind = "resumed"             // a run continued under other conditions
	WarnOldStepDefinition  WarningKind = "old_step_definition" // measured by the earlier definition of a step
	WarnOtherTool          WarningKind = "other_tool"          // measured by another tool

	// About the rounds of a contender, and about what is compared.
	WarnOutlier      WarningKind = "outlier"       // a round stands apart from the others
	WarnTrend        WarningKind = "trend"         // the rounds rise or fall
	WarnStepLeftOut  WarningKind = "step_left_out" // a step of a round is not in the summary, or its latency is not
	WarnEstimate     WarningKind = "estimate"      // the true value may be higher
	WarnIncomplete   WarningKind = "incomplete"    // trials or rounds did not run to their end
	WarnManualChange WarningKind = "manual_change" // somebody intervened
	WarnExcluded     WarningKind = "excluded"      // what was answered was wrong, or may have been
)

// titles are what is found, by its kind, where one phrase stands for all warnings of the kind.
var titles = map[WarningKind]string{
	WarnClientBound:          "client-bound",
	WarnClientMaybeBound:     "the client may be the bottleneck",
	WarnClientLimit:          "the client ran out of ports, files or memory",
	WarnInterrupted:          "interrupted",
	WarnReopened:             "reconnects; latency includes them",
	WarnClockUnsteady:        "unstable machine clock",
	WarnResponsesSeenLate:    "the client saw responses late",
	WarnWaitedForPorts:       "step start delayed: no free local ports",
	WarnDropped:              "scheduled requests were dropped",
	WarnLate:                 "requests sent late: all connections in use",
	WarnNotKeepingUp:         "the contender did not keep up",
	WarnQueueOutlastedLeadIn: "queue outlasted the lead-in",
	WarnUnstableLoad:             "unstable load",
	WarnWarmingUp:            StillWarmingUp,
	WarnDrifting:             Unstable,
	WarnMaybeUnstable:        "possibly " + StillWarmingUp + ", or " + Unstable,
	WarnOOM:                  "out of memory",
	WarnBusyOutOfTurn:        "busy while others were loaded",
	WarnRunPaused:            "run was paused before this step",
	WarnRateChanged:          "rate was changed by hand",
	WarnCountersMissing:      "counters missing for this step",
	WarnReadingsFailed:       "some readings failed",
	WarnMachineStall:         "machine stalls",
	WarnSteal:                "CPU steal by other VMs",
	WarnOverheated:           "thermal throttling",
	WarnOtherRun:             "another run active",

	WarningKind(IncidentPaused): "contender was paused",
	WarningKind(IncidentSilent): "does not respond",
	WarningKind(IncidentStore):  "store does not respond",
	WarningKind(IncidentData):   "the store's documents have changed",
}

// Warning is a warning about a result: a warning next to its figures.
type Warning struct {
	Kind   WarningKind        `json:"kind,omitempty"`
	Text   string             `json:"text"`             // a sentence with the figures
	Values map[string]float64 `json:"values,omitempty"` // those of the text, by name; times in nanoseconds
}

// String returns the sentence.
func (f Warning) String() string { return f.Text }

// Title returns what it is about, without the figures where its kind has a phrase for that.
func (f Warning) Title() string { return cmp.Or(titles[f.Kind], f.Text) }

// plain is a Warning without its methods.
type plain Warning

// MarshalJSON writes an object, or the text alone where there is no more.
func (f Warning) MarshalJSON() ([]byte, error) {
	if f.Kind == WarnOther && len(f.Values) == 0 {
		return json.Marshal(f.Text)
	}
	return json.Marshal(plain(f))
}

// UnmarshalJSON reads both forms.
func (f *Warning) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*f = Warning{}
		return json.Unmarshal(data, &f.Text)
	}
	return json.Unmarshal(data, (*plain)(f))
}

// Warnings are those about one thing.
type Warnings []Warning

// Add adds a warning unless the same one is there, as in those of a run that is resumed.
func (f *Warnings) Add(one Warning) (added bool) {
	same := func(o Warning) bool {
		return o.Kind == one.Kind && o.Text == one.Text && maps.Equal(o.Values, one.Values)
	}
	if slices.ContainsFunc(*f, same) {
		return false
	}
	*f = append(*f, one)
	return true
}

// Has reports whether one is of any of the kinds.
func (f Warnings) Has(kinds ...WarningKind) bool {
	return slices.ContainsFunc(f, func(one Warning) bool { return slices.Contains(kinds, one.Kind) })
}

// Join puts their sentences together.
func (f Warnings) Join(between string) string {
	var texts []string
	for _, one := range f {
		texts = append(texts, one.Text)
	}
	return strings.Join(texts, between)
}

// WarningNotice returns the notice of a warning about a whole trial or run.
func WarningNotice(f Warning) Notice {
	return Notice{Level: "warning", Text: f.Text, Kind: f.Kind, Values: f.Values}
}

// Warning returns what stays of a notice next to the results.
func (n Notice) Warning() Warning { return Warning{Kind: n.Kind, Text: n.Text, Values: n.Values} }
