package report

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// failure is a trial that failed, was interrupted or had incidents, with the known causes.
type failure struct {
	Trial   string
	State   string
	What    []string
	LastLog []string
}

// sentence returns a problem in words: "✗ a is excluded: it died; likely cause: …. Remedy: …."
func sentence(p conclusion.Problem) string {
	text := "✗ " + p.Contender + " is excluded: it " + p.What
	if p.Warning {
		text = "⚠ " + p.Contender + " " + p.What
	}
	return text + when(p.Cause != "", "; likely cause: "+p.Cause) + ". Remedy: " + p.Remedy + "."
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
			what = append(what, "Did not stop on "+cleanName(s.SignalName())+"; killed (SIGKILL) after "+units.Duration(s.Took)+".")
		}
		if trial.Lost != nil {
			what = append(what, "Lost: "+cleanText(trial.Lost.String())+".")
		}
		if trial.State == bench.TrialComplete && len(what) == 0 {
			continue
		}
		t := failure{Trial: c.Name(), State: cleanName(string(trial.State)), What: what}
		for _, line := range safe.FirstAndLast(trial.LastLog, maxLog) {
			t.LastLog = append(t.LastLog, cleanText(line.Text))
		}
		all = append(all, t)
	}
	return all
}

// warning is a caution and where it applies.
type warning struct {
	Text   string
	trials []string            // none: the whole run
	steps  map[string][]string // by trial; none: the whole trial
}

// Place returns "rs-actix-1 at 1024, 2048; rs-actix-2", with at most eight trials.
func (w warning) Place() string {
	const most = 8
	var parts []string
	for _, trial := range w.trials[:min(len(w.trials), most)] {
		parts = append(parts, trial+when(w.steps[trial] != nil, " at "+strings.Join(w.steps[trial], ", ")))
	}
	if more := len(w.trials) - most; more > 0 {
		parts = append(parts, "and "+units.Plural(more, "more trial"))
	}
	return strings.Join(parts, "; ")
}

// warnings returns the caveats and all warnings; equal texts are one with all places.
func warnings(a *analysis.Run, l layout, caveats []conclusion.Caveat) (all []warning) {
	add := func(trial, step string, more ...bench.Warning) {
		for _, one := range more {
			i := slices.IndexFunc(all, func(w warning) bool { return w.Text == cleanText(one.Text) })
			if i < 0 {
				i = len(all)
				all = append(all, warning{Text: cleanText(one.Text), steps: map[string][]string{}})
			}
			if w := &all[i]; trial != "" && !slices.Contains(w.trials, trial) {
				w.trials = append(w.trials, trial)
			}
			if steps := all[i].steps; step != "" && !slices.Contains(steps[trial], step) {
				steps[trial] = append(steps[trial], step)
			}
		}
	}
	for _, c := range caveats {
		if !c.Listed {
			add("", "", bench.Warning{Text: c.Text})
		}
	}
	add("", "", a.Run.Warnings...)
	for _, c := range l.columns {
		add(c.Name(), "", c.trial.Warnings...)
		if i := c.trial.Instance; i != nil && i.LimitsEnforced && i.LimitsNote != "" {
			add(c.Name(), "", bench.Warning{Text: i.LimitsNote})
		}
		for i, s := range c.steps {
			if s != nil {
				add(c.Name(), l.rows[i].Label, s.AllWarnings()...)
			}
		}
	}
	for _, c := range l.contenders {
		add(c.Label, "", c.of.Warnings...)
	}
	return all
}

// maxManualChanges is how many manual changes are shown, the first ones.
const maxManualChanges = 200

// manualChanges returns what was changed by hand during the run, by time: the results depend on more
// than the profile.
func manualChanges(run bench.Run, l layout) table.Table {
	type change struct {
		bench.ManualChange
		where string
	}
	var all []change
	for _, m := range run.ManualChanges {
		all = append(all, change{m, missing})
	}
	for _, c := range l.columns {
		for _, m := range c.trial.ManualChanges {
			where := c.Name()
			for i, s := range c.steps {
				if s != nil && m.Step != nil && s.Index == *m.Step {
					where += " at " + l.rows[i].Label
				}
			}
			all = append(all, change{m, where})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return a.At.Compare(b.At) })
	t := table.Table{Columns: conclusion.Columns("When|What<|Where<")}
	for _, c := range all[:min(len(all), maxManualChanges)] {
		t.Add(instant(c.At), cleanName(c.Control.Kind.Words()), c.where)
	}
	if more := len(all) - maxManualChanges; more > 0 {
		t.Footnotes = []string{units.Plural(more, "more manual change") + "."}
	}
	return t
}
