package plain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/text/safe"
)

// Level is the kind of a sentence: Head begins the run or a trial, Mark is a change by the user, Done
// what went well.
type Level int

// The levels.
const (
	Info Level = iota
	Head
	Warning
	Error
	Mark
	Done
)

// Sentence is what the text of a run, and the log of the dashboard, say about an event. It is safe.
type Sentence struct {
	Level Level
	// Label is what a fact is about, as "seed"; else the begin of the sentence, which is painted.
	Label string
	Text  string
}

// fact reports whether the sentence is a value with a label.
func (s Sentence) fact() bool {
	return s.Label != "" && s.Level != Head && !strings.HasSuffix(s.Label, " ")
}

func (s Sentence) String() string {
	switch {
	case s.fact():
		return s.Label + ": " + s.Text
	case s.Level == Head:
		return s.Label + s.Text
	case s.Label == "warning: ": // the log has a sign
		return s.Text
	}
	return strings.Join(append(strings.Fields(s.Label), s.Text), " ")
}

// Narrator puts the events of a run into sentences.
type Narrator struct {
	checked  map[bench.Trial]int // checks of phases that ended
	reported map[string]bool     // errors of phases, by their trials
}

// maxReported bounds what is remembered of a log from outside.
const maxReported = 10_000

// addFact adds a fact if it is known.
func addFact(to *[]Sentence, known bool, label, format string, args ...any) {
	if known {
		*to = append(*to, Sentence{Label: label, Text: fmt.Sprintf(format, args...)})
	}
}

// Of returns what to say about an event, which run, trial and estimate have had. The trial is empty for
// an event of the run.
func (n *Narrator) Of(rec bench.Record, run *bench.Run, trial *bench.TrialResult, estimate *event.Estimate) (all []Sentence) {
	if _, begins := rec.Event.(bench.RunStarted); begins || n.checked == nil {
		*n = Narrator{checked: map[bench.Trial]int{}, reported: map[string]bool{}}
	}
	fact := func(known bool, label, format string, args ...any) { addFact(&all, known, label, format, args...) }
	say := func(level Level, label, text string) {
		all = append(all, Sentence{level, label, safe.Line(text, 4000)})
	}
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		return begin(e, estimate)
	case bench.TrialStarted:
		delete(n.checked, trial.Trial)
		say(Head, safe.Line(trial.Trial.Label(), 100), fmt.Sprintf(", round %d of %d (%d of %d)%s",
			trial.Trial.Round, run.Profile.Rounds, e.Number, e.Of, left(estimate, rec.At)))
	case bench.PhaseEnded:
		return n.phaseEnded(rec, e, trial)
	case bench.InstanceStarted:
		fact(true, "runs", "%s", instanceText(e.Info))
	case bench.InstanceReady:
		text := "first response"
		if f := e.FirstResponse; f != nil {
			text = "first good response (" + f.String() + ")"
		}
		fact(e.StartUp > 0, "start-up", "%s from process start to %s", units.Duration(e.StartUp), text)
	case bench.RequestsTimed:
		f := e.FirstRequests
		fact(true, "request", "first %s, same connection %s, new connection %s", requestText(f.First), requestText(f.Typical()),
			requestText(f.TypicalNew()))
	case bench.CheckDone:
		if c := e.Check; c.Status == bench.CheckFailed {
			say(Error, "  check failed ", fmt.Sprintf("%s/%s: %s", safe.Line(c.Group, 60), safe.Line(c.Name, 100), safe.Line(c.Detail, 500)))
		}
	case bench.StepEnded:
		load := e.Result.Load
		say(Info, "", fmt.Sprintf("step %d, %s", e.Result.Index+1, loadText(e.Result.Step.Name, load.Throughput(), load.Latency.P50,
			load.Latency.P99, load.FailedTotal())))
		return append(all, Remarks(e.Result)...)
	case bench.Notice:
		say(map[string]Level{"error": Error, "warning": Warning}[e.Level], "", e.Text)
	case bench.IncidentOccurred:
		say(Warning, "", e.Incident.String())
	case bench.ChangedManually:
		say(Mark, "requested: ", e.Control.Kind.Words())
	case bench.Paused:
		say(Mark, "", "paused")
	case bench.Resumed:
		say(Mark, "", "resumed after "+units.Duration(e.Took))
	case bench.InstanceStopped:
		if threads, ok := trial.Threads(); ok {
			fact(true, "threads", "%s after the warm-up%s", units.Count(int64(threads)), ofCPUs(trial.Instance))
		}
		peak, ok := stats.TimeToPeak(*trial)
		fact(ok, "to peak", "%s from process start to within %.2g%% of %s/s (%s)", units.Duration(peak.After),
			100*peak.Within, units.Number(peak.Level), safe.Line(peak.Step, 60))
		level, text := stopText(e.Stop)
		all = append(all, Sentence{level, "stopped", text})
	case bench.TrialEnded:
		return n.trialEnded(e, trial)
	case bench.RunEnded:
		if e.Err != "" {
			say(Error, "run "+string(e.State)+": ", e.Err)
		} else {
			say(Info, "", "run "+run.OutcomeText())
		}
	}
	return all
}

