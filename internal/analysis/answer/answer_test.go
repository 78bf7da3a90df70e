package answer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// words returns all of an answer as text.
func words(r Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n[%d] %s\n", r.Title, r.About, r.Tone, r.Verdict)
	fmt.Fprintf(&b, "Confidence: %s\nCost: %s\nFailures (%v): %s\nNext: %s: %s\n\n%s\n", r.Confidence, r.Cost, r.Failed, r.Failures,
		r.Next, r.Command, r.Table.Text(0))
	for _, note := range r.Table.Notes {
		fmt.Fprintln(&b, note)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "✗ %v %s: %s; cause: %s; remedy: %s\n", p.Warning, p.Contender, p.What, p.Cause, p.Remedy)
	}
	for _, c := range r.Caveats {
		fmt.Fprintf(&b, "! %s\n", c)
	}
	return b.String()
}

// The answers to real runs, one of each kind.
func TestOf_Results(t *testing.T) {
	for _, name := range []string{"locations", "burst", "cold-warm", "delay-matrix"} {
		t.Run(name, func(t *testing.T) {
			run, trials, err := results.Read("../../../testdata/results/" + name)
			testenv.OK(t, err)
			testenv.Golden(t, "testdata/"+name+".txt", words(Of(analysis.Of(run, trials), nil)))
		})
	}
}
