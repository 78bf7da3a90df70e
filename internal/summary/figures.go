package summary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/safe"
	"locbench/internal/stats"
	"locbench/internal/verdict"
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
	Doubtful  []Doubtful
}

// Doubtful is what is found at some steps.
type Doubtful struct {
	What  string   // "client-bound", cleaned
	Steps []string // "16 connections"
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
	if load, err := strconv.ParseFloat(run.Machine.Load1, 64); err == nil && f.CPUs > 0 && load > verdict.BusyLoad*float64(f.CPUs) {
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
	known := doubted{whats: map[string]int{}, steps: map[doubtedStep]bool{}}
	for _, leg := range of.Results {
		if leg.State == bench.LegFailed {
			c.Failed = append(c.Failed, failure(leg))
		}
		if slices.ContainsFunc(leg.Interventions, func(i bench.Intervention) bool { return i.Control.Kind != bench.ControlNote }) {
			c.Steered++
		}
		if i := leg.Instance; i != nil && !i.LimitsEnforced && i.Limits != (bench.Limits{}) {
			c.Unlimited++
		}
		for _, s := range leg.Steps {
			c.Judged, c.Missed = c.Judged+len(s.Thresholds), c.Missed+len(s.Missed())
			for _, w := range s.Doubts() {
				c.doubt(safe.Line(w.Title(), maxTitle), StepWords(s.Step), known)
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

// doubted finds what a contender's doubts are about already: a run may have thousands of steps.
type doubted struct {
	whats map[string]int // places in Contender.Doubtful
	steps map[doubtedStep]bool
}

type doubtedStep struct {
	what int // its place
	step string
}

// doubt takes in what is found at a step.
func (c *Contender) doubt(what, step string, known doubted) {
	i, ok := known.whats[what]
	if !ok {
		i = len(c.Doubtful)
		known.whats[what] = i
		c.Doubtful = append(c.Doubtful, Doubtful{What: what})
	}
	if at := (doubtedStep{i, step}); !known.steps[at] {
		known.steps[at] = true
		c.Doubtful[i].Steps = append(c.Doubtful[i].Steps, step)
	}
}

func (f Figures) of(label string) Contender {
	return f.Contenders[slices.IndexFunc(f.Contenders, func(c Contender) bool { return c.Contender.Label == label })]
}

// rounds is how many rounds the figures of the peak are of.
func (c Contender) rounds() int { return len(c.Peak.Throughput.Values) }

// outside are the contenders that are not compared, by label, and why.
type outside struct{ contender, why string }

func leftOut(s analysis.Standing) (all []outside) {
	for _, p := range s.Places {
		why := p.Out
		switch n := len(p.Value.Values); {
		case p.Tier > 0:
			continue
		case why != "":
		case n == 0:
			why = "not measured"
		case n < stats.MinInterval:
			why = tooShort(n)
		default:
			why = "a round has a value that cannot be compared"
		}
		all = append(all, outside{p.Contender, why})
	}
	return all
}

// ofLife says whether a measure is of a whole life rather than of the peak.
func ofLife(s analysis.Standing) bool { return measure.Get(s.Measure).Claim.At == measure.OfLife }
