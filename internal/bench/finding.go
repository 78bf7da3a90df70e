package bench

import (
	"encoding/json"
	"slices"
	"strings"
)

// FindingKind says what a finding is about. Programs go by the kind, people read the text. What
// befell a contender has the kind of its incident: FindingKind(IncidentOOM).
type FindingKind string

const (
	FoundOther FindingKind = "" // known by its text alone

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
	FoundMayDrift    FindingKind = "may drift"   // a trend that noise hides, in the first step behind a warm-up
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
)

// titles are how the sentences of each kind begin, with "…" for what differs from case to case. The
// first one of a kind stands for all of it. Sentences of results without kinds are known by them.
var titles = []struct {
	kind  FindingKind
	title string
}{
	{FoundClientBound, "client-bound"},
	{FoundClientSuspected, "the client may be the bottleneck"},
	{FoundClientLimit, "… requests failed for want of ports, files or memory of the client"},
	{FoundClientLimit, "… request failed for want of ports, files or memory of the client"},
	{FoundInterrupted, "interrupted"},
	{FoundReopened, "connections were opened again … times; the time for it is part of the latency"},
	{FoundReopened, "a connection was opened again; the time for it is part of the latency"},
	{FoundUnsteadyClock, "… requests were in flight by their times, but only … by counting them"},
	{FoundAnswersUnseen, "… requests were in flight by their times, but … by counting them"},
	{FoundAnswersUnseen, "throughput × mean latency is …, but … requests were in flight"},
	{FoundPortsAwaited, "it began … later, when … local ports were free"},
	{FoundDropped, "… of … requests that came due were dropped"},
	{FoundLate, "… requests were sent late, since all … connections were in use"},
	{FoundNotKeptUp, "the contender did not keep up"},
	{FoundUnserved, "the queue is longer than the lead-in"},
	{FoundUnsteady, "not in a steady state"},
	{FoundWarming, StillWarming},
	{FoundDrifting, NotSteady},
	{FoundMayDrift, "possibly " + StillWarming},
	{FoundMayDrift, "possibly " + NotSteady},
	{FoundOOM, "the kernel killed … of its processes for want of memory"},
	{FoundOOM, "out of memory"},
	{FoundRestless, "it used … CPUs while it waited for its turns"},
	{FoundPaused, "the run was paused for … before this step, on request"},
	{FoundRateChanged, "the rate was changed on request, from …"},
	{FoundCountersUnread, "counters not read at both ends of the step"},
	{FoundReadingsFailed, "… of the readings in between failed"},
	{FoundStandstill, "the machine stood still"},
	{FoundStolen, "the hypervisor gave … % of this machine's CPU time to others"},
	{FoundHot, "CPUs were slowed down for their heat (… times)"},
	{FoundNeighbour, "another run is on"},
	{FoundUnrest, "this machine is not at rest"},
	{FoundClockSet, "this machine's clock was set …"},
	{FoundOvercommitted, "… contenders are alive at the same time"},
	{FoundUnlimited, "LIMITS NOT ENFORCED"},
	{FoundPrivileged, "its manifest asks for more than contenders have by default"},
	{FoundHung, "it hung when it was asked to stop"},
	{FoundOtherwise, "resumed under other conditions"},
	{FoundEarlier, "measured by the earlier definition of a step"},
	{FoundForeign, "imported"},
	{FoundForeign, "imported from …"},
	{FindingKind(IncidentPaused), "paused from outside"},
	{FindingKind(IncidentSilent), "it does not answer"},
	{FindingKind(IncidentStore), "the store does not answer"},
	{FindingKind(IncidentData), "the store's documents have changed"},
}

// Title stands for all findings of the kind; "" where only their texts tell what they are about.
func (k FindingKind) Title() string {
	for _, t := range titles {
		if t.kind == k {
			return t.title
		}
	}
	return ""
}

// Finding is a doubt about a result: a warning beside its figures.
type Finding struct {
	Kind    FindingKind        `json:"kind,omitempty"`
	Text    string             `json:"text"`              // a sentence with the figures
	Figures map[string]float64 `json:"figures,omitempty"` // those of the text, by name; times in nanoseconds
}

// String is the sentence.
func (f Finding) String() string { return f.Text }

// Title is how the sentence begins, without the details behind it.
func (f Finding) Title() string {
	for _, t := range titles {
		if n, ok := begins(f.Text, t.title); ok && t.kind == f.Kind {
			return f.Text[:n]
		}
	}
	title, _, _ := strings.Cut(f.Text, ":")
	return strings.TrimSpace(title)
}

// General is the title with "…" for what differs; "" where the kind does not tell.
func (f Finding) General() string {
	for _, t := range titles {
		if _, ok := begins(f.Text, t.title); ok && t.kind == f.Kind {
			return t.title
		}
	}
	return f.Kind.Title()
}

// kindOf is the kind of a sentence without one.
func kindOf(text string) FindingKind {
	for _, t := range titles {
		if _, ok := begins(text, t.title); ok {
			return t.kind
		}
	}
	return FoundOther
}

// begins says whether a text begins with a title, and with how many bytes.
func begins(text, title string) (n int, ok bool) {
	const longest = 40 // of what stands for a "…"
	for i, part := range strings.Split(title, "…") {
		at := strings.Index(text[n:], part)
		if at < 0 || i == 0 && at > 0 || at > longest {
			return 0, false
		}
		n += at + len(part)
	}
	if strings.HasSuffix(title, "…") {
		if at := strings.Index(text[n:], ": "); at >= 0 {
			return n + at, true
		}
		return len(text), true
	}
	return n, n == len(text) || strings.ContainsRune(":;,", rune(text[n]))
}

// plain is a Finding without its methods.
type plain Finding

// MarshalJSON writes an object, or the text alone where there is no more.
func (f Finding) MarshalJSON() ([]byte, error) {
	if f.Kind == FoundOther && len(f.Figures) == 0 {
		return json.Marshal(f.Text)
	}
	return json.Marshal(plain(f))
}

// UnmarshalJSON reads both forms: results of earlier versions have texts alone.
func (f *Finding) UnmarshalJSON(data []byte) error {
	into := any((*plain)(f))
	if len(data) > 0 && data[0] == '"' {
		*f = Finding{}
		into = &f.Text
	}
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	if f.Kind == FoundOther {
		f.Kind = kindOf(f.Text)
	}
	return nil
}

// Findings are those about one thing.
type Findings []Finding

// Texts are findings known by their sentences alone.
func Texts(sentences ...string) (all Findings) {
	for _, s := range sentences {
		all = append(all, Finding{Kind: kindOf(s), Text: s})
	}
	return all
}

// Has tells whether one is of any of the kinds.
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

// Warn is the notice of a finding about a whole leg or run.
func Warn(f Finding) Notice {
	return Notice{Level: "warning", Text: f.Text, Kind: f.Kind, Figures: f.Figures}
}

// Finding is what stays of a notice beside the results.
func (n Notice) Finding() Finding {
	if n.Kind == FoundOther {
		return Texts(n.Text)[0]
	}
	return Finding{Kind: n.Kind, Text: n.Text, Figures: n.Figures}
}
