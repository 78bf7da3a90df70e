package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// lastLines is how many of the last lines that a contender wrote to standard error are shown with its
// failure.
const lastLines = 3

// problem is a problem of a contender; "": of the run.
type problem struct {
	contender string
	ui.Problem
}

// problems returns the contenders that failed so far, the worst first, and why the run failed if
// none did. It is cheap while nothing fails: only contenders with a failure are analyzed.
func problems(s *fold.State) []problem {
	failed := map[string]bool{}
	for _, t := range s.Trials {
		if _, checks, _ := t.Checks(); checks > 0 || t.Result.State == bench.TrialFailed {
			failed[t.Result.Trial.Label()] = true
		}
	}
	if len(failed) == 0 {
		return problemsOf(s, nil, nil)
	}
	trials := slices.DeleteFunc(s.Results(), func(t bench.TrialResult) bool { return !failed[t.Trial.Label()] })
	a := analysis.SoFar(s.Run, trials)
	return problemsOf(s, a, conclusion.Of(a, nil).Problems)
}

// problemsOf returns the problems of a conclusion with what is known about each.
func problemsOf(s *fold.State, a *analysis.Run, found []conclusion.Problem) (all []problem) {
	for _, p := range found {
		one := problem{said(p.Contender), ui.Problem{Head: said(p.Contender + " " + p.What), Warning: p.Warning}}
		add := func(name, text string) {
			if text != "" {
				one.Rows = append(one.Rows, ui.ProblemRow{Name: name, Text: text})
			}
		}
		add("cause", said(p.Cause))
		i := slices.IndexFunc(a.Contenders, func(c analysis.Contender) bool { return said(c.Label) == said(p.Contender) })
		if i >= 0 && !p.Warning {
			add("log", lastLog(a.Contenders[i]))
			add("effect", effect(a.Contenders[i]))
		}
		remedy := said(p.Remedy)
		if i >= 0 && a.Contenders[i].Excluded == nil && s.Ended != nil && resumable(s) {
			remedy += "\nthen run what is missing: " + resume(s)
		}
		add(ui.Remedy, remedy)
		all = append(all, one)
	}
	if s.Ended != nil && s.Ended.Err != "" && len(all) == 0 {
		remedy := "see the log, then run again"
		if resumable(s) {
			remedy = "run what is missing: " + resume(s)
		}
		all = append(all, problem{Problem: ui.Problem{Head: "the run is " + string(s.Ended.State) + ": " + said(s.Ended.Err),
			Rows: []ui.ProblemRow{{Name: ui.Remedy, Text: remedy}}}})
	}
	return all
}

// said makes a text of a conclusion safe for the layout, whole.
func said(s string) string { return ui.Outside(s, 4000) }

// lastLog returns the last errors in the log of the first round that failed, or its last line.
func lastLog(c analysis.Contender) string {
	for _, t := range c.Results {
		n := len(t.LastLog)
		if n == 0 {
			continue
		}
		var lines []string
		for _, l := range t.LastLog {
			if l.Stream == "stderr" {
				lines = append(lines, ui.Outside(l.Text, 300))
			}
		}
		if len(lines) == 0 {
			return ui.Outside(t.LastLog[n-1].Text, 300)
		}
		return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
	}
	return ""
}

// effect says what a failure means for the results.
func effect(c analysis.Contender) string {
	steps := 0
	for _, t := range c.Results {
		for _, step := range t.Steps {
			if step.Aborted == "" {
				steps++
			}
		}
	}
	if steps == 0 {
		return "excluded: none of its steps was finished"
	}
	return fmt.Sprintf("excluded; its %s are kept", units.Plural(steps, "finished step"))
}

// resumable reports whether trials are missing that a contender did not fail itself: it would again.
func resumable(s *fold.State) bool {
	return s.Dir != "" && slices.ContainsFunc(s.Trials, func(t *fold.Trial) bool {
		return t.Result.State != bench.TrialComplete && t.Result.WhyFailed() == nil
	})
}

func resume(s *fold.State) string {
	return said(conclusion.Command([]string{"locbench", "run", "--resume=" + s.Dir}))
}
