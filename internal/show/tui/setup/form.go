package setup

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/profile"
)

// form is what was chosen, what is known about the machine, and the plan that follows from both. It
// draws nothing and asks nobody.
type form struct {
	fields   []Field
	choice   Choice
	profiles []Profile
	base     bench.Profile // the chosen profile
	loaded   bool          // base is set
	baseErr  string        // why base is not set
	facts    facts

	plan bench.Profile
	// why the contenders of plan are not interleaved; nil: they are
	notInterleaved *bench.Plain
	planned        bool
	planErr        string            // mistake in the whole plan
	wrong          map[string]string // mistakes by field

	url string // the last URL of a store, kept for a return to an external one
}

// shown returns the fields that have an effect now.
func (f *form) shown() (all []Field) {
	for _, field := range f.fields {
		if field.Hidden == nil || !field.Hidden(f) {
			all = append(all, field)
		}
	}
	return all
}

func (f *form) field(name string) Field {
	return f.fields[slices.IndexFunc(f.fields, func(field Field) bool { return field.Name == name })]
}

// option returns the value of an option: the given one, or the profile's.
func (f *form) option(name string) string {
	if f.choice.Set.Given(name) || name == fieldStart {
		return f.choice.Set.Text(name)
	}
	return profile.ByName(name).Get(f.base)
}

// preset returns the profile's value of a field.
func (f *form) preset(field Field) string {
	return field.Get(&form{base: f.base, choice: Choice{Profile: f.choice.Profile}})
}

func (f *form) changed(field Field) bool { return f.loaded && field.Get(f) != f.preset(field) }

func (f *form) changes() (n int) {
	for _, field := range f.shown() {
		if f.changed(field) {
			n++
		}
	}
	return n
}

// storeKind returns the kind of the store; with a URL it is an external one.
func (f *form) storeKind() bench.StoreKind {
	spec := f.base.Store
	if url := f.choice.Set.Text("elastic"); url != "" || f.choice.Set.Given("store") {
		spec = bench.StoreSpec{Kind: bench.StoreKind(f.choice.Set.Text("store")), URL: url}
	}
	if spec.URL != "" {
		return spec.Chosen()
	}
	return spec.Kind
}

func (f *form) elasticURL() string {
	if !f.storeKind().Traits().ByURL {
		return ""
	}
	return f.option(fieldElastic)
}

func (f *form) runtime() bench.Runtime {
	return cmp.Or(bench.Runtime(f.option(fieldRuntime)), bench.RuntimeAuto)
}

// inContainers reports whether contenders are expected to run in containers.
func (f *form) inContainers() bool {
	return f.runtime().Traits().Container || f.runtime().Traits().Auto && f.engineResponds()
}

// engineResponds reports whether a Docker engine has responded.
func (f *form) engineResponds() bool { return f.facts.machineRead && f.facts.machine.Engine.Err == nil }

// has returns the CPUs and the memory of the machine that contenders run on, and its name.
func (f *form) has() (cpus int, memory int64, where string) {
	m := &f.facts.machine
	if f.inContainers() && m.Engine.CPUs > 0 {
		return m.Engine.CPUs, m.Engine.Memory, "the engine's machine"
	}
	return m.CPUs, m.Memory, "this machine"
}

func (f *form) dataKind() string {
	set, d := f.choice.Set, f.base.Data
	switch {
	case set.Given("cities"):
		return dataGenerated
	case set.Given("data") && set.Text("data") == dataBundled:
		return dataBundled
	case set.Given("data"):
		return dataDump
	case d.Dir != "":
		return dataDump
	case d.Cities > 0:
		return dataGenerated
	}
	return dataBundled
}

// give sets an option of the command.
func (f *form) give(name, value string) { f.choice.Set[name] = []string{value} }

// put sets the option of a field, or unsets it if the value is the profile's.
func (f *form) put(name, value string) {
	needed := name == fieldDump || name == fieldCities // without the option, the data would be different
	if value == profile.ByName(name).Get(f.base) && (value != "" || !needed) || value == "" && !needed {
		f.unset(name)
		return
	}
	f.give(name, value)
}

func (f *form) unset(names ...string) {
	maps.DeleteFunc(f.choice.Set, func(name string, _ []string) bool { return slices.Contains(names, name) })
}

const noElastic = "needs an Elasticsearch 7 URL"

// setStore sets the kind of the store and keeps the URL of an external one for a return to it.
func (f *form) setStore(kind string) {
	f.url = cmp.Or(f.choice.Set.Text("elastic"), f.url)
	f.unset("store", "elastic")
	if kind != string(f.storeKind()) {
		f.give("store", kind)
	}
	if bench.StoreKind(kind).Traits().ByURL && f.url != "" && f.base.Store.URL == "" {
		f.give("elastic", f.url)
	}
}

