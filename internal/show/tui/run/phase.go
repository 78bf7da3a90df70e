package run

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// verbs are the phases as what the run does.
var verbs = map[bench.Phase]string{
	bench.PhaseNeeds: "connecting to needs", bench.PhaseSeed: "seeding", bench.PhaseBuild: "building",
	bench.PhaseRestore: "restoring", bench.PhaseMigrate: "migrating",
	bench.PhaseLaunch: "launching", bench.PhaseReady: "waiting until ready", bench.PhaseCheck: "checking",
	bench.PhaseLoad: "loading", bench.PhaseStop: "stopping",
}

// doing is what the run does now: the step, or what is waited for.
func (r heading) doing() string {
	s := &r.state
	switch {
	case s.Run.Profile.Name == "" && s.Phase.Name == "":
		return "starting…"
	case s.Loading():
		return r.loading()
	case !s.Paused.IsZero():
		return r.pausedBefore()
	}
	return r.phase()
}

// pausedBefore names the step or trial that a paused run continues with.
func (r heading) pausedBefore() string {
	s := &r.state
	if s.Current != nil && s.Phase.Name == bench.PhaseLoad && s.Current.Result.State == bench.TrialRunning {
		n := len(s.Current.Steps) + 1
		return fmt.Sprintf("paused before step %d of %d", n, max(n, len(s.Run.Profile.Steps)))
	}
	n := 1
	if s.Current != nil {
		n = s.Current.Number + 1
	}
	return fmt.Sprintf("paused before trial %d of %d", n, max(n, len(s.Trials)))
}

func (r heading) loading() string {
	step := r.state.Step()
	of := max(step.Index+1, len(r.state.Run.Profile.Steps))
	between, bar, name := " of ", 24, step.Step.Words()
	if r.size.Class != ui.Full {
		between, bar = "/", 8
	}
	text := "step "
	if r.size.Class == ui.Column {
		text, bar, name = "", 0, step.Step.At()
	}
	text += fmt.Sprintf("%d%s%d: %s", step.Index+1, between, of, ui.Outside(name, nameBytes+10))
	ran, planned := r.ran(step), step.Step.Duration
	if planned <= 0 {
		return text + "  " + units.Approx(ran)
	}
	text += "  "
	if bar > 0 {
		text += r.theme.Progress(float64(ran)/float64(planned), bar) + "  "
	}
	switch {
	case ran > planned+time.Second && step.Step.UntilWarm:
		return text + fmt.Sprintf("compiling, %.0fs", ran.Seconds())
	case ran > planned:
		return text + "draining"
	}
	done := strconv.Itoa(int(ran.Seconds()))
	if planned < 3*time.Second {
		done = fmt.Sprintf("%.1f", ran.Truncate(100*time.Millisecond).Seconds())
	}
	return text + done + " of " + units.Length(planned)
}

// phase says what is waited for, how far it is and for how long it has been.
func (r heading) phase() string {
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
	from := p.Since
	if from.IsZero() {
		from = r.state.Started
	}
	took := max(0, r.now().Sub(from)).Truncate(time.Second)
	text := cmp.Or(verbs[p.Name], name)
	if t := r.state.Current; t != nil && p.Name == bench.PhaseCheck && len(t.Result.Checks) > 0 {
		text += ": " + units.Plural(len(t.Result.Checks), "check") + " done"
	}
	if p.Name == bench.PhaseRestore && p.Progress != nil { // which need
		text = ui.Outside(p.Progress.Text, nameBytes)
	}
	if note := ui.Outside(p.Note, nameBytes); note != "" {
		text += " " + note
	}
	if far := r.far(); far != "" {
		text += ": " + far
	}
	if from.IsZero() {
		return text
	}
	if t := r.state.Current; p.Name == bench.PhaseReady && t != nil && t.Result.Service.Ready.Timeout > 0 {
		return fmt.Sprintf("%s, %s of at most %s", text, units.Approx(took), units.Approx(t.Result.Service.Ready.Timeout))
	}
	return text + ", " + units.Approx(took)
}

// far is the progress of the phase; "" if it is not known.
func (r heading) far() string {
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
