// Package summary says in words what the figures of a run support: who is ahead, by how much and
// how certainly, or that nothing can be said; what bound whom; which steps are in doubt; what
// failed. The rules that write the sentences are one table, in rules.go: each has a condition over
// figures and a sentence with the figures in it. It is pure; how sentences are shown is left to
// package report.
//
// A contender is called ahead only where package stats decides so: at least six rounds, the test
// significant after Holm's adjustment over all pairs of the measure, and the interval of the ratio
// without 1. Whoever's figures are not its own (bound by the client, with errors, with failed
// rounds) takes part in no claim, and is named with the reason.
package summary

import (
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
)

// Kind says what a sentence is about.
type Kind string

// The kinds, in the order in which they are reported.
const (
	Ranking Kind = "claim"   // somebody is ahead: decided by package stats
	Open    Kind = "open"    // nothing can be said, and why
	Bound   Kind = "bound"   // what bound whom at peak
	Caveat  Kind = "doubt"   // figures to be read with care
	Failure Kind = "failure" // what failed
)

// Sentence is one thing that the figures support.
type Sentence struct {
	Rule string // name of the rule that wrote it
	Kind Kind
	// one line of plain text; names and messages in it are from outside, made safe for a terminal but not for HTML
	Text string

	// Of a claim only: what is claimed, so it can be checked.
	Measure measure.ID
	Leaders []string // labels: the only one, or those that cannot be said apart from the first
	Over    []string // labels of those that the first of Leaders is ahead of
}

// Rules decide what is said apart. The zero value is of use.
type Rules struct {
	stats.Rule
	// noise floor of the machine in each measure, as a share; it replaces Rule.Floor where it is higher
	Floors map[measure.ID]float64
}

func (r Rules) of(m measure.ID) stats.Rule {
	rule := r.Rule
	rule.Floor = max(rule.Floor, r.Floors[m])
	return rule
}

// Sentences asks every rule of the table.
func (f Facts) Sentences() (said []Sentence) {
	for _, r := range rules() {
		for _, s := range r.say(f) {
			s.Rule, s.Kind = r.name, r.kind
			said = append(said, s)
		}
	}
	return said
}
