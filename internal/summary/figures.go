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
	Standings  []Standing // of the measures that are Summarised, in that order
	Legs       int        // of the plan
	Unfinished int        // legs of the plan that were not run to their end by somebody's wish, or not yet
	Busy       string     // load average before the run, where it is more than the machine should have had; ""
	CPUs       int        // of the machine; 0: not known
	Unequal    bool       // contenders ran under different limits or runtimes
	Warnings   []string   // of the whole run, cleaned
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

// Doubtful is one kind of warning and the steps that have it.
type Doubtful struct {
	Kind    bench.FindingKind
	What    string   // "client-bound"
	Steps   []string // "16 connections"; empty: it is about whole legs
	general string   // What, without figures
}

const (
	maxLabel = 120
	maxWords = 200
	maxTitle = 80
)

// New takes the figures of a run.
func New(a *analysis.Run, rules Rules) Figures {
	run := a.Run
	f := Figures{Legs: len(run.Legs), CPUs: run.Machine.CPUs}
	for _, e := range run.Legs {
		if e.State == bench.LegPending || e.State == bench.LegRunning || e.State == bench.LegAborted {
			f.Unfinished++
		}
	}
	if load, err := strconv.ParseFloat(run.Machine.Load1, 64); err == nil && f.CPUs > 0 && load > verdict.BusyLoad*float64(f.CPUs) {
		f.Busy = fmt.Sprintf("%.3g", load)
	}
	for _, w := range run.Warnings {
		f.Warnings = append(f.Warnings, safe.Line(w.Text, maxWords))
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
		f.Standings = append(f.Standings, Standing{a.Standing(m.ID, rules.of(m.ID))})
	}
	return f
}

func newContender(of analysis.Contender) Contender {
	c := Contender{Contender: of.Contender, Label: safe.Line(of.Label, maxLabel)}
	if c.Peak, c.HasPeak = of.PeakStep(); c.HasPeak {
		c.HasPeak = c.Peak.Throughput.Median > 0
		c.Bound = of.Bounds[c.Peak.Index]
	}
	known := doubted{kinds: map[doubtKey]int{}, steps: map[doubtedStep]bool{}}
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
				c.doubt(w, StepWords(s.Step), known)
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
	kinds map[doubtKey]int // places in Contender.Doubtful
	steps map[doubtedStep]bool
}

type doubtedStep struct {
	kind int // its place
	step string
}

// doubt takes in a warning by its kind, whatever its figures are.
func (c *Contender) doubt(f bench.Finding, step string, known doubted) {
	one := Doubtful{Kind: f.Kind, What: safe.Line(f.Title(), maxTitle), general: f.General()}
	i, ok := known.kinds[one.key()]
	if !ok {
		i = len(c.Doubtful)
		known.kinds[one.key()] = i
		c.Doubtful = append(c.Doubtful, one)
	}
	d := &c.Doubtful[i]
	d.merge(one)
	if at := (doubtedStep{i, step}); !known.steps[at] {
		known.steps[at] = true
		d.Steps = append(d.Steps, step)
	}
}

// doubtKey is the same for doubts of one kind, and for those without a kind that have one title.
type doubtKey struct {
	kind bench.FindingKind
	what string
}

func (d Doubtful) key() doubtKey {
	if d.Kind.Title() != "" {
		return doubtKey{kind: d.Kind}
	}
	return doubtKey{d.Kind, d.What}
}

// merge leaves the figures out of the title where those of another doubt of the kind differ.
func (d *Doubtful) merge(o Doubtful) {
	if d.general != o.general {
		d.general = d.Kind.Title()
	}
	if d.What != o.What {
		d.What = d.general
	}
}

func (f Figures) of(label string) Contender {
	return f.Contenders[slices.IndexFunc(f.Contenders, func(c Contender) bool { return c.Contender.Label == label })]
}

// rounds is how many rounds the figures of the peak are of.
func (c Contender) rounds() int { return len(c.Peak.Throughput.Values) }

// Standing is how the contenders stand in one measure, as package analysis decides it.
type Standing struct{ analysis.Standing }

func (s Standing) out() (all []outside) {
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

// outside is a contender that is not compared, by its label, and why.
type outside struct{ contender, why string }

func (s Standing) member(i int) analysis.Place { return s.Places[s.Members[i]] }

func (s Standing) measure() measure.Measure { return measure.Get(s.Measure) }

// ofLife tells whether the measure is of a whole life rather than of the peak.
func (s Standing) ofLife() bool { return s.measure().Claim.At == measure.OfLife }

// ahead tells whether the first of the top tier is ahead of somebody, and of whom. Nobody is in a
// tier alone but for a decision of package stats, and each pair is looked at once more: the
// verdict, and that the interval leaves 1 out.
func (s Standing) ahead() (leaders, over []int) {
	if len(s.Tiers) == 0 {
		return nil, nil
	}
	for i := range s.Members {
		if i == s.Tiers[0][0] {
			continue
		}
		if c, ok := s.Pair(s.Tiers[0][0], i); ok && c.Verdict == stats.Better && c.Ratio != nil && !c.Ratio.Interval.Holds(1) && c.Adjusted <= c.Rule.Alpha {
			over = append(over, i)
			continue
		}
		leaders = append(leaders, i)
	}
	return append([]int{s.Tiers[0][0]}, leaders...), over
}