// setElastic sets the URL; without one the store is still an external one.
func (f *form) setElastic(url string) {
	kind := f.storeKind()
	if f.put(fieldElastic, url); f.storeKind() != kind {
		f.give("store", string(kind))
	}
}

// firstCities is the number of generated cities until the user changes it.
const firstCities = "10000"

func (f *form) setData(kind string) {
	f.reset(f.field(fieldData))
	switch {
	case kind == f.dataKind():
	case kind == dataBundled:
		f.give("data", dataBundled)
	case kind == dataGenerated:
		f.give("cities", firstCities)
	case kind == dataDump:
		f.give("data", "")
	}
}

// reset gives fields the profile's value.
func (f *form) reset(fields ...Field) {
	for _, field := range fields {
		f.unset(field.Key...)
		if field.Name == fieldContenders {
			f.choice.Contenders = nil
		}
	}
}

// step changes a field to the next of its choices, or by its unit; false: arrows do not change it.
func (f *form) step(field Field, by int) bool {
	now := field.Get(f)
	if field.Choices != nil {
		all := field.Choices(f)
		if len(all) == 0 {
			return false
		}
		at := slices.IndexFunc(all, func(c choice) bool { return c.value == now })
		if at < 0 {
			at, by = 0, 0
		}
		field.Set(f, all[(at+by+len(all))%len(all)].value)
		return true
	}
	v, _ := strconv.ParseFloat(now, 64) // 0 if it is not a number
	if v += field.Unit * float64(by); field.Unit == 0 || v < field.Unit {
		return false
	}
	field.Set(f, strconv.FormatFloat(v, 'f', -1, 64))
	return true
}

// takeProfile takes the chosen profile out of those that were read.
func (f *form) takeProfile() {
	f.loaded, f.base, f.baseErr = false, bench.Profile{}, ""
	i := slices.IndexFunc(f.profiles, func(p Profile) bool { return p.Name == f.choice.Profile })
	switch {
	case i < 0:
		f.baseErr = "profile not found: " + outside(f.choice.Profile)
	case f.profiles[i].Err != nil:
		f.baseErr = text(f.profiles[i].Err)
	default:
		f.base, f.loaded = f.profiles[i].Profile, true
	}
}

// replan makes the plan as the command line would. It checks each field by itself first, to report
// mistakes at their field, and then plans with all correct ones.
func (f *form) replan() {
	f.plan, f.planned, f.planErr, f.wrong = bench.Profile{}, false, "", map[string]string{}
	if !f.loaded {
		return
	}
	right := maps.Clone(f.choice.Changes())
	neutral := f.base // a missing store must not be reported at every other field
	neutral.Store = bench.StoreSpec{Kind: bench.StoreNone}
	for _, field := range f.fields {
		name, v := field.Name, f.choice.Set.Text(field.Name)
		switch {
		case !f.choice.Set.Given(name):
			continue
		case name == fieldStore && bench.StoreKind(v).Traits().ByURL, name == fieldElastic && v == "":
			delete(right, name) // --elastic implies the store, or reports its missing URL
			continue
		}
		if _, err := profile.Change(neutral, profile.Changes{name: {v}}, nil); err != nil {
			f.wrong[name] = reason(err)
			delete(right, name)
		}
	}
	if !right.Given("cities") {
		delete(right, "vertices")
		delete(right, "data-seed")
	}
	base := f.base
	if f.storeKind().Traits().ByURL && !right.Given("elastic") && base.Store.URL == "" {
		base.Store = bench.StoreSpec{Kind: bench.StoreNone} // for the estimate only: the problem is reported
	}
	var err error
	f.plan, err = profile.Change(base, right, nil)
	if err == nil {
		f.plan, f.notInterleaved = profile.Settle(f.plan, f.available())
	}
	f.planErr, f.planned = reason(err), err == nil
}

// available returns the memory that contenders may use, in bytes; 0 if unknown, such as that of
// another machine's engine, or before the machine was read.
func (f *form) available() int64 {
	if f.inContainers() && f.engineResponds() && !f.facts.machine.Engine.Local {
		return 0
	}
	return f.facts.machine.Available
}

// total returns the assumed time of the run, without builds.
func (f *form) total() time.Duration {
	p := f.plan
	if p.Runtime.Traits().Auto && f.facts.machineRead && !f.inContainers() {
		p.Runtime = bench.RuntimeProcess
	}
	return event.Total(p)
}

// reason returns the mistakes that err joins, without the name of the profile.
func reason(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		err = errors.Join(joined.Unwrap()...)
	}
	return text(err)
}

// text returns an error in one line.
func text(err error) string {
	if err == nil {
		return ""
	}
	return outside(strings.Join(strings.Fields(err.Error()), " "))
}