// begin is how a run begins.
func begin(e bench.RunStarted, estimate *event.Estimate) []Sentence {
	pr, resumed := e.Run.Profile, ""
	if len(e.Run.Resumed) > 0 {
		resumed = " resumed"
	}
	all := []Sentence{{Head, "profile " + safe.Line(pr.Name, 60) + resumed, fmt.Sprintf(": %s × %s, %s load, about %s total%s",
		units.Plural(len(pr.Contenders), "contender"), units.Plural(pr.Rounds, "round"),
		units.Approx(pr.LoadDuration()), units.Approx(estimate.Total()), estimate.Without())}}
	fact := func(known bool, label, format string, args ...any) { addFact(&all, known, label, format, args...) }
	fact(true, "results", "%s", safe.Line(e.Dir, 500))
	if len(e.Run.Targets) > 0 && len(pr.Requests) == 1 {
		fact(true, "request", "%s", safe.Line(pr.Requests[0].Name, 300))
	}
	why := e.Run.NotInterleaved()
	fact(pr.Interleave > 0, "order", "interleaved in slices from %s on: the contenders of a round run at the same time%s",
		units.Duration(pr.Interleave), ownNeeds(pr.Needs))
	fact(pr.Interleave <= 0 && why != "", "order", "not interleaved: %s", safe.Line(why, 300))
	if i := e.Run.Isolated; i != nil {
		fact(true, "CPUs", "%s", safe.Line(i.Text, 300))
	}
	for _, w := range e.Run.Warnings { // from before the first event
		all = append(all, Sentence{Warning, "", safe.Line(w.Text, 2000)})
	}
	return all
}

// ownNeeds returns ", each with its own db, cache"; "" if contenders share their needs.
func ownNeeds(all []bench.NeedSpec) string {
	var names []string
	for _, n := range all {
		if n.Own && !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
	}
	if names == nil {
		return ""
	}
	return ", each with its own " + safe.Line(strings.Join(names, ", "), 120)
}

func (n *Narrator) phaseEnded(rec bench.Record, e bench.PhaseEnded, trial *bench.TrialResult) (all []Sentence) {
	build := e.Phase == bench.PhaseBuild
	switch {
	case e.Err != "" && rec.Trial == nil && !build: // the run ends with this error
	case e.Err != "":
		text := safe.Joined(e.Err)
		if len(n.reported) < maxReported {
			if build {
				n.reported["build: "+text] = true
			} else {
				n.reported[trial.Trial.String()+"\n"+text] = true
			}
		}
		return []Sentence{{Error, fmt.Sprintf("  %-8s failed: ", safe.Line(string(e.Phase), 20)), safe.Line(text, 4000)}}
	case e.Phase == bench.PhaseCheck:
		return n.checksEnded(e, trial)
	case e.Note != "" && slices.Contains([]bench.Phase{bench.PhaseNeeds, bench.PhaseSeed, bench.PhaseBuild, bench.PhaseRestore,
		bench.PhaseMigrate}, e.Phase):
		addFact(&all, true, string(e.Phase), "%s (%s)", safe.Line(e.Note, 300), units.Duration(e.Took))
	}
	return all
}

