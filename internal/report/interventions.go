package report

import (
	"slices"

	"locbench/internal/bench"
)

// maxInterventions is how many of them are shown, the first ones.
const maxInterventions = 200

// intervention is what somebody has asked of the run while it ran: whoever reads the figures must
// know that they did not come about by the profile alone.
type intervention struct {
	at   bench.Intervention
	When string
	Leg  string // "" between two legs
	Step string // "" between two steps
	What string
}

// Place is "rs-actix-1 at 1024".
func (i intervention) Place() string {
	return i.Leg + when(i.Step != "", " at "+i.Step)
}

// interventions lists those of the run and of all its legs by time; left is how many are not shown.
func interventions(run bench.Run, l layout) (all []intervention, left int) {
	add := func(i bench.Intervention, leg, step string) {
		all = append(all, intervention{at: i, When: instant(i.At), Leg: leg, Step: step, What: asked(i.Control)})
	}
	for _, i := range run.Interventions {
		add(i, "", "")
	}
	for _, c := range l.columns {
		for _, i := range c.leg.Interventions {
			add(i, c.Name(), l.stepLabel(c, i.Step))
		}
	}
	slices.SortStableFunc(all, func(a, b intervention) int { return a.at.At.Compare(b.at.At) })
	left = max(0, len(all)-maxInterventions)
	return all[:len(all)-left], left
}

// stepLabel is what the tables call the step with this index of the leg; "" without one.
func (l layout) stepLabel(c column, index *int) string {
	if index == nil {
		return ""
	}
	for i, s := range c.steps {
		if s != nil && s.Index == *index {
			return l.rows[i].Label
		}
	}
	return "step " + count(int64(*index)+1)
}

func asked(c bench.Control) string {
	switch c.Kind {
	case bench.ControlNote:
		return "note: " + cleanText(c.Text)
	case bench.ControlRate:
		return "rate: " + significant(c.Rate) + " requests per second"
	}
	return cleanName(string(c.Kind))
}
