package setup

import (
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/estimate"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// text is an error in one line.
func text(err error) string {
	if err == nil {
		return ""
	}
	return look.Outside(strings.Join(strings.Fields(err.Error()), " "), 500)
}

// takeProfile makes the chosen profile the base, if it is known.
func (s *Screen) takeProfile() {
	s.loaded, s.base, s.baseErr = false, bench.Profile{}, ""
	clear(s.checked)
	for _, p := range s.profiles {
		if p.Name != s.choice.Profile {
			continue
		}
		if s.baseErr = text(p.Err); p.Err == nil {
			s.base, s.loaded = p.Profile, true
		}
		s.list.dirty = true
		return
	}
	s.baseErr = "there is no profile " + look.Outside(s.choice.Profile, 200)
}

// replan asks what the command line would make of the choice: first of each field by itself, so
// that a mistake is reported where it was made, then of all that are right together.
func (s *Screen) replan() {
	s.plan, s.planned, s.planErr = bench.Profile{}, false, ""
	clear(s.wrong)
	if !s.loaded {
		return
	}
	right := Choice{Profile: s.choice.Profile, Contenders: s.choice.Contenders, Set: map[string]string{}, Extra: s.choice.Extra}
	neutral := s.base // a store that is missing must not be held against every other field
	neutral.Store = bench.StoreSpec{Kind: bench.StoreNone}
	for f := range fieldCount {
		flag := forms[f].flag
		v, ok := s.choice.Set[flag]
		if !ok || f == fieldStore && s.choice.Set["elastic"] != "" && bench.StoreKind(v).Traits().ByURL || f == fieldElastic && v == "" {
			continue
		}
		if f == fieldDump && v == dataBundled {
			right.Set[flag] = v
			continue
		}
		if f == fieldStore && bench.StoreKind(v).Traits().ByURL {
			continue // it lacks its URL, which its own field says
		}
		if what := s.check(neutral, flag, v); what != "" {
			s.wrong[f] = what
			continue
		}
		right.Set[flag] = v
	}
	for _, flag := range []string{"vertices", "data-seed"} {
		if v, ok := s.choice.Set[flag]; ok && right.Set["cities"] != "" {
			right.Set[flag] = v
		}
	}
	base := s.base
	if s.storeKind().Traits().ByURL && right.Set["elastic"] == "" && base.Store.URL == "" {
		base.Store = bench.StoreSpec{Kind: bench.StoreNone} // for the figures only: problems says what is missing
		if s.wrong[fieldElastic] == "" {
			s.wrong[fieldElastic] = "a real Elasticsearch 7 is wanted, and none is named"
		}
	}
	var err error
	if s.plan, err = s.o.Plan(base, right.Args()); err != nil {
		s.planErr = s.reason(err)
		return
	}
	s.planned = true
}

// check says what is wrong with a flag's value by itself. It remembers: only one value changes at a
// key.
func (s *Screen) check(base bench.Profile, flag, value string) string {
	key := flag + "=" + value
	what, known := s.checked[key]
	if !known {
		_, err := s.o.Plan(base, Choice{Profile: s.choice.Profile, Set: map[string]string{flag: value}}.Args())
		if what = s.reason(err); len(s.checked) > 1000 {
			clear(s.checked)
		}
		s.checked[key] = what
	}
	return what
}

// reason is err without the name of the profile, which is on the screen anyway.
func (s *Screen) reason(err error) string {
	return strings.TrimPrefix(text(err), "profile "+s.base.Name+": ")
}

// legs is the number of lives that the plan has.
func (s *Screen) legs() int { return len(s.plan.Contenders) * s.plan.Rounds }

// total is the time that the run is thought to take.
func (s *Screen) total() time.Duration {
	return time.Duration(s.legs()) * (s.plan.LoadDuration() + estimate.LegOverhead)
}

// estimate is the size of the run in a line of w cells.
func (s *Screen) estimate(w int) string {
	if !s.planned {
		return units.Missing
	}
	legs := units.Plural(s.legs(), "leg") + " of " + units.Length(s.plan.LoadDuration()) + " load; estimated " + units.Approx(s.total()) + " in all"
	if long := units.Plural(len(s.plan.Contenders), "contender") + " × " + units.Plural(s.plan.Rounds, "round") + " = " + legs; look.Width(long) <= w {
		return long
	}
	return legs
}
