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

// Figures are all that the rules look at.
type Figures struct {
	Contenders []Contender
	Standings  []analysis.Standing // of the measures that are Summarised, in that order
	Legs       int                 // of the plan
	Unfinished int                 // legs of the plan that were not run to their end by somebody's wish, or not yet
	Busy       string              // load average before the run, where it is more than the machine should have had; ""
	CPUs       int                 // of the machine; 0: not known
	Unequal    bool                // contenders ran under different limits or runtimes
	Warnings   bench.Findings      // of the whole run
}

// Contender is one of them, over its rounds.
type Contender struct {
	stats.Contender
	Label     string // cleaned
	Peak      stats.Step
	HasPeak   bool
	Bound     verdict.Summary // of the step with the peak
	Failed    []string        // what became of each failed leg
	Steered   int             // legs in whose course somebody intervened
	Unlimited int             // legs whose limits were not enforced, though the plan wanted them
	Judged    int             // times that a threshold was judged
	Missed    int             // of them, missed
	Doubtful  []group         // what is found ("client-bound"), and at which steps ("16 connections")
}

const (
	maxLabel = 120
	maxWords = 200
	maxTitle = 80
)

// New takes the figures of a run.
func New(a *analysis.Run, rules Rules) Figures {
	run := a.Run
	f := Figures{Legs: len(run.Legs), CPUs: run.Machine.CPUs, Warnings: run.Warnings}
	for _, e := range run.Legs {
		if e.State == bench.LegPending || e.State == bench.LegRunning || e.State == bench.LegAborted {
			f.Unfinished++
		}
	}
	if load, busy := verdict.BusyBefore(run.Machine); busy {
		f.Busy = fmt.Sprintf("%.3g", load)
	}
	conditions := map[string]bool{}
	for _, c := range a.Ordered() {
		f.Contenders = append(f.Contenders, newContender(c))
		for _, leg := range c.Results {
			if i := leg.Instance; i != nil {
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
	for _, leg := range of.Results {
		if leg.State == bench.LegFailed {
			c.Failed = append(c.Failed, failure(leg))
		}
		if leg.Steered() {
			c.Steered++
		}
		if i := leg.Instance; i != nil && !i.LimitsEnforced && i.Limits != (bench.Limits{}) {
			c.Unlimited++
		}
		for _, s := range leg.Steps {
			c.Judged, c.Missed = c.Judged+len(s.Thresholds), c.Missed+len(s.Missed())
			for _, w := range s.Doubts() {
				if at := [2]string{safe.Line(w.Title(), maxTitle), StepWords(s.Step)}; !seen[at] {
					seen[at] = true
					c.Doubtful = grouped(c.Doubtful, at[0], at[1])
				}
			}
		}
	}
	return c
}

func failure(leg bench.LegResult) string {
	words := "round " + strconv.Itoa(leg.Leg.Round)
	if leg.Failure != "" {
		words += ": " + safe.Line(leg.Failure, maxWords)
	}
	if leg.Exit != nil && !strings.Contains(leg.Failure, leg.Exit.String()) {
		words += " (" + safe.Line(leg.Exit.String(), maxWords) + ")"
	}
	return words
}

func (f Figures) of(label string) Contender {
	return f.Contenders[slices.IndexFunc(f.Contenders, func(c Contender) bool { return c.Contender.Label == label })]
}

// leftOut are the places of those that are not compared.
func leftOut(s analysis.Standing) []analysis.Place {
	return slices.DeleteFunc(slices.Clone(s.Places), func(p analysis.Place) bool { return p.Tier > 0 })
}

// ofLife says whether a measure is of a whole life rather than of the peak.
func ofLife(s analysis.Standing) bool { return measure.Get(s.Measure).Claim.At == measure.OfLife }
