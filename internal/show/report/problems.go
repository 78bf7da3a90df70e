package report

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

// failure is a trial that failed, was interrupted or had incidents, with the known causes.
type failure struct {
	Trial   string
	State   string
	Color   int
	What    []string
	LastLog []string
}

// maxLog is how many incidents and log lines are shown per trial, with those that say what was left
// out.
const maxLog = 32

// failures returns the trials that failed, were interrupted, or exited before they were stopped.
func failures(l layout) []failure {
	var all []failure
	for _, c := range l.columns {
		trial := c.trial
		what := known(cleanText(trial.Failure))
		if e := trial.Exit; e != nil {
			what = append(what, "Exited before stop: "+cleanText(e.String())+
				when(!e.At.IsZero(), " at "+e.At.Format("15:04:05"))+".")
		}
		for i, s := range c.steps {
			if s != nil && s.Aborted != "" {
				what = append(what, "Step “"+l.rows[i].Title+"” stopped early: "+cleanText(s.Aborted)+".")
			}
		}
		for n, in := range trial.Incidents {
			if n == maxLog {
				what = append(what, "And "+units.Plural(len(trial.Incidents)-n, "more incident")+".")
				break
			}
			what = append(what, in.At.Format("15:04:05")+": "+cleanText(in.String())+".")
		}
		cause := trial.WhyFailed()
		isCause := cause != nil && cause.Kind == bench.CauseHung
		if s := trial.Stop; s != nil && s.Killed && !s.Forced && !isCause {
			what = append(what, "Did not stop on SIGTERM; killed (SIGKILL) after "+units.Duration(s.Took)+".")
		}
		if trial.Lost != nil {
			what = append(what, "Lost: "+cleanText(trial.Lost.String())+".")
		}
		if trial.State == bench.TrialComplete && len(what) == 0 {
			continue
		}
		t := failure{Trial: c.Name(), State: cleanName(string(trial.State)), Color: c.Color(), What: what}
		for _, line := range safe.FirstAndLast(trial.LastLog, maxLog) {
			t.LastLog = append(t.LastLog, cleanText(line.Text))
		}
		all = append(all, t)
	}
	return all
}

// warning is a caution and where it applies.
type warning struct {
	Text      string
	Important bool          // the results are not what the profile describes
	where     []whereabouts // empty: the whole run
}

type whereabouts struct {
	trial string
	steps []string // empty: the whole trial
}

// Place returns "rs-actix-1 at 1024, 2048; rs-actix-2", with at most eight trials.
func (w warning) Place() string {
	const most = 8
	var parts []string
	for i, at := range w.where {
		if i == most {
			parts = append(parts, "and "+units.Plural(len(w.where)-most, "more trial"))
			break
		}
		parts = append(parts, at.trial+when(len(at.steps) > 0, " at "+strings.Join(at.steps, ", ")))
	}
	return strings.Join(parts, "; ")
}

// at adds a place.
func (w *warning) at(trial, step string) {
	if trial == "" {
		return
	}
	i := slices.IndexFunc(w.where, func(at whereabouts) bool { return at.trial == trial })
	if i < 0 {
		i = len(w.where)
		w.where = append(w.where, whereabouts{trial: trial})
	}
	if at := &w.where[i]; step != "" && !slices.Contains(at.steps, step) {
		at.steps = append(at.steps, step)
	}
}

// warnings returns all warnings, the important ones first; equal texts are one with all places.
func warnings(a *analysis.Run, l layout) []warning {
	run := a.Run
	var all []warning
	add := func(text, trial, step string, important bool) {
		i := slices.IndexFunc(all, func(w warning) bool { return w.Text == text && w.Important == important })
		if i < 0 {
			i = len(all)
			all = append(all, warning{Text: text, Important: important})
		}
		all[i].at(trial, step)
	}
	if text := unfinished(run); text != "" {
		add(text, "", "", true)
	}
	if run.AcceptFailedChecks {
		add("Failed checks were accepted (--accept-failed-checks): responses may be wrong.", "", "", true)
	}
	for _, c := range l.columns {
		if i := c.trial.Instance; i != nil && !i.LimitsEnforced && (i.Limits != bench.Limits{} || i.LimitsNote != "") {
			add("Limits not enforced"+when(i.LimitsNote != "", ": "+cleanText(i.LimitsNote)), c.Name(), "", true)
		}
	}
	for _, w := range run.Warnings {
		add(cleanText(w.Text), "", "", false)
	}
	for _, c := range l.columns {
		for _, w := range c.trial.Warnings {
			add(cleanText(w.Text), c.Name(), "", false)
		}
		if i := c.trial.Instance; i != nil && i.LimitsEnforced && i.LimitsNote != "" {
			add(cleanText(i.LimitsNote), c.Name(), "", false)
		}
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			for _, w := range s.AllWarnings() {
				add(cleanText(w.Text), c.Name(), l.rows[i].Label, false)
			}
		}
	}
	for _, c := range l.contenders {
		for _, w := range c.of.Warnings {
			add(cleanText(w.Text), c.Label, "", false)
		}
	}
	return slices.Concat(important(all, true), important(all, false))
}

// important returns the important warnings, or the others.
func important(all []warning, is bool) []warning {
	return slices.DeleteFunc(slices.Clone(all), func(w warning) bool { return w.Important != is })
}

// unfinished returns a sentence about trials that did not finish; "" if there are none.
func unfinished(run bench.Run) string {
	open := 0
	for _, e := range run.Trials {
		if e.State == bench.TrialPending || e.State == bench.TrialRunning || e.State == bench.TrialAborted {
			open++
		}
	}
	return when(open > 0, "Run incomplete: "+units.Count(int64(open))+" of "+
		units.Plural(len(run.Trials), "trial")+" did not finish.")
}

// maxManualChanges is how many manual changes are shown, the first ones.
const maxManualChanges = 200

// manualChange is a change by hand during the run: the results depend on more than the profile.
type manualChange struct {
	at    bench.ManualChange
	When  string
	Trial string // "" between trials
	Step  string // "" between steps
	What  string
}

// Place returns "rs-actix-1 at 1024".
func (i manualChange) Place() string { return i.Trial + when(i.Step != "", " at "+i.Step) }

// manualChanges returns those of the run and its trials by time; left is how many are not shown.
func manualChanges(run bench.Run, l layout) (all []manualChange, left int) {
	add := func(i bench.ManualChange, trial, step string) {
		all = append(all, manualChange{at: i, When: instant(i.At), Trial: trial, Step: step, What: controlText(i.Control)})
	}
	for _, i := range run.ManualChanges {
		add(i, "", "")
	}
	for _, c := range l.columns {
		for _, i := range c.trial.ManualChanges {
			add(i, c.Name(), l.stepLabel(c, i.Step))
		}
	}
	slices.SortStableFunc(all, func(a, b manualChange) int { return a.at.At.Compare(b.at.At) })
	left = max(0, len(all)-maxManualChanges)
	return all[:len(all)-left], left
}

// stepLabel returns the label of the trial's step with this index; "" without an index.
func (l layout) stepLabel(c column, index *int) string {
	if index == nil {
		return ""
	}
	for i, s := range c.steps {
		if s != nil && s.Index == *index {
			return l.rows[i].Label
		}
	}
	return "step " + units.Count(int64(*index)+1)
}

func controlText(c bench.Control) string {
	switch c.Kind {
	case bench.ControlNote:
		return "note: " + cleanText(c.Text)
	case bench.ControlRate:
		return "rate: " + units.Number(c.Rate) + " requests/s"
	}
	return cleanName(c.Kind.Words())
}
