package bench

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// FindingKind says what a finding is about. Programs go by the kind, people read the text. What
// happened to a contender has the kind of its incident: FindingKind(IncidentOOM).
type FindingKind string

const (
	FoundOther FindingKind = "" // what it is about is in its text alone

	// Of the load generator, about its own part.
	FoundClientBound     FindingKind = "client-bound"     // the figure is the client's own
	FoundClientSuspected FindingKind = "client suspected" // the client may be the bottleneck
	FoundClientLimit     FindingKind = "client limit"     // out of ports, files or memory on this side
	FoundInterrupted     FindingKind = "interrupted"      // requests in flight were cut off
	FoundReopened        FindingKind = "reopened"         // connections were opened again
	FoundAnswersUnseen   FindingKind = "answers unseen"   // the client did not see answers when they came
	FoundUnsteadyClock   FindingKind = "unsteady clock"   // two records of the same time differ
	FoundPortsAwaited    FindingKind = "ports awaited"    // the step began later, for want of local ports

	// About what was asked of the contender, and what came of it.
	FoundDropped     FindingKind = "dropped"     // requests came due and were never sent
	FoundLate        FindingKind = "late"        // requests waited for a connection
	FoundNotKeptUp   FindingKind = "not kept up" // a queue was growing
	FoundUnserved    FindingKind = "unserved"    // the lead-in was too short for the queue
	FoundUnsteady    FindingKind = "unsteady"    // the queue grew or shrank
	FoundWarming     FindingKind = "warming"     // see Drift
	FoundDrifting    FindingKind = "drifting"    // see Drift, where it became slower
	FoundMayDrift    FindingKind = "may drift"   // a trend that noise hides, in the first step after a warm-up
	FoundErrors      FindingKind = "errors"      // requests failed
	FoundThrottled   FindingKind = "throttled"   // by the CPU quota
	FoundMemory      FindingKind = "memory"      // nearly all of the limit is in use
	FoundOOM                     = FindingKind(IncidentOOM)
	FoundRestless    FindingKind = "restless"     // it worked while others had their turns
	FoundPaused      FindingKind = "run paused"   // on request, before the step
	FoundRateChanged FindingKind = "rate changed" // on request, within the step

	// About the readings and the machine.
	FoundCountersUnread FindingKind = "counters unread"
	FoundReadingsFailed FindingKind = "readings failed"
	FoundStandstill     FindingKind = "standstill"   // the whole machine did not run
	FoundStolen         FindingKind = "steal"        // CPU time went to other virtual machines
	FoundHot            FindingKind = "heat"         // CPUs were slowed down
	FoundNeighbour      FindingKind = "neighbour"    // another run was on, on the same machine
	FoundUnrest         FindingKind = "unrest"       // the machine was at work before the run
	FoundClockSet       FindingKind = "clock set"    // the time of day jumped
	FoundOvercommitted  FindingKind = "overcommit"   // contenders may take more memory than there is
	FoundUnlimited      FindingKind = "not limited"  // limits could not be enforced
	FoundPrivileged     FindingKind = "privileged"   // a contender has more rights than others
	FoundHung           FindingKind = "hung"         // a contender did not stop when asked to
	FoundOtherwise      FindingKind = "resumed"      // a run went on under other conditions
	FoundEarlier        FindingKind = "earlier"      // measured by the earlier definition of a step
	FoundForeign        FindingKind = "foreign tool" // measured by another tool

	// About the rounds of a contender, and about what is compared.
	FoundOutlier    FindingKind = "outlier"    // a round stands apart from the others
	FoundTrend      FindingKind = "trend"      // the rounds rise or fall
	FoundLeftOut    FindingKind = "left out"   // a step of a round is not in the summary, or its latency is not
	FoundEstimate   FindingKind = "estimate"   // the true value may be higher
	FoundIncomplete FindingKind = "incomplete" // trials or rounds did not run to their end
	FoundSteered    FindingKind = "steered"    // somebody intervened
	FoundUnsound    FindingKind = "unsound"    // what was answered was wrong, or may have been
)

