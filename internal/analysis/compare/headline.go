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
	flaws, _ := c.flaws()
	switch first := c.Rows[0]; {
	case tone == table.Good:
		text = "✓ " + text
	case tone == table.Bad:
		text = "✗ " + text
	case first.NotComparable != "":
		text = joined(" ", flaws, c.name()+": not comparable: "+first.NotComparable)
	case text == flaws:
		text = joined(" ", flaws, c.name()+": "+first.Sentence)
	}
	return safe.Line(text, 500), tone
}

// Verdict says which side has a flaw, then what changed; see Changes. It is never Good for a new
// side with one, and Bad if the old one has none.
func (c Contender) Verdict() (text string, tone table.Tone) {
	text, tone = c.Changes()
	flaws, of := c.flaws()
	switch {
	case of[1] && !of[0] && c.Comparable:
		tone = table.Bad
	case of[1] && tone == table.Good:
		tone = table.Plain
	}
	return joined(" ", flaws, text), tone
}

// flaws says which sides have a flaw; "" if none has.
func (c Contender) flaws() (text string, of [2]bool) {
	name := func(i int) string {
		if c.Old == c.New {
			return "the " + sides[i] + " " + safe.Line(c.Old, 60)
		}
		return safe.Line(c.sides[i].Label, 60)
	}
	var said []string
	for _, f := range analysis.Flaws(c.sides[:], name) {
		said = append(said, f.Text)
		for _, i := range f.Of {
			of[i] = true
		}
	}
	return strings.Join(said, " "), of
}
