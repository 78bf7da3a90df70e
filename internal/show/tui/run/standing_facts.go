package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// head is the line above a contender: what it is made of, and where it is, as far as there is room.
func (s standing) head(t *ui.Theme, w int) string {
	right := "not started yet"
	if n := len(s.Results); n > 0 {
		right = fmt.Sprintf("round %d of %d", n, len(s.trials))
		if trial := s.trials[min(n, len(s.trials))-1]; trial.Result.State == bench.TrialRunning && len(trial.Steps) > 0 {
			right += fmt.Sprintf(", step %d", len(trial.Steps))
			if n := len(s.of.Run.Profile.Steps); n >= len(trial.Steps) {
				right += fmt.Sprintf(" of %d", n)
			}
		}
	}
	of := s.Service
	name := t.Mark(s.mark) + " " + t.Title.S(ui.Outside(s.label, nameBytes))
	about := []string{"  " + strings.TrimSpace(of.Language+" "+of.LanguageVersion), "", ""}
	if of.Framework != "" {
		about[1] = ", " + strings.TrimSpace(of.Framework+" "+of.Version)
	}
	if len(of.Tags) > 0 {
		about[2] = " (" + strings.Join(of.Tags, ", ") + ")"
	}
	for n := len(about); n > 0 && of.Language != ""; n-- {
		left := name + ui.Outside(strings.TrimRight(strings.Join(about[:n], ""), " "), 3*nameBytes)
		if fit.Width(left)+fit.Width(right)+3 <= w {
			return t.Rule(left, right, w)
		}
	}
	return t.Rule(name, right, w)
}

// facts are what is known about a contender beyond the table.
func (s standing) facts(state *fold.State) (all []ui.ProblemRow) {
	if s.of == nil {
		return nil
	}
	add := func(name, text string) {
		if text != "" {
			all = append(all, ui.ProblemRow{Name: name, Text: said(text)})
		}
	}
	last := s.Results[len(s.Results)-1]
	add("limits", state.Run.Profile.Under(last.Trial.Selection()))
	if n, ok := s.Threads(); ok {
		add("threads", fmt.Sprintf("%d after the warm-up", n))
	}
	add("start-up", s.startUp())
	add("throttled", s.throttled())
	add("memory", s.memory())
	add("bound by", s.bounds())
	if peak, ok := s.PeakStep(); ok {
		for _, name := range measure.Needs([]stats.Step{peak}) {
			add("need", measure.NeedWords(name, peak.Results...))
		}
	}
	add("checks", s.checks(last))
	add(program(last))
	add("run it alone", s.command())
	return all
}

func (s standing) startUp() string {
	start, peak := s.cell(measure.Get(measure.StartUp)).Text, s.cell(measure.Get(measure.PeakTime)).Text
	if start == units.Missing {
		return ""
	}
	if start += " to the first ready response"; peak != units.Missing {
		start += ", " + peak + " to peak throughput"
	}
	return start
}

// throttled counts the throttled periods of all steps.
func (s standing) throttled() string {
	var n, periods int64
	for _, t := range s.Results {
		for _, r := range t.Steps {
			of, _ := r.Throttling()
			n, periods = n+of.Throttled, periods+of.Periods
		}
	}
	if periods == 0 {
		return ""
	}
	return units.Count(n) + " of " + units.Plural(periods, "period")
}

func (s standing) memory() string {
	text := s.cell(measure.Get(measure.MemoryPeak)).Text
	if text == units.Missing {
		return ""
	}
	if limit := s.Planned().Memory; limit > 0 {
		text += " of " + units.Bytes(limit)
	}
	return "peak " + text
}

// bounds names the bottlenecks of the measured steps: "connections from 2, then machine from 4".
func (s standing) bounds() string {
	const most = 4
	var texts []string
	var before verdict.Bound
	for _, step := range s.Steps {
		by := s.Bounds[step.Index]
		if step.Step.WarmUp || by.Bound == "" || by.Bound == before {
			continue
		}
		before = by.Bound
		texts = append(texts, boundName(by.Bound)+" from "+step.Step.Short())
	}
	if n := len(texts); n > most {
		texts = append(texts[:most-1], units.Plural(n-most+1, "more change"))
	}
	return strings.Join(texts, ", then ")
}

// checks counts the checks of all rounds, with the first that failed or was skipped.
func (s standing) checks(last bench.TrialResult) string {
	var texts []string
	for _, status := range []bench.CheckStatus{bench.CheckFailed, bench.CheckPassed, bench.CheckSkipped} {
		n := s.Checks[status]
		if n == 0 {
			continue
		}
		text := units.Count(int64(n)) + " " + string(status)
		i := slices.IndexFunc(last.Checks, func(c bench.CheckResult) bool { return c.Status == status })
		switch {
		case i < 0:
		case status == bench.CheckFailed:
			text += ", first: " + last.Checks[i].Group + ": " + last.Checks[i].Name
		case status == bench.CheckSkipped && last.Checks[i].Detail != "":
			text += ": " + last.Checks[i].Detail
		}
		texts = append(texts, text)
	}
	if n, estimate := s.Compared(); n > 0 {
		text := units.Count(n) + " bodies compared"
		if estimate {
			text += " (errors: estimate)"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// program says how large what was started is, and how long it took to build and to stop.
func program(last bench.TrialResult) (name, text string) {
	var texts []string
	a := last.Artifact
	name = "program"
	if a.Image != "" {
		name = "image"
	}
	if n := cmp.Or(a.ImageSize, a.BinarySize); n > 0 {
		texts = append(texts, units.Bytes(n))
	}
	if a.BuildTime > 0 && !a.BuildCached {
		texts = append(texts, "built in "+units.Duration(a.BuildTime))
	}
	if last.Stop != nil && last.Stop.Took > 0 {
		texts = append(texts, "stopped in "+units.Duration(last.Stop.Took))
	}
	return name, strings.Join(texts, ", ")
}

// command returns the command that runs the contender alone, with enough rounds for a CI.
func (s standing) command() string {
	return said(conclusion.Alone(s.Contender, s.of, fmt.Sprintf("--rounds=%d", max(stats.MinInterval, len(s.trials)))))
}
