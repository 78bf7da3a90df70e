package compare

import (
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Headline returns the verdict with its mark, or why there is none.
func (c Contender) Headline() (text string, tone table.Tone) {
	text, tone = c.Verdict()
	froze, _ := c.froze()
	switch first := c.Rows[0]; {
	case tone == table.Good:
		text = "✓ " + text
	case tone == table.Bad:
		text = "✗ " + text
	case first.NotComparable != "":
		text = joined(" ", froze, c.name()+": not comparable: "+first.NotComparable)
	case text == froze:
		text = joined(" ", froze, c.name()+": "+first.Sentence)
	}
	return safe.Line(text, 500), tone
}

// Verdict says which side froze, then what changed; see Changes. It is never Good for a new side
// that froze, and Bad if the old one did not.
func (c Contender) Verdict() (text string, tone table.Tone) {
	text, tone = c.Changes()
	froze, of := c.froze()
	switch {
	case of[1] && !of[0] && c.Comparable:
		tone = table.Bad
	case of[1] && tone == table.Good:
		tone = table.Plain
	}
	return joined(" ", froze, text), tone
}

// froze says whose first responses took long, and which sides that are; "" if none froze.
func (c Contender) froze() (text string, of [2]bool) {
	name := func(i int) string {
		if c.Old == c.New {
			return "the " + sides[i] + " " + safe.Line(c.Old, 60)
		}
		return safe.Line(c.sides[i].Label, 60)
	}
	var said []string
	for _, f := range analysis.Freezes(c.sides[:], name) {
		said = append(said, f.Text)
		for _, i := range f.Of {
			of[i] = true
		}
	}
	return strings.Join(said, " "), of
}
