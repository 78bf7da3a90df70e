package bench

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// WarningKind is what a warning is about, for programs. The kind of a warning about an incident is
// the kind of the incident: WarningKind(IncidentOOM).
type WarningKind string

// The kinds.
const (
	WarnOther WarningKind = "" // has only a text

	// About the client.
	WarnClientBound       WarningKind = "client_bound"        // the client was the bottleneck
	WarnClientMaybeBound  WarningKind = "client_maybe_bound"  // the client may be the bottleneck
	WarnClientLimit       WarningKind = "client_limit"        // out of ports, files or memory of the client
	WarnInterrupted       WarningKind = "interrupted"         // requests in flight were cut off
	WarnReopened          WarningKind = "reopened"            // connections were opened again
	WarnSentAgain         WarningKind = "sent_again"          // requests were sent twice
	WarnResponsesSeenLate WarningKind = "responses_seen_late" // the client read responses after they had arrived
	WarnClockUnsteady     WarningKind = "clock_unsteady"      // times and counts of requests in flight differ
	WarnWaitedForPorts    WarningKind = "waited_for_ports"    // the step started late: no free local ports

	// About the load and the contender.
	WarnDropped              WarningKind = "dropped"         // scheduled requests were never sent
	WarnPace                 WarningKind = "pace_not_kept"   // iterations took longer than their pace
	WarnLate                 WarningKind = "late"            // requests were sent late: all connections were in use
	WarnNotKeepingUp         WarningKind = "not_keeping_up"  // the backlog was growing
	WarnQueueOutlastedLeadIn WarningKind = "unserved"        // the queue outlasted the lead-in
	WarnFirstResponses       WarningKind = "first_responses" // the first responses took far longer than later ones
	WarnDelayedACKs          WarningKind = "delayed_acks"    // latencies pile up at the time of a delayed acknowledgment
	WarnSlowDrain            WarningKind = "slow_drain"      // requests that ended after the interval took far longer than those in it
	WarnUnstableLoad         WarningKind = "unsteady"        // throughput × latency does not match the requests in flight
	WarnWarmingUp            WarningKind = "warming"         // Drift: the contender became faster
	WarnDrifting             WarningKind = "drifting"        // Drift: the contender became slower
	WarnMachineChanged       WarningKind = "machine_changed" // Drift: the contenders next to it changed alike
	WarnErrors               WarningKind = "errors"          // requests failed
	WarnRejected             WarningKind = "rejected"        // responses that are expected, but not throughput
	WarnNotLookedAt          WarningKind = "not_looked_at"   // bodies that were to be compared, and were not
	WarnMemoryGrowth         WarningKind = "memory_growth"   // memory grew with the requests and did not come back
	WarnOOM                              = WarningKind(IncidentOOM)
	WarnBusyOutOfTurn        WarningKind = "busy_out_of_turn" // it used CPUs while other contenders were loaded
	WarnRunPaused            WarningKind = "run_paused"       // by the user, before the step

	// About the readings and the machine.
	WarnCountersMissing    WarningKind = "counters_missing"    // no counters at an end of the step
	WarnNeedNotMeasured    WarningKind = "need_not_measured"   // no counters of what contenders need
	WarnOwnNeeds           WarningKind = "own_needs"           // two services have different needs of one name
	WarnColdCache          WarningKind = "cold_cache"          // a need read from disk in a measured step
	WarnReadingsFailed     WarningKind = "readings_failed"     // some readings within the step failed
	WarnMachineStall       WarningKind = "machine_stall"       // the whole machine did not run
	WarnSteal              WarningKind = "steal"               // CPU time went to other VMs
	WarnOverheated         WarningKind = "heat"                // CPUs were throttled for heat
	WarnOtherRun           WarningKind = "other_run"           // another run was active on the same machine
	WarnMachineState       WarningKind = "machine_state"       // the machine was busy before the run
	WarnClockSet           WarningKind = "clock_set"           // the time of day jumped
	WarnOvercommitted      WarningKind = "overcommit"          // contenders may use more memory than there is
	WarnLimitsNotEnforced  WarningKind = "limits_not_enforced" // the runtime could not enforce the limits
	WarnPrivileged         WarningKind = "privileged"          // a contender has additional privileges
	WarnHung               WarningKind = "hung"                // a contender did not stop on SIGTERM
	WarnResumedDifferently WarningKind = "resumed"             // a run was resumed under other conditions

	// About rounds and comparisons.
	WarnOutlier      WarningKind = "outlier"       // a round is an outlier
	WarnTwoKinds     WarningKind = "two_kinds"     // the rounds are of two kinds
	WarnTrend        WarningKind = "trend"         // the rounds rise or fall
	WarnStepLeftOut  WarningKind = "step_left_out" // a step of a round, or its latency, is not in the summary
	WarnEstimate     WarningKind = "estimate"      // the true value may be higher
	WarnIncomplete   WarningKind = "incomplete"    // trials or rounds are not complete
	WarnManualChange WarningKind = "manual_change" // the user changed the run by hand
	WarnExcluded     WarningKind = "excluded"      // responses were unexpected, or may have been
)

