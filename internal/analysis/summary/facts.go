package summary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/figures/verdict"
	"locbench/internal/text/safe"
)

// Facts are all that the rules look at.
type Facts struct {
	Contenders []Contender
	Standings  []analysis.Standing // of the measures that are Summarised, in that order
	Trials     int                 // of the plan
	Unfinished int                 // trials of the plan that were not run to their end by somebody's wish, or not yet
	Busy       string              // load average before the run, where it is more than the machine should have had; ""
	CPUs       int                 // of the machine; 0: not known
	Unequal    bool                // contenders ran under different limits or runtimes
	Warnings   bench.Warnings      // of the whole run
}

// Contender is one of them, over its rounds.
type Contender struct {
	stats.Contender
	Label         string // cleaned
	Peak          stats.Step
	HasPeak       bool
	Bound         verdict.Summary // of the step with the peak
	Failed        []string        // what became of each failed trial
	ChangedByHand int             // trials in whose course somebody intervened
	Unlimited     int             // trials whose limits were not enforced, though the plan wanted them
	Judged        int             // times that a threshold was judged
	Missed        int             // of them, missed
	Warned        []group         // what is found ("client-bound"), and at which steps ("16 connections")
}

const (
	maxLabel = 120
	maxWords = 200
	maxTitle = 80
)

// New takes the figures of a run.
func New(a *analysis.Run, rules Rules) Facts {
	run := a.Run
	f := Facts{Trials: len(run.Trials), CPUs: run.Machine.CPUs, Warnings: run.Warnings}
	for _, e := range run.Trials {
		if e.State == bench.TrialPending || e.State == bench.TrialRunning || e.State == bench.TrialAborted {
			f.Unfinished++
		}
	}
	if load, busy := verdict.BusyBefore(run.Machine); busy {
		f.Busy = fmt.Sprintf("%.3g", load)
	}
	conditions := map[string]bool{}
	for _, c := range a.Ordered() {
		f.Contenders = append(f.Contenders, newContender(c))
		for _, trial := range c.Results {
			if i := trial.Instance; i != nil {
				conditions[fmt.Sprint(i.Runtime, i.LimitsEnforced, i.Limits)] = true
			}
		}
	}
	f.Unequal = len(conditions) > 1
	for _, m := range measure.View(measure.Summarised) {
		f.Standings = append(f.Standings, a.Standing(m.ID, rules.of(m.ID)))
	}
	return f
}

func newContender(of analysis.Contender) Contender {
	c := Contender{Contender: of.Contender, Label: safe.Line(of.Label, maxLabel)}
	if c.Peak, c.HasPeak = of.PeakStep(); c.HasPeak {
		c.HasPeak = c.Peak.Throughput.Median > 0
		c.Bound = of.Bounds[c.Peak.Index]
	}
	seen := map[[2]string]bool{} // a run may have thousands of steps
	for _, trial := range of.Results {
		if trial.State == bench.TrialFailed {
			c.Failed = append(c.Failed, failure(trial))
		}
		if trial.ChangedByHand() {
			c.ChangedByHand++
		}
		if i := trial.Instance; i != nil && !i.LimitsEnforced && i.Limits != (bench.Limits{}) {
			c.Unlimited++
		}
		for _, s := range trial.Steps {
			c.Judged, c.Missed = c.Judged+len(s.Thresholds), c.Missed+len(s.Missed())
			for _, w := range s.AllWarnings() {
				if at := [2]string{safe.Line(w.Title(), maxTitle), StepWords(s.Step)}; !seen[at] {
					seen[at] = true
					c.Warned = grouped(c.Warned, at[0], at[1])
				}
			}
		}
	}
	return c
}

func failure(trial bench.TrialResult) string {
	words := "round " + strconv.Itoa(trial.Trial.Round)
	if trial.Failure != "" {
		words += ": " + safe.Line(trial.Failure, maxWords)
	}
	if trial.Exit != nil && !strings.Contains(trial.Failure, trial.Exit.String()) {
		words += " (" + safe.Line(trial.Exit.String(), maxWords) + ")"
	}
	return words
}

func (f Facts) of(label string) Contender {
	return f.Contenders[slices.IndexFunc(f.Contenders, func(c Contender) bool { return c.Contender.Label == label })]
}

// leftOut returns the places of those that are not compared.
func leftOut(s analysis.Standing) []analysis.Place {
	return slices.DeleteFunc(slices.Clone(s.Places), func(p analysis.Place) bool { return p.Tier > 0 })
}

// fromStartToStop says whether a measure is of a whole life rather than of the peak.
func fromStartToStop(s analysis.Standing) bool {
	return measure.Get(s.Measure).Comparison.At == measure.FromStartToStop
}
