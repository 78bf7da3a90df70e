package summary

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// Facts are the inputs of the rules.
type Facts struct {
	Contenders []Contender
	Standings  []analysis.Standing // of the measures at measure.Summarized, in that order
	Trials     int                 // planned
	Unfinished int                 // planned trials that were aborted or have not ended
	Busy       string              // load average before the run, if the machine was busy; ""
	CPUs       int                 // of the machine; 0: not known
	Apart      string              // why the contenders were not interleaved, see bench.Run.NotInterleaved
	Unequal    bool                // contenders ran under different limits or runtimes
	Settle     string              // what settles inconclusive measures soonest; "": nothing does
	Plain      *bench.Plain        // why the run was not interleaved
	Warnings   bench.Warnings      // of the whole run
	Ratios     []string            // of contenders with different limits, in place of tiers; see LimitRatios
}

// Contender is a contender over its rounds.
type Contender struct {
	stats.Contender
	Label         string // safe for a terminal
	Peak          stats.Step
	HasPeak       bool
	Bound         verdict.Summary // bottleneck at peak
	Failed        []string        // a text per failed trial
	ChangedByHand int             // trials with manual changes
	Unlimited     int             // trials whose limits were not enforced
	Checked       int             // number of threshold checks
	Missed        int             // of Checked: not passed
	of            analysis.Contender
	Growth        string  // the warning of memory growth with the highest rate; "" without one, or if it failed
	Warned        []group // warnings ("client-bound") and the steps that have them ("16 connections")
}

const (
	maxLabel = 120
	maxWords = 200
	maxTitle = 80
)

// New returns the facts of an analyzed run.
func New(a *analysis.Run, rules Rules) Facts {
	run := a.Run
	f := Facts{
		Trials: len(run.Trials), CPUs: run.Machine.CPUs, Warnings: run.Warnings, Plain: run.Plain, Apart: run.NotInterleaved(),
	}
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
				planned := i.Limits == c.Planned() // those of the profile are the subject
				if planned {
					conditions[fmt.Sprint(i.Runtime, i.LimitsEnforced, "planned")] = true
				} else {
					conditions[fmt.Sprint(i.Runtime, i.LimitsEnforced, i.Limits)] = true
				}
			}
		}
	}
	f.Unequal = len(conditions) > 1
	for _, m := range measure.View(measure.Summarized) {
		f.Standings = append(f.Standings, a.Standing(m.ID, rules.of(m.ID)))
	}
	f.Settle = a.Settle(rules.of)
	f.Ratios = a.LimitRatios(f.Standings)
	return f
}

func newContender(of analysis.Contender) Contender {
	c := Contender{Contender: of.Contender, of: of, Label: safe.Line(of.Label, maxLabel)}
	if c.Peak, c.HasPeak = of.PeakStep(); c.HasPeak {
		c.HasPeak = c.Peak.Throughput.Median > 0
		c.Bound = of.Bounds[c.Peak.Index]
	}
	if w, ok := of.MemoryGrowth(); ok {
		c.Growth = w.Text
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
			c.Checked, c.Missed = c.Checked+len(s.Thresholds), c.Missed+len(s.Missed())
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
	return words
}

// leftOut returns the places of the contenders that are not compared.
func leftOut(s analysis.Standing) []analysis.Place {
	return slices.DeleteFunc(slices.Clone(s.Places), func(p analysis.Place) bool { return p.Tier > 0 })
}

// fromStartToStop reports whether a measure is of whole trials, not of one step.
func fromStartToStop(s analysis.Standing) bool {
	return measure.Get(s.Measure).Comparison.At == measure.FromStartToStop
}
