package app

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/host/thread"
)

// cpuIsolation is the CPU isolation of a run. Its zero value separates nothing.
type cpuIsolation struct {
	all      cpuset.Set // the CPUs that locbench may use; nil where nothing is separated
	sets     bench.Isolation
	settings *thread.Tuning
	undo     func() error
}

// isolationOf plans the isolation of a run. cannot is the reason why processes cannot be pinned.
func isolationOf(p bench.Profile, needs []bench.NeedInfo, cannot string) bench.Isolation {
	return planIsolation(cpuRequest{
		CPUs: cpuset.Order(cpuset.Allowed(), cpuset.Siblings), Limits: widest(p), Needs: needs,
		Off: p.Isolation == bench.IsolationOff, Cannot: cannot,
	})
}

// widest returns the CPU limits of the contender that can fill the most CPUs; none if one has none.
// All contenders run on the same CPUs, since their number alone changes how many threads a runtime
// starts.
func widest(p bench.Profile) (most bench.Limits) {
	if len(p.Contenders) == 0 {
		return p.Limits
	}
	for _, sel := range p.Contenders {
		l := p.LimitsOf(sel)
		switch {
		case fillable(l) == 0:
			return bench.Limits{}
		case fillable(l) > fillable(most):
			most = l
		}
	}
	return most
}

// fillable returns how many CPUs a contender can fill under its limits; 0: all.
func fillable(l bench.Limits) int {
	if l.CPUSet > 0 {
		return l.CPUSet
	}
	return int(math.Ceil(l.CPUs))
}

func newIsolation(i bench.Isolation) cpuIsolation {
	if !i.Separate {
		return cpuIsolation{}
	}
	return cpuIsolation{all: cpuset.Allowed(), sets: i}
}

// begin keeps this process to its CPUs and tunes its Go runtime for load, once. It is called after
// building and seeding, which may use all CPUs, and before the first contender.
func (a *cpuIsolation) begin() (err error) {
	if a.settings != nil {
		return nil
	}
	if len(a.sets.Client) > 0 {
		if a.undo, err = cpuset.Keep(a.sets.Client); err != nil {
			return err
		}
	}
	a.settings = thread.Tune(thread.StallThreads())
	return nil
}

// end restores the settings and the CPUs of this process.
func (a *cpuIsolation) end() error {
	if a.settings == nil {
		return nil
	}
	a.settings.Stop()
	undo := a.undo
	a.settings, a.undo = nil, nil
	if undo == nil {
		return nil
	}
	return undo()
}

// With fewer than fewCPUs, the CPUs are split only if at least as many remain as the contender
// gets, and if no external need runs next to the sets.
const fewCPUs = 4

// cpuRequest is what planIsolation decides by.
type cpuRequest struct {
	CPUs   []int // all CPUs, with those of one core next to each other (cpuset.Order)
	Limits bench.Limits
	Needs  []bench.NeedInfo
	Off    bool // isolation is off in the profile
	// Cannot is the reason why isolation is impossible, such as the engine of another machine or a
	// system without affinity; "" if it is possible.
	Cannot string
}

// planIsolation splits the CPUs. The contender gets as many as its quota can fill, or its CPU set;
// needs in containers get some of the rest; the client, with embedded needs, gets the
// others, at least half as many as the contender. With too few CPUs, or without a CPU limit,
// nothing is split, and Text says what is shared.
func planIsolation(r cpuRequest) bench.Isolation {
	contender, needs, client, why := shares(r)
	if why != "" {
		return bench.Isolation{Text: sharing(r) + ": " + why}
	}
	i := bench.Isolation{
		Separate: true, Client: cpuset.Of(r.CPUs[:client]...), Needs: cpuset.Of(r.CPUs[client : client+needs]...),
		Contender: cpuset.Of(r.CPUs[len(r.CPUs)-contender:]...),
	}
	i.Text = "contender on " + namedCPUs(i.Contender)
	if needs > 0 {
		i.Text += ", " + named(r.Needs, inContainer) + " on " + namedCPUs(i.Needs)
	}
	i.Text += ", client " + withEmbedded(r.Needs) + "on " + namedCPUs(i.Client)
	if external := named(r.Needs, byURL); external != "" {
		i.Text += "; external " + external + " is not pinned, if it is here"
	}
	return i
}

func shares(r cpuRequest) (contender, needs, client int, why string) {
	contender = fillable(r.Limits)
	n := len(r.CPUs)
	switch {
	case r.Off:
		return 0, 0, 0, "isolation is off"
	case r.Cannot != "":
		return 0, 0, 0, r.Cannot
	case contender == 0:
		return 0, 0, 0, "the contender has no CPU limit"
	}
	least := 0
	if slices.ContainsFunc(r.Needs, inContainer) {
		least = 1
	}
	rest, need := n-contender, (contender+1)/2+least
	if n < fewCPUs {
		if external := named(r.Needs, byURL); external != "" {
			return 0, 0, 0, fmt.Sprintf("with fewer than %s %s would favor one side", units.Plural(fewCPUs, "CPU"), external)
		}
		need = contender + least
	}
	if rest < need {
		return 0, 0, 0, fmt.Sprintf("contender needs %s, the rest needs %d", units.Plural(contender, "CPU"), need)
	}
	if least > 0 {
		needs = max(least, min(rest/3, rest-(contender+1)/2))
	}
	return contender, needs, rest - needs, ""
}

// sharing returns a phrase for what runs on the same CPUs.
func sharing(r cpuRequest) string {
	who := "contender"
	if contained := named(r.Needs, inContainer); contained != "" {
		who += ", " + contained
	}
	if external := named(r.Needs, byURL); external != "" {
		who += ", external " + external + " on this machine"
	}
	return who + " and client " + withEmbedded(r.Needs) + "share " + namedCPUs(cpuset.Of(r.CPUs...))
}

func inContainer(n bench.NeedInfo) bool { return n.From.Traits().Container }
func byURL(n bench.NeedInfo) bool       { return n.From.Traits().ByURL }
func inClient(n bench.NeedInfo) bool    { return n.From.Traits().InClient }

// named returns the names of the needs that run in that way; "" for none.
func named(needs []bench.NeedInfo, way func(bench.NeedInfo) bool) string {
	var names []string
	for _, n := range needs {
		if way(n) {
			names = append(names, n.Label())
		}
	}
	return strings.Join(names, ", ")
}

func withEmbedded(needs []bench.NeedInfo) string {
	if embedded := named(needs, inClient); embedded != "" {
		return "(with embedded " + embedded + ") "
	}
	return ""
}

func namedCPUs(cpus cpuset.Set) string {
	switch len(cpus) {
	case 0:
		return "all CPUs"
	case 1:
		return "CPU " + cpus.String()
	}
	return "CPUs " + cpus.String()
}
