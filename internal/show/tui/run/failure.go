package run

import (
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// problem is what happened to a contender ("": to the run), and what to do.
type problem struct{ contender, head, remedy string }

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

// problemsOf returns the problems of a conclusion, each with what to do.
func problemsOf(s *fold.State, a *analysis.Run, found []conclusion.Problem) (all []problem) {
	for _, p := range found {
		i := slices.IndexFunc(a.Contenders, func(c analysis.Contender) bool { return said(c.Label) == said(p.Contender) })
		remedy := said(p.Remedy)
		if i >= 0 && a.Contenders[i].Excluded == nil && s.Ended != nil && resumable(s) {
			remedy += "\nthen run what is missing: " + resume(s)
		}
		all = append(all, problem{said(p.Contender), said(p.Contender + " " + p.What), remedy})
	}
	if s.Ended != nil && s.Ended.Err != "" && len(all) == 0 {
		remedy := "see the log, then run again"
		if resumable(s) {
			remedy = "run what is missing: " + resume(s)
		}
		all = append(all, problem{head: "the run is " + string(s.Ended.State) + ": " + said(s.Ended.Err), remedy: remedy})
	}
	return all
}

// said makes a text of a conclusion safe for the layout, whole.
func said(s string) string { return ui.Outside(s, 4000) }

// resumable reports whether trials are missing that a contender did not fail itself: it would again.
func resumable(s *fold.State) bool {
	return s.Dir != "" && slices.ContainsFunc(s.Trials, func(t *fold.Trial) bool {
		return t.Result.State != bench.TrialComplete && t.Result.WhyFailed() == nil
	})
}

func resume(s *fold.State) string {
	return said(conclusion.Command([]string{"locbench", "run", "--resume=" + s.Dir}))
}

// kept is what was made of a run, until a step, a trial or a check changes it: to merge latencies
// takes a moment.
type kept[T any] struct {
	at   progress
	made bool
	it   T
}

func (k *kept[T]) of(s *fold.State, made func(*fold.State) T) T {
	if at := progressOf(s); !k.made || k.at != at {
		*k = kept[T]{at, true, made(s)}
	}
	return k.it
}

// progress is what the results so far depend on, as counts: while it stays the same they do too.
type progress struct {
	of                                            *fold.State
	trials, steps, checks, failed, starts, states int
	ended                                         bool
}

func progressOf(s *fold.State) progress {
	p := progress{of: s, ended: s.Ended != nil}
	for _, t := range s.Trials {
		_, failed, _ := t.Checks()
		p.steps += len(t.Result.Steps)
		p.checks += min(1, len(t.Result.Checks))
		p.failed += failed
		p.states += len(t.Result.State)
		if t.Result.StartUp != nil {
			p.starts++
		}
		if t.Result.State == bench.TrialComplete {
			p.trials++
		}
	}
	return p
}
