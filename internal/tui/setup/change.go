package setup

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/event"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// change carries out f, plans anew, and asks what has to be asked anew because of it.
func (s *Screen) change(f func()) tea.Cmd {
	runtime, profile := s.runtime(), s.choice.Profile
	f()
	if s.choice.Profile != profile {
		s.takeProfile()
	}
	s.forced = ""
	s.replan()
	if !slices.Contains(s.shown(), s.focus) {
		s.focus = fieldStart
	}
	var cmds []tea.Cmd
	if s.runtime() != runtime {
		cmds = append(cmds, s.askStates(), s.askMachine())
	}
	if s.mode != editing && s.wrong[fieldElastic] == "" {
		cmds = append(cmds, s.askElastic(s.elasticURL()))
	}
	return tea.Batch(append(cmds, s.askRoom())...)
}

// pick gives a choice one of its options.
func (s *Screen) pick(f id, value string) tea.Cmd {
	switch f {
	case fieldProfile:
		return s.change(func() { s.choice.Profile = value })
	case fieldStore:
		return s.setStore(value)
	case fieldData:
		return s.setData(value)
	}
	return s.change(func() { s.put(f, value) })
}

// put sets a flag, or lets it be where the value is the profile's.
func (s *Screen) put(f id, value string) {
	flag := forms[f].flag
	needed := f == fieldDump || f == fieldCities // without them the data would be other ones
	if value == s.preset(f) && (value != "" || !needed) || value == "" && !needed {
		delete(s.choice.Set, flag)
		return
	}
	s.choice.Set[flag] = value
}

// setStore keeps the address of an external store for who comes back to it.
func (s *Screen) setStore(kind string) tea.Cmd {
	return s.change(func() {
		if url := s.choice.Set["elastic"]; url != "" {
			s.url = url
		}
		s.unset("store", "elastic")
		if kind != s.preset(fieldStore) {
			s.choice.Set["store"] = kind
		}
		if bench.StoreKind(kind).Traits().ByURL && s.url != "" && s.base.Store.URL == "" {
			s.choice.Set["elastic"] = s.url
		}
	})
}

var dataFlags = []string{"data", "cities", "vertices", "data-seed"}

func (s *Screen) unset(flags ...string) {
	maps.DeleteFunc(s.choice.Set, func(flag, _ string) bool { return slices.Contains(flags, flag) })
}

// firstCities is how many cities are generated unless somebody says how many.
const firstCities = "10000"

func (s *Screen) setData(kind string) tea.Cmd {
	return s.change(func() {
		s.unset(dataFlags...)
		switch {
		case kind == s.preset(fieldData):
		case kind == dataBundled:
			s.choice.Set["data"] = dataBundled
		case kind == dataGenerated:
			s.choice.Set["cities"] = firstCities
		case kind == dataDump:
			s.choice.Set["data"] = ""
		}
	})
}

func (s *Screen) reset(f id) tea.Cmd {
	return s.change(func() {
		switch f {
		case fieldContenders:
			s.choice.Contenders, s.list.dirty = nil, true
		case fieldStore, fieldElastic:
			s.unset("store", "elastic")
		case fieldData, fieldCities, fieldDump:
			s.unset(dataFlags...)
		default:
			s.unset(forms[f].flag)
		}
	})
}

func (s *Screen) resetAll() tea.Cmd {
	return s.change(func() {
		s.choice.Contenders, s.list.dirty = nil, true
		clear(s.choice.Set)
	})
}

// step changes a choice or a number by one, back or forth.
func (s *Screen) step(f id, by int) tea.Cmd {
	if options := s.options(f); len(options) > 0 {
		at := slices.IndexFunc(options, func(o option) bool { return o.value == s.value(f) })
		if at < 0 {
			at, by = 0, 0
		}
		return s.pick(f, options[(at+by+len(options))%len(options)].value)
	}
	unit := map[id]float64{fieldRounds: 1, fieldCPUs: 0.5, fieldCPUSet: 1}[f]
	v, err := strconv.ParseFloat(s.value(f), 64)
	if err != nil {
		v = 0
	}
	if v += unit * float64(by); unit == 0 || v < unit {
		return nil
	}
	return s.change(func() { s.put(f, number(v)) })
}

