package report

import (
	"slices"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// trouble is one trial that did not end as it should, and what is known of why.
type trouble struct {
	Trial   string
	State   string
	Color   int
	What    []string
	LastLog []string
}

// maxLog is how many of the last log lines are shown.
const maxLog = 30

// troubles lists trials that failed, were interrupted, or ended before they were asked to.
func troubles(l layout) []trouble {
	var all []trouble
	for _, c := range l.columns {
		trial := c.trial
		what := known(cleanText(trial.Failure))
		if e := trial.Exit; e != nil {
			what = append(what, "Exited before stop: "+cleanText(e.String())+
				when(!e.At.IsZero(), " at "+e.At.Format("15:04:05"))+".")
		}
		for i, s := range c.steps {
			if s != nil && s.Aborted != "" {
				what = append(what, "The step “"+l.rows[i].Title+"” stopped early: "+cleanText(s.Aborted)+".")
			}
		}
		for n, in := range trial.Incidents {
			if n == maxLog {
				what = append(what, "And "+units.Plural(len(trial.Incidents)-n, "more incident")+".")
				break
			}
			what = append(what, in.At.Format("15:04:05")+": "+cleanText(in.String())+".")
		}
		if s := trial.Stop; s != nil && s.Killed && !s.Forced {
			what = append(what, "Did not stop on SIGTERM; killed (SIGKILL) after "+duration(s.Took)+".")
		}
		if trial.Lost != nil {
			what = append(what, "Lost: "+cleanText(trial.Lost.String())+".")
		}
		if trial.State == bench.TrialComplete && len(what) == 0 {
			continue
		}
		t := trouble{Trial: c.Name(), State: cleanName(string(trial.State)), Color: c.Color(), What: what}
		for _, line := range trial.LastLog[max(0, len(trial.LastLog)-maxLog):] {
			t.LastLog = append(t.LastLog, cleanText(line.Text))
		}
		all = append(all, t)
	}
	return all
}

// warning is a word of caution and where it applies.
type warning struct {
	Text      string
	Important bool          // the figures are not what the profile asks for
	where     []whereabouts // empty: the whole run
}

type whereabouts struct {
	trial string
	steps []string // empty: the whole trial
}

// Place returns "rs-actix-1 at 1024, 2048; rs-actix-2", shortened.
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

// at notes one more place.
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

// warnings returns all warnings, the important ones first; the same words stand once, with all their places.
func warnings(a *analysis.Run, l layout) []warning {
	run := a.Run
	var all []warning
	add := func(words, trial, step string, important bool) {
		i := slices.IndexFunc(all, func(w warning) bool { return w.Text == words && w.Important == important })
		if i < 0 {
			i = len(all)
			all = append(all, warning{Text: words, Important: important})
		}
		all[i].at(trial, step)
	}
	if words := unfinished(run); words != "" {
		add(words, "", "", true)
	}
	for _, c := range l.contenders {
		if why := c.of.WhyExcluded(); why != "" {
			add(cleanText(c.of.Label)+" is excluded: it "+cleanText(why)+".", "", "", true)
		}
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

// important returns the important ones of the warnings, or the others.
func important(all []warning, is bool) []warning {
	return slices.DeleteFunc(slices.Clone(all), func(w warning) bool { return w.Important != is })
}

// unfinished says that trials are missing from the report.
func unfinished(run bench.Run) string {
	open := 0
	for _, e := range run.Trials {
		if e.State == bench.TrialPending || e.State == bench.TrialRunning || e.State == bench.TrialAborted {
			open++
		}
	}
	return when(open > 0, "Run incomplete: "+count(int64(open))+" of "+
		units.Plural(len(run.Trials), "trial")+" did not finish.")
}

// maxManualChanges is how many of them are shown, the first ones.
const maxManualChanges = 200

// intervention is what somebody has asked of the run while it ran: whoever reads the figures must
// know that they did not come about by the profile alone.
type intervention struct {
	at    bench.ManualChange
	When  string
	Trial string // "" between two trials
	Step  string // "" between two steps
	What  string
}

// Place returns "rs-actix-1 at 1024".
func (i intervention) Place() string { return i.Trial + when(i.Step != "", " at "+i.Step) }

// manualChanges lists those of the run and of all its trials by time; left is how many are not shown.
func manualChanges(run bench.Run, l layout) (all []intervention, left int) {
	add := func(i bench.ManualChange, trial, step string) {
		all = append(all, intervention{at: i, When: instant(i.At), Trial: trial, Step: step, What: asked(i.Control)})
	}
	for _, i := range run.ManualChanges {
		add(i, "", "")
	}
	for _, c := range l.columns {
		for _, i := range c.trial.ManualChanges {
			add(i, c.Name(), l.stepLabel(c, i.Step))
		}
	}
	slices.SortStableFunc(all, func(a, b intervention) int { return a.at.At.Compare(b.at.At) })
	left = max(0, len(all)-maxManualChanges)
	return all[:len(all)-left], left
}

// stepLabel returns what the tables call the step with this index of the trial; "" without one.
func (l layout) stepLabel(c column, index *int) string {
	if index == nil {
		return ""
	}
	for i, s := range c.steps {
		if s != nil && s.Index == *index {
			return l.rows[i].Label
		}
	}
	return "step " + count(int64(*index)+1)
}

func asked(c bench.Control) string {
	switch c.Kind {
	case bench.ControlNote:
		return "note: " + cleanText(c.Text)
	case bench.ControlRate:
		return "rate: " + significant(c.Rate) + " requests per second"
	}
	return cleanName(c.Kind.Words())
}
