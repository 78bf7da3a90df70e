package setup

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
)

// form is what was chosen, what is known about the machine, and the plan that follows from both. It
// draws and requests nothing.
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

	last map[string]string // texts of options that are unset, for a return to them

	most int   // connections that can be open at once
	room error // why that is less than the largest step of plan
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
	if f.choice.Set.Given(name) {
		return f.choice.Set.Text(name)
	}
	return profile.ByName(name).Get(f.base)
}

// preset returns the profile's value of a field.
func (f *form) preset(field Field) string {
	return field.Get(&form{base: f.base, choice: Choice{Profile: f.choice.Profile}})
}

func (f *form) changed(field Field) bool {
	return f.loaded && field.Name != fieldStart && field.Get(f) != f.preset(field)
}

func (f *form) changes() (n int) {
	for _, field := range f.shown() {
		if f.changed(field) {
			n++
		}
	}
	return n
}

func (f *form) runtime() bench.Runtime {
	return cmp.Or(bench.Runtime(f.option(fieldRuntime)), bench.RuntimeAuto)
}

// inContainers reports whether contenders are expected to run in containers.
func (f *form) inContainers() bool {
	return f.runtime().Traits().Container || f.runtime().Traits().Auto && f.facts.engineResponds()
}

// has returns the CPUs and the memory of the machine that contenders run on, and its name.
func (f *form) has() (cpus int, memory int64, where string) {
	m := &f.facts.machine
	if f.inContainers() && m.Engine.CPUs > 0 {
		return m.Engine.CPUs, m.Engine.Memory, "the engine's machine"
	}
	return m.CPUs, m.Memory, "this machine"
}

// give sets an option of the command.
func (f *form) give(name, value string) { f.choice.Set[name] = []string{value} }

// put sets the option of a field, or unsets it if the value is the profile's.
func (f *form) put(field Field, value string) {
	if value == "" && !field.Needed || value != "" && value == f.preset(field) {
		f.unset(field.Name)
		return
	}
	f.give(field.Name, value)
}

func (f *form) unset(names ...string) {
	if f.last == nil {
		f.last = map[string]string{}
	}
	for _, name := range names {
		f.last[name] = cmp.Or(f.choice.Set.Text(name), f.last[name])
	}
	maps.DeleteFunc(f.choice.Set, func(name string, _ []string) bool { return slices.Contains(names, name) })
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