// titles names groups of warnings by their kind. A kind without a title is named by the text.
var titles = map[WarningKind]string{
	WarnClientBound:          "client-bound",
	WarnClientMaybeBound:     "the client may be the bottleneck",
	WarnClientLimit:          "the client ran out of ports, files or memory",
	WarnInterrupted:          "interrupted",
	WarnReopened:             "reconnects; latency includes them",
	WarnSentAgain:            "requests sent again after their connection ended",
	WarnDelayedACKs:          "latencies of 40 ms: delayed acknowledgments",
	WarnSlowDrain:            "slow responses after the measured interval, not in p99 and max",
	WarnClockUnsteady:        "unstable machine clock",
	WarnResponsesSeenLate:    "the client saw responses late",
	WarnWaitedForPorts:       "step start delayed: no free local ports",
	WarnDropped:              "scheduled requests were dropped",
	WarnRejected:             "requests were rejected",
	WarnNotLookedAt:          "bodies were not looked at",
	WarnPace:                 "iterations longer than their pace",
	WarnLate:                 "requests sent late: all connections in use",
	WarnNotKeepingUp:         "the contender did not keep up",
	WarnQueueOutlastedLeadIn: "queue outlasted the lead-in",
	WarnFirstResponses:       "the first responses took long: a pool that fills, a cold cache, compilation",
	WarnUnstableLoad:         "unstable load",
	WarnWarmingUp:            StillWarmingUp,
	WarnDrifting:             Unstable,
	WarnMachineChanged:       "the machine changed within a step",
	WarnOOM:                  "out of memory",
	WarnMemoryGrowth:         "memory grew with the requests",
	WarnBusyOutOfTurn:        "busy while others were loaded",
	WarnRunPaused:            "run was paused before this step",
	WarnCountersMissing:      "counters missing for this step",
	WarnNeedNotMeasured:      "need without counters",
	WarnOwnNeeds:             "different needs of services",
	WarnColdCache:            "need still read from disk",
	WarnReadingsFailed:       "some readings failed",
	WarnMachineStall:         "machine stalls",
	WarnSteal:                "CPU steal by other VMs",
	WarnOverheated:           "thermal throttling",
	WarnOtherRun:             "another run active",

	WarningKind(IncidentPaused): "contender was paused",
	WarningKind(IncidentSilent): "does not respond",
	WarningKind(IncidentNeed):   "need does not respond",
	WarningKind(IncidentData):   "data has changed",

	WarningKind(IncidentNeedPaused): "need was paused",
}

// Warning is a reason to distrust a result, saved next to it.
type Warning struct {
	Kind   WarningKind        `json:"kind,omitempty"`
	Text   string             `json:"text"`             // a sentence for people
	Values map[string]float64 `json:"values,omitempty"` // values of the sentence, by name; times in nanoseconds
}

// GrowthRate is the value of WarnMemoryGrowth: bytes per request.
const GrowthRate = "bytes_per_request"

// String returns the text.
func (w Warning) String() string { return w.Text }

// Title returns the title of the kind, or the text.
func (w Warning) Title() string { return cmp.Or(titles[w.Kind], w.Text) }

// plain is a Warning without its methods.
type plain Warning

// MarshalJSON writes an object, or only the text if there is nothing else.
func (w Warning) MarshalJSON() ([]byte, error) {
	if w.Kind == WarnOther && len(w.Values) == 0 {
		return json.Marshal(w.Text)
	}
	return json.Marshal(plain(w))
}

// UnmarshalJSON reads both forms.
func (w *Warning) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*w = Warning{}
		return json.Unmarshal(data, &w.Text)
	}
	return json.Unmarshal(data, (*plain)(w))
}

// Warnings are the warnings about one result.
type Warnings []Warning

// Add adds a warning unless it is there already, as after resuming a run.
func (w *Warnings) Add(one Warning) (added bool) {
	same := func(o Warning) bool {
		return o.Kind == one.Kind && o.Text == one.Text && maps.Equal(o.Values, one.Values)
	}
	if slices.ContainsFunc(*w, same) {
		return false
	}
	*w = append(*w, one)
	return true
}

// Has reports whether any warning has one of the kinds.
func (w Warnings) Has(kinds ...WarningKind) bool {
	return slices.ContainsFunc(w, func(one Warning) bool { return slices.Contains(kinds, one.Kind) })
}

// Join returns the texts, separated by between.
func (w Warnings) Join(between string) string {
	var texts []string
	for _, one := range w {
		texts = append(texts, one.Text)
	}
	return strings.Join(texts, between)
}

// WarningNotice returns the notice for a warning about a whole trial or run.
func WarningNotice(w Warning) Notice {
	return Notice{Level: "warning", Text: w.Text, Kind: w.Kind, Values: w.Values}
}

// Warning returns the warning that is saved for a notice.
func (n Notice) Warning() Warning { return Warning{Kind: n.Kind, Text: n.Text, Values: n.Values} }
