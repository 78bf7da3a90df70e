package analysis

import (
	"github.com/locbench/locbench/internal/text/safe"
)

// Flaw says what is wrong with contenders in most of their rounds, whatever their measures are: none
// of them is recommended.
type Flaw struct {
	Of   []int // indices of the contenders
	Text string
}

// Flaws returns the flaws of contenders: memory that grows with the requests, and freezes. name
// returns the name of a contender; nil: its label.
func Flaws(all []Contender, name func(i int) string) (found []Flaw) {
	for i, c := range all {
		w, ok := c.MemoryGrowth()
		if !ok || c.WhyExcluded() != "" {
			continue
		}
		of := safe.Line(c.Label, 60)
		if name != nil {
			of = name(i)
		}
		found = append(found, Flaw{[]int{i}, of + ": " + safe.Line(w.Text, 200) + " (" + Leak + ")."})
	}
	return append(found, Freezes(all, name)...)
}

// Leak is the likely cause of memory that grows with the requests.
const Leak = "a leak, or a cache without a limit"
