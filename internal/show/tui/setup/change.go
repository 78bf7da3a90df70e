package setup

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/profile"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// change calls f, plans again, and requests the facts that depend on the change.
func (s *Screen) change(f func()) tea.Cmd {
	runtime, before := s.runtime(), s.choice.Profile
	f()
	if s.choice.Profile != before {
		s.takeProfile()
	}
	s.confirmed = ""
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

// pick sets a field to one of its options.
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

// give sets an option of the command.
func (s *Screen) give(name, value string) { s.choice.Set[name] = []string{value} }

// put sets the option of a field, or unsets it if the value is the profile's.
func (s *Screen) put(f id, value string) {
	needed := f == fieldDump || f == fieldCities // without the option, the data would be different
	if value == s.preset(f) && (value != "" || !needed) || value == "" && !needed {
		delete(s.choice.Set, string(f))
		return
	}
	s.give(string(f), value)
}

const noElastic = "needs an Elasticsearch 7 URL"

// setStore sets the kind of the store and keeps the URL of an external one for a return to it.
func (s *Screen) setStore(kind string) tea.Cmd {
	return s.change(func() {
		if url := s.choice.Set.Text("elastic"); url != "" {
			s.url = url
		}
		s.unset("store", "elastic")
		if kind != s.preset(fieldStore) {
			s.give("store", kind)
		}
		if bench.StoreKind(kind).Traits().ByURL && s.url != "" && s.base.Store.URL == "" {
			s.give("elastic", s.url)
		}
	})
}

var dataFlags = []string{"data", "cities", "vertices", "data-seed"}

func (s *Screen) unset(flags ...string) {
	maps.DeleteFunc(s.choice.Set, func(flag string, _ []string) bool { return slices.Contains(flags, flag) })
}

// firstCities is the number of generated cities until the user changes it.
const firstCities = "10000"

func (s *Screen) setData(kind string) tea.Cmd {
	return s.change(func() {
		s.unset(dataFlags...)
		switch {
		case kind == s.preset(fieldData):
		case kind == dataBundled:
			s.give("data", dataBundled)
		case kind == dataGenerated:
			s.give("cities", firstCities)
		case kind == dataDump:
			s.give("data", "")
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
			s.unset(string(f))
		}
	})
}

func (s *Screen) resetAll() tea.Cmd {
	return s.change(func() {
		s.choice.Contenders, s.list.dirty = nil, true
		s.unset(dataFlags...)
		for _, f := range allFields() {
			s.unset(string(f))
		}
	})
}

// step moves a choice or a number by one.
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

func (s *Screen) applyFix(key string) tea.Cmd {
	if len(key) != 1 || key < "1" || key > "9" {
		return nil
	}
	var fixes []fix
	for _, p := range s.problems() {
		fixes = append(fixes, p.fixes...)
	}
	if n := int(key[0] - '1'); n < len(fixes) {
		return fixes[n].apply()
	}
	return nil
}

// start starts the run, or shows the worst problem and focuses its field. A problem of the machine
// may be solved by now: a second start ignores it.
func (s *Screen) start() tea.Cmd {
	if !s.loaded && s.baseErr == "" {
		return say("still reading the profile", true)
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
			return say(p.text, true)
		}
		bad = cmp.Or(bad, p.text)
	}
	if !s.planned {
		return say("no plan yet", true)
	}
	if bad != "" && s.confirmed != bad {
		s.confirmed = bad
		return say(bad+"; s again starts anyway", true)
	}
	s.confirmed = ""
	return s.o.Start(s.choice.Args())
}

// text returns an error in one line.
func text(err error) string {
	if err == nil {
		return ""
	}
	return ui.Outside(strings.Join(strings.Fields(err.Error()), " "), 500)
}

func (s *Screen) takeProfile() {
	s.loaded, s.base, s.baseErr = false, bench.Profile{}, ""
	i := slices.IndexFunc(s.profiles, func(p Profile) bool { return p.Name == s.choice.Profile })
	if i < 0 {
		s.baseErr = "profile not found: " + ui.Outside(s.choice.Profile, 200)
		return
	}
	s.list.dirty = true
	if p := s.profiles[i]; p.Err != nil {
		s.baseErr = text(p.Err)
	} else {
		s.base, s.loaded = p.Profile, true
	}
}

// replan makes the plan as the command line would. It checks each field by itself first, to report
// mistakes at their field, and then plans with all correct ones.
func (s *Screen) replan() {
	s.plan, s.planned, s.planErr = bench.Profile{}, false, ""
	clear(s.wrong)
	if !s.loaded {
		return
	}
	right := maps.Clone(s.choice.Changes())
	neutral := s.base // a missing store must not be reported at every other field
	neutral.Store = bench.StoreSpec{Kind: bench.StoreNone}
	for _, f := range allFields() {
		name := string(f)
		v := s.choice.Set.Text(name)
		switch {
		case !s.choice.Set.Given(name):
			continue
		case f == fieldStore && bench.StoreKind(v).Traits().ByURL, f == fieldElastic && v == "":
			delete(right, name) // --elastic implies the store, or reports its missing URL
			continue
		}
		_, err := profile.Change(neutral, profile.Changes{name: {v}}, nil)
		if s.wrong[f] = reason(err); err != nil {
			delete(right, name)
		}
	}
	if !right.Given("cities") {
		delete(right, "vertices")
		delete(right, "data-seed")
	}
	base := s.base
	if s.storeKind().Traits().ByURL && !right.Given("elastic") && base.Store.URL == "" {
		base.Store = bench.StoreSpec{Kind: bench.StoreNone} // for the estimate only: the problem is reported
		if s.wrong[fieldElastic] == "" {
			s.wrong[fieldElastic] = noElastic
		}
	}
	var err error
	s.plan, err = profile.Change(base, right, nil)
	if err == nil {
		s.plan, s.notInterleaved = profile.Settle(s.plan, s.available())
	}
	s.planErr, s.planned = reason(err), err == nil
}

// available returns the memory that contenders may use, in bytes; 0 if unknown, such as that of
// another machine's engine, or before the machine was read.
func (s *Screen) available() int64 {
	if s.inContainers() && s.engineResponds() && !s.facts.machine.Engine.Local {
		return 0
	}
	return s.facts.machine.Available
}

// reason returns the mistakes that err joins, without the name of the profile.
func reason(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		err = errors.Join(joined.Unwrap()...)
	}
	return text(err)
}

func (s *Screen) total() time.Duration {
	p := s.plan
	if p.Runtime.Traits().Auto && s.facts.machineOK && !s.inContainers() {
		p.Runtime = bench.RuntimeProcess
	}
	return event.Total(p)
}

// estimate returns the size of the run in a line of w cells.
func (s *Screen) estimate(w int) string {
	if !s.planned {
		return units.Missing
	}
	contenders, rounds := len(s.plan.Contenders), s.plan.Rounds
	trials := units.Plural(contenders*rounds, "trial") + " of " + units.Length(s.plan.LoadDuration()) +
		" load; estimated " + units.Approx(s.total()) + " total"
	long := units.Plural(contenders, "contender") + " × " + units.Plural(rounds, "round") + " = " + trials
	if ui.Width(long) <= w {
		return long
	}
	return trials
}