func (n *Narrator) checksEnded(e bench.PhaseEnded, trial *bench.TrialResult) (all []Sentence) {
	count := map[bench.CheckStatus]int{}
	var skipped []string // groups
	checks := trial.Checks[min(len(trial.Checks), n.checked[trial.Trial]):]
	for _, c := range checks {
		count[c.Status]++
		if group := safe.Line(c.Group, 60); c.Status == bench.CheckSkipped && !slices.Contains(skipped, group) {
			skipped = append(skipped, group)
		}
	}
	if len(checks) == 0 {
		return nil
	}
	n.checked[trial.Trial] = len(trial.Checks)
	var of parts
	of.add(true, "%d passed", count[bench.CheckPassed]+count[bench.CheckInfo])
	of.add(count[bench.CheckFailed] > 0, "%d failed", count[bench.CheckFailed])
	of.add(len(skipped) > 0, "%d skipped (%s)", count[bench.CheckSkipped], strings.Join(skipped[:min(len(skipped), 8)], ", "))
	addFact(&all, true, "checks", "%s: %s (%s)", safe.Line(e.Note, 100), strings.Join(of, ", "), units.Duration(e.Took))
	return all
}

func (n *Narrator) trialEnded(e bench.TrialEnded, trial *bench.TrialResult) (all []Sentence) {
	// A cause alone is the failure, which follows.
	if e.Excluded != nil && (e.Cause == nil || e.Excluded.Unexpected != nil) {
		all = append(all, Sentence{Error, "  excluded: ", safe.Line(e.Excluded.String(), 1000)})
	}
	if e.State == bench.TrialComplete {
		return append(all, Sentence{Done, "", "trial complete"})
	}
	if !n.reported[trial.Trial.String()+"\n"+e.Failure] { // the same error may have ended a phase
		text := safe.Line(e.Failure, 4000)
		if n.reported[e.Failure] {
			text = "not built, as reported above"
		}
		all = append(all, Sentence{Error, "  " + safe.Line(string(e.State), 20) + ": ", text})
	}
	if e.Lost != nil && (trial.StartUp != nil || len(trial.Steps) > 0) { // else nothing was measured
		addFact(&all, true, "lost", "%s", safe.Line(e.Lost.String(), 1000))
	}
	return all
}

// Remarks are what is to say about a finished step, next to its values.
func Remarks(r bench.StepResult) (all []Sentence) {
	add := func(level Level, label, text string) {
		if text != "" {
			all = append(all, Sentence{level, label + ": ", safe.Line(text, 500)})
		}
	}
	add(Error, "stopped early", r.Aborted)
	for _, missed := range r.Missed() {
		if missed.Stopped != "" {
			missed.Text += "; stopped the " + string(missed.Stopped)
		}
		add(Error, "threshold missed", missed.Text)
	}
	for _, kind := range r.Load.FailedKinds() {
		text := units.Count(r.Load.Failed[kind]) + " × " + safe.Line(kind.Words(), 60)
		if example := r.Load.Examples[kind]; example != "" {
			text += ", first: " + safe.Line(example, 300)
		}
		add(Error, "errors", text)
	}
	for _, w := range r.AllWarnings() {
		add(Warning, "warning", w.Text)
	}
	if n := r.Load.SentAgain; n > 0 && !r.Load.Warnings.Has(bench.WarnSentAgain) {
		add(Info, "sent again", units.Count(n)+" of "+units.Plural(r.Load.Sent, "request")+", whose connection ended without a response")
	}
	return all
}

// loadText is what a step, or a second of it, measured.
func loadText(name string, throughput float64, p50, p99 time.Duration, failed int64) string {
	text := fmt.Sprintf("%s: %s req/s, p50 %s, p99 %s", name, units.Number(throughput), units.Duration(p50), units.Duration(p99))
	if failed > 0 {
		text += ", " + units.Count(failed) + " errors"
	}
	return text
}

// left returns the estimated time left as the end of a line; "" without an estimate.
func left(estimate *event.Estimate, at time.Time) string {
	if left := estimate.Words(at, "about "); left != "" {
		return ", " + left
	}
	return ""
}