func (s *Screen) way(key string) tea.Cmd {
	if len(key) != 1 || key < "1" || key > "9" {
		return nil
	}
	var offers []offer
	for _, p := range s.problems() {
		offers = append(offers, p.offers...)
	}
	if n := int(key[0] - '1'); n < len(offers) {
		return offers[n].take()
	}
	return nil
}

// start begins the run, or says what stands in its way and goes there. What only the machine lacks
// may have come meanwhile: a second time it starts all the same.
func (s *Screen) start() tea.Cmd {
	if !s.loaded && s.baseErr == "" {
		return tell("the profile is still being read", true)
	}
	bad := ""
	for _, p := range s.problems() {
		if !p.bad {
			continue
		}
		if p.input || bad == "" {
			s.focus = p.field
		}
		if p.input {
			return tell(p.text, true)
		}
		bad = cmp.Or(bad, p.text)
	}
	if !s.planned {
		return tell("there is no plan yet", true)
	}
	if bad != "" && s.forced != bad {
		s.forced = bad
		return tell(bad+"; s once more starts all the same", true)
	}
	s.forced = ""
	return s.o.Start(s.choice.Args())
}

// text is an error in one line.
func text(err error) string {
	if err == nil {
		return ""
	}
	return look.Outside(strings.Join(strings.Fields(err.Error()), " "), 500)
}

func (s *Screen) takeProfile() {
	s.loaded, s.base, s.baseErr = false, bench.Profile{}, ""
	clear(s.checked)
	i := slices.IndexFunc(s.profiles, func(p Profile) bool { return p.Name == s.choice.Profile })
	if i < 0 {
		s.baseErr = "there is no profile " + look.Outside(s.choice.Profile, 200)
		return
	}
	s.list.dirty = true
	if p := s.profiles[i]; p.Err != nil {
		s.baseErr = text(p.Err)
	} else {
		s.base, s.loaded = p.Profile, true
	}
}

// replan asks what the command line would make of the choice: first of each field by itself, so
// that a mistake is reported where it was made, then of all that are right together.
func (s *Screen) replan() {
	s.plan, s.planned, s.planErr = bench.Profile{}, false, ""
	clear(s.wrong)
	if !s.loaded {
		return
	}
	right := s.choice
	right.Set = map[string]string{}
	neutral := s.base // a store that is missing must not be held against every other field
	neutral.Store = bench.StoreSpec{Kind: bench.StoreNone}
	for f := range fieldCount {
		flag := forms[f].flag
		v, ok := s.choice.Set[flag]
		byURL := f == fieldStore && bench.StoreKind(v).Traits().ByURL // --elastic implies it, or says that it lacks its URL
		if !ok || byURL || f == fieldElastic && v == "" {
			continue
		}
		if f != fieldDump || v != dataBundled {
			s.wrong[f] = s.check(neutral, flag, v)
		}
		if s.wrong[f] == "" {
			right.Set[flag] = v
		}
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
	s.plan, err = s.o.Plan(base, right.Args())
	s.planErr, s.planned = s.reason(err), err == nil
}

// check says what is wrong with a flag's value by itself. It remembers: only one value changes at a
// key.
func (s *Screen) check(base bench.Profile, flag, value string) string {
	key := flag + "=" + value
	if _, known := s.checked[key]; !known {
		_, err := s.o.Plan(base, Choice{Profile: s.choice.Profile, Set: map[string]string{flag: value}}.Args())
		if len(s.checked) > 1000 {
			clear(s.checked)
		}
		s.checked[key] = s.reason(err)
	}
	return s.checked[key]
}

// reason is err without the name of the profile, which is on the screen anyway.
func (s *Screen) reason(err error) string {
	return strings.TrimPrefix(text(err), "profile "+s.base.Name+": ")
}

func (s *Screen) total() time.Duration {
	return time.Duration(len(s.plan.Contenders)*s.plan.Rounds) * (s.plan.LoadDuration() + event.LegOverhead)
}

// estimate is the size of the run in a line of w cells.
func (s *Screen) estimate(w int) string {
	if !s.planned {
		return units.Missing
	}
	contenders, rounds := len(s.plan.Contenders), s.plan.Rounds
	legs := units.Plural(contenders*rounds, "leg") + " of " + units.Length(s.plan.LoadDuration()) +
		" load; estimated " + units.Approx(s.total()) + " in all"
	long := units.Plural(contenders, "contender") + " × " + units.Plural(rounds, "round") + " = " + legs
	if look.Width(long) <= w {
		return long
	}
	return legs
}