// titles are what is found, by its kind, where one phrase stands for all findings of the kind.
var titles = map[FindingKind]string{
	FoundClientBound:     "client-bound",
	FoundClientSuspected: "the client may be the bottleneck",
	FoundClientLimit:     "the client ran out of ports, files or memory",
	FoundInterrupted:     "interrupted",
	FoundReopened:        "reconnects; latency includes them",
	FoundUnsteadyClock:   "unstable machine clock",
	FoundAnswersUnseen:   "the client saw responses late",
	FoundPortsAwaited:    "step start delayed: no free local ports",
	FoundDropped:         "scheduled requests were dropped",
	FoundLate:            "requests sent late: all connections in use",
	FoundNotKeptUp:       "the contender did not keep up",
	FoundUnserved:        "queue outlasted the lead-in",
	FoundUnsteady:        "unstable load",
	FoundWarming:         StillWarming,
	FoundDrifting:        NotSteady,
	FoundMayDrift:        "possibly " + StillWarming + ", or " + NotSteady,
	FoundOOM:             "out of memory",
	FoundRestless:        "busy while others were loaded",
	FoundPaused:          "run was paused before this step",
	FoundRateChanged:     "rate was changed by hand",
	FoundCountersUnread:  "counters missing for this step",
	FoundReadingsFailed:  "some readings failed",
	FoundStandstill:      "machine stalls",
	FoundStolen:          "CPU steal by other VMs",
	FoundHot:             "thermal throttling",
	FoundNeighbour:       "another run active",

	FindingKind(IncidentPaused): "contender was paused",
	FindingKind(IncidentSilent): "does not respond",
	FindingKind(IncidentStore):  "store does not respond",
	FindingKind(IncidentData):   "the store's documents have changed",
}

// Finding is a doubt about a result: a warning next to its figures.
type Finding struct {
	Kind    FindingKind        `json:"kind,omitempty"`
	Text    string             `json:"text"`              // a sentence with the figures
	Figures map[string]float64 `json:"figures,omitempty"` // those of the text, by name; times in nanoseconds
}

// String is the sentence.
func (f Finding) String() string { return f.Text }

// Title is what it is about, without the figures where its kind has a phrase for that.
func (f Finding) Title() string { return cmp.Or(titles[f.Kind], f.Text) }

// plain is a Finding without its methods.
type plain Finding

// MarshalJSON writes an object, or the text alone where there is no more.
func (f Finding) MarshalJSON() ([]byte, error) {
	if f.Kind == FoundOther && len(f.Figures) == 0 {
		return json.Marshal(f.Text)
	}
	return json.Marshal(plain(f))
}

// UnmarshalJSON reads both forms.
func (f *Finding) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*f = Finding{}
		return json.Unmarshal(data, &f.Text)
	}
	return json.Unmarshal(data, (*plain)(f))
}

// Findings are those about one thing.
type Findings []Finding

// Add adds a finding unless the same one is there, as in those of a run that is resumed.
func (f *Findings) Add(one Finding) (added bool) {
	same := func(o Finding) bool {
		return o.Kind == one.Kind && o.Text == one.Text && maps.Equal(o.Figures, one.Figures)
	}
	if slices.ContainsFunc(*f, same) {
		return false
	}
	*f = append(*f, one)
	return true
}

// Has reports whether one is of any of the kinds.
func (f Findings) Has(kinds ...FindingKind) bool {
	return slices.ContainsFunc(f, func(one Finding) bool { return slices.Contains(kinds, one.Kind) })
}

// Join puts their sentences together.
func (f Findings) Join(between string) string {
	var texts []string
	for _, one := range f {
		texts = append(texts, one.Text)
	}
	return strings.Join(texts, between)
}

// Warn is the notice of a finding about a whole trial or run.
func Warn(f Finding) Notice {
	return Notice{Level: "warning", Text: f.Text, Kind: f.Kind, Figures: f.Figures}
}

// Finding is what stays of a notice next to the results.
func (n Notice) Finding() Finding { return Finding{Kind: n.Kind, Text: n.Text, Figures: n.Figures} }
