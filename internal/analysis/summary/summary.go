// Package summary writes the summary of a run: the leader of each measure with the evidence, or why
// there is none; bottlenecks; caveats; and failures. The rules are a table in rules.go: each has a
// condition over the facts and a sentence with their values. The package is pure; package report
// renders the sentences.
//
// A contender leads only if package stats decides so: at least six rounds, a test that is
// significant after Holm's correction over all pairs of the measure, and a CI of the ratio that
// excludes 1. Contenders that are client-bound, excluded or failed in a round are not ranked, and
// are named with the reason.
package summary

import (
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Kind is what a sentence is about.
type Kind string

// The kinds, in display order.
const (
	Ranking Kind = "ranking" // a leader, decided by package stats
	Open    Kind = "open"    // no leader, and why
	Bound   Kind = "bound"   // bottlenecks at peak
	Caveat  Kind = "caveat"  // warnings
	Failure Kind = "failure" // failures
)

// Sentence is one sentence of the summary.
type Sentence struct {
	Rule string // name of its rule
	Kind Kind
	// one line of plain text; names and messages in it are safe for a terminal but not for HTML
	Text string

	// Of Ranking only: the ranking as data, for checks.
	Measure measure.ID
	Leaders []string // labels of the leader and of those that are not significantly worse
	Behind  []string // labels of those that are behind the first of Leaders
}

// Rules decide which differences are significant. The zero value has the defaults.
type Rules struct {
	stats.Rule
	// noise floor of each measure, as a share; the higher of this and Rule.Floor applies
	Floors map[measure.ID]float64
}

func (r Rules) of(m measure.ID) stats.Rule {
	rule := r.Rule
	rule.Floor = max(rule.Floor, r.Floors[m])
	return rule
}

// Sentences returns the sentences of all rules that apply.
func (f Facts) Sentences() (said []Sentence) {
	for _, r := range rules() {
		for _, s := range r.say(f) {
			s.Rule, s.Kind = r.name, r.kind
			said = append(said, s)
		}
	}
	return said
}
