package fold

import "slices"

// Clone is a moment of a run to come back to. What nobody changes any more is shared.
func (s *State) Clone() *State {
	c := *s
	c.Run.Legs = slices.Clone(s.Run.Legs)
	c.Diary = slices.Clip(s.Diary)
	c.Legs = slices.Clone(s.Legs)
	for i, leg := range s.Legs {
		c.Legs[i] = leg.clone()
		if leg == s.Current {
			c.Current = c.Legs[i]
		}
	}
	if s.Current != nil && c.Current == s.Current {
		c.Current = s.Current.clone()
	}
	return &c
}

func (l *Leg) clone() *Leg {
	c := *l
	c.Steps = slices.Clone(l.Steps)
	for i, step := range l.Steps {
		c.Steps[i] = new(*step)
	}
	c.Load, c.Usage = slices.Clip(l.Load), slices.Clip(l.Usage)
	c.Flags, c.Log = slices.Clip(l.Flags), slices.Clip(l.Log)
	r := &c.Result
	r.Marks, r.Checks, r.Steps = slices.Clip(r.Marks), slices.Clip(r.Checks), slices.Clip(r.Steps)
	r.Warnings, r.Interventions = slices.Clip(r.Warnings), slices.Clip(r.Interventions)
	return &c
}
