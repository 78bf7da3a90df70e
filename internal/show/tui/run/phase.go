package run

import (
	"cmp"
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// verbs are the phases as what the run does.
var verbs = map[bench.Phase]string{
	bench.PhaseStore: "connecting to the store", bench.PhaseSeed: "seeding the store", bench.PhaseBuild: "building",
	bench.PhaseLaunch: "launching", bench.PhaseReady: "waiting until ready", bench.PhaseCheck: "checking",
	bench.PhaseLoad: "loading", bench.PhaseStop: "stopping",
}

// phase says what is waited for, how far it is and for how long it has been.
func (r *Run) phase() string {
	p := r.state.Phase
	name := ui.Outside(string(p.Name), nameBytes)
	switch {
	case p.Name == "":
		return "preparing…"
	case p.Err != "":
		return r.theme.Bad.S(r.theme.Glyph.Cross + " " + name + " failed")
	case p.Ended:
		return name + " done"
	}
	text := cmp.Or(verbs[p.Name], name)
	if note := ui.Outside(p.Note, nameBytes); note != "" {
		text += " " + note
	}
	if far := r.far(); far != "" {
		text += ": " + far
	}
	from := p.Since
	if from.IsZero() {
		from = r.state.Started
	}
	took := max(0, r.now().Sub(from)).Truncate(time.Second)
	if from.IsZero() {
		return text
	}
	if t := r.state.Current; p.Name == bench.PhaseReady && t != nil && t.Result.Service.Ready.Timeout > 0 {
		return fmt.Sprintf("%s, %s of at most %s", text, units.Approx(took), units.Approx(t.Result.Service.Ready.Timeout))
	}
	return text + ", " + units.Approx(took)
}

// far is the progress of the phase; "" if it is not known.
func (r *Run) far() string {
	if r.state.Phase.Name == bench.PhaseCheck && r.state.Current != nil {
		passed, failed, skipped := r.state.Current.Checks()
		return units.Plural(passed+failed+skipped, "check") + " done"
	}
	p := r.state.Phase.Progress
	if p == nil || p.Done <= 0 && p.Total <= 0 {
		return ""
	}
	unit := ui.Outside(p.Unit, nameBytes)
	if p.Total <= 0 {
		return units.Count(p.Done) + " " + unit
	}
	return units.Count(p.Done) + " of " + units.Count(p.Total) + " " + unit
}
