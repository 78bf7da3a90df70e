package run

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/show/tui/fold"
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
	if step.Rate > 0 && step.Rate != step.Step.Rate {
		text += ", now " + units.Number(step.Rate) + "/s"
	}
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
	if r.state.Current != nil && p.Name == bench.PhaseCheck && !from.IsZero() {
		return r.checking(took)
	}
	text := cmp.Or(verbs[p.Name], name)
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

// checking says which check runs, and how long it may take: of a contender that has to exit, the
// time limit; of the others together, the time that they took in another trial, as long as it
// holds.
func (r heading) checking(took time.Duration) string {
	here, rest := r.state.Current.Result, r.checksToCome()
	launches, running := here.Instance == nil, took
	for _, c := range here.Checks {
		if launches || !starts(c) {
			running = max(0, running-c.Took)
		}
	}
	between, most, exit := " of ", " of at most ", " to exit"
	if r.size.Class == ui.Column {
		between, most, exit = "/", " of ", ""
	}
	text, done := "checking", len(here.Checks)
	if len(rest) > 0 {
		text = fmt.Sprintf("check %d%s%d,", done+1, between, done+len(rest))
	}
	if name := r.launching(); launches && name != "" {
		text += " " + name + ": " + units.Approx(running)
		if name != bench.CheckThreads && running <= check.ExitWithin {
			text += most + units.Approx(check.ExitWithin) + exit
		}
		return text
	}
	var left time.Duration
	for _, c := range rest {
		left += c.Took
	}
	switch {
	case left > running:
		return text + " about " + units.Approx(max(time.Second, left-running)) + " left"
	case len(rest) > 0:
		return text + " " + units.Approx(running)
	case done > 0:
		text += ": " + units.Plural(done, "check") + " done"
	}
	return text + ", " + units.Approx(took)
}

// starts reports whether a check starts the contender itself.
func starts(c bench.CheckResult) bool {
	return c.Group == check.GroupLifecycle && (c.Name == bench.CheckNoEnvironment || c.Name == bench.CheckNoNeeds ||
		strings.HasPrefix(c.Name, bench.CheckThreads))
}

// launching is the running check that starts the contender.
func (r heading) launching() string {
	for _, name := range r.state.Run.Profile.Checks.Lifecycle {
		is := func(c bench.CheckResult) bool { return c.Name == name }
		if starts(bench.CheckResult{Group: check.GroupLifecycle, Name: name}) && !slices.ContainsFunc(r.state.Current.Result.Checks, is) {
			return ui.Outside(name, nameBytes)
		}
	}
	return ""
}

// checksToCome returns the results that the checks still to run before the load had in the last
// trial that has begun its load, of the same contender if there is one; none before.
func (r heading) checksToCome() (all []bench.CheckResult) {
	here := r.state.Current
	var like *fold.Trial
	for _, t := range r.state.Trials {
		same := func(t *fold.Trial) bool { return t.Result.Trial.Label() == here.Result.Trial.Label() }
		if t != here && len(t.Steps) > 0 && (like == nil || same(t) || !same(like)) {
			like = t
		}
	}
	if like == nil {
		return nil
	}
	for _, c := range like.Result.Checks {
		afterLoad := c.Group == check.GroupLifecycle && (c.Name == bench.CheckStillResponds || c.Name == bench.CheckStops)
		done := func(d bench.CheckResult) bool { return d.Group == c.Group && d.Name == c.Name }
		if !afterLoad && (here.Result.Instance == nil || !starts(c)) && !slices.ContainsFunc(here.Result.Checks, done) {
			all = append(all, c)
		}
	}
	return all
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
