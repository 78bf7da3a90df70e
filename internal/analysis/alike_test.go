package analysis

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

// The first contender is the reference, unless it is excluded, has no peak, or is not stable at it.
func TestReference(t *testing.T) {
	of := func(change func(*stats.Contender)) Contender {
		c := stats.Contender{Steps: []stats.Step{{Step: bench.Step{Name: "16c", Connections: 16}, Rounds: 6}}}
		change(&c)
		return Contender{Contender: c}
	}
	good := of(func(*stats.Contender) {})
	drifting := of(func(c *stats.Contender) { c.Steps[0].Drifting = 1 })
	excluded := of(func(c *stats.Contender) { c.Excluded = &bench.Exclusion{} })
	none := of(func(c *stats.Contender) { c.Peak = -1 })
	for name, test := range map[string]struct {
		all  []Contender
		want int
	}{
		"the first":               {[]Contender{good, good}, 0},
		"not stable":              {[]Contender{drifting, good}, 1},
		"excluded":                {[]Contender{excluded, drifting, good}, 2},
		"not stable, or excluded": {[]Contender{excluded, drifting}, 1},
		"without a peak":          {[]Contender{none, good}, 1},
		"none is left":            {[]Contender{excluded, none}, 0},
	} {
		if got := Reference(test.all); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
