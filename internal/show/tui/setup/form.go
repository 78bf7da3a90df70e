package setup

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Choice is a setup, in the terms of the command line.
type Choice struct {
	Profile    string            // name or file; "": the default one
	Contenders []bench.Selection // nil: the profile's
	Set        profile.Changes   // options that change the profile
	Extra      []string          // other options of locbench run, unchanged
}

func (c Choice) clone() Choice {
	c.Contenders, c.Extra = slices.Clone(c.Contenders), slices.Clone(c.Extra)
	if c.Set = maps.Clone(c.Set); c.Set == nil {
		c.Set = profile.Changes{}
	}
	return c
}

// Changes returns all changes to the profile.
func (c Choice) Changes() profile.Changes { return c.Set.With("contenders", names(c.Contenders)...) }

// Args returns the equivalent arguments of "locbench run".
func (c Choice) Args() []string {
	args := names(c.Contenders)
	if c.Profile != "" || !c.Set.Given(fieldTarget) { // else the target has the request
		args = append([]string{"--profile", c.profile()}, args...)
	}
	for _, o := range profile.Options() {
		for _, text := range c.Set[o.Name] {
			if o.Type == "bool" {
				args = append(args, "--"+o.Name+"="+text)
			} else {
				args = append(args, "--"+o.Name, text)
			}
		}
	}
	return append(args, c.Extra...)
}

func (c Choice) profile() string { return cmp.Or(c.Profile, "quick") }

func names(list []bench.Selection) (all []string) {
	for _, sel := range list {
		all = append(all, sel.String())
	}
	return all
}

// Command returns the command line, for a shell.
func (c Choice) Command() string { return commandLine(c.Args()) }

func (c Choice) shown() string { return commandLine(secret.Masker{}.Args(c.Args())) }

func commandLine(args []string) string {
	return safe.Shell(append([]string{"locbench", "run"}, args...))
}

// Names of fields: that of the option of a run, if it is one.
const (
	fieldProfile    = "profile"
	fieldContenders = "contenders"
	fieldTarget     = "target"
	fieldDuration   = "duration"
	fieldStart      = "start" // the button
)

// field is a line of the form.
type field struct {
	name, group, label, help string
	values                   []string // that it has; nil: its value is typed
	need                     string   // the kind of need that it is of; a profile without one hides it
}

// allFields returns the fields: the profile, the options with a label, and the button.
func allFields() []field {
	all := []field{{
		name: fieldProfile, group: "what", label: "Profile", help: "The benchmark to start from. Change any field below. " +
			"A contender is one implementation of your service, in one variant.",
	}}
	groups := map[string]string{
		"cpus": "limits", "cpu-set": "limits", "memory": "limits", "connections": "load", fieldDuration: "load", "interleave": "load",
		"runtime": "where",
	}
	for _, o := range profile.Options() {
		group := cmp.Or(groups[o.Name], "what")
		if o.Need != "" {
			group = "where"
		}
		if o.Folder {
			o.Values = nil // examples
		}
		at := len(all)
		if o.Name == fieldTarget {
			at = 2 // below the contenders
		}
		if o.Label != "" {
			all = slices.Insert(all, at, field{o.Name, group, o.Label, o.Help, o.Values, o.Need})
		}
	}
	return append(all, field{name: fieldStart, label: "Start",
		help: "Starts the benchmark and shows it live. The command below does the same."})
}

// form is what was chosen, and the plan that follows from it. It draws and requests nothing.
type form struct {
	fields     []field
	choice     Choice
	profiles   []Profile // nil until they are read
	services   []bench.Service
	unreadable string        // errors about contenders
	base       bench.Profile // the chosen profile
	loaded     bool          // base is set
	plan       bench.Profile
	err        error // why there is no plan
}

// shown returns the fields of the chosen profile; with a target those of the load.
func (f *form) shown() []field {
	return slices.DeleteFunc(slices.Clone(f.fields), func(at field) bool {
		return at.need != "" && !slices.ContainsFunc(f.base.Needs, func(n bench.NeedSpec) bool { return n.Kind == at.need }) ||
			f.choice.Set.Given(fieldTarget) && at.ofContenders()
	})
}

// ofContenders reports whether the field is about what locbench starts.
func (at field) ofContenders() bool {
	return at.name == fieldContenders || at.group == "limits" || at.group == "where"
}

func (f *form) field(name string) field {
	return f.fields[slices.IndexFunc(f.fields, func(at field) bool { return at.name == name })]
}

// selected returns the contenders, those in their default variant without its name, as in tables and
// charts.
func (f *form) selected() (all []bench.Selection) {
	all = f.base.Contenders
	if f.choice.Contenders != nil {
		all = f.choice.Contenders
	}
	all = slices.Clone(all)
	for i, sel := range all {
		svc, err := contender.Find(f.services, sel.Contender)
		if err == nil && len(svc.Variants) > 0 && sel.Variant == svc.Variants[0].Name {
			all[i].Variant = ""
		}
	}
	return all
}

// value returns that of a field: the given one, or the profile's.
func (f *form) value(at field) string {
	switch {
	case at.name == fieldProfile:
		return f.choice.profile()
	case at.name == fieldContenders:
		return strings.Join(names(f.selected()), " ")
	case at.name == fieldTarget:
		return strings.Join(f.choice.Set[fieldTarget], " ")
	case f.choice.Set.Given(at.name):
		return f.choice.Set.Text(at.name)
	}
	return f.preset(at)
}

// preset returns the profile's value of an option.
func (f *form) preset(at field) string { return profile.ByName(at.name).Get(f.base) }

func (f *form) changed(at field) bool {
	return f.choice.Set.Given(at.name) || at.name == fieldContenders && f.choice.Contenders != nil
}

// choices returns the values that a field can have; nil: it is typed.
func (f *form) choices(at field) (all []string) {
	if at.name != fieldProfile {
		for _, value := range at.values {
			name, _, _ := strings.Cut(value, "\t")
			all = append(all, name)
		}
		return all
	}
	for _, p := range f.profiles {
		all = append(all, p.Name)
	}
	return all
}

// words says what a choice of a field is.
func (f *form) words(at field, i int) string {
	switch {
	case at.name != fieldProfile:
		name, words, _ := strings.Cut(at.values[i], "\t")
		return cmp.Or(words, bench.Runtime(name).Traits().Help)
	case f.profiles[i].Err != nil:
		return ui.Outside("unreadable: "+text(f.profiles[i].Err), 200)
	}
	return ui.Outside(f.profiles[i].Title, 200)
}

// set sets the value of a field; the profile's own is not an option of the command.
func (f *form) set(at field, value string) {
	switch {
	case at.name == fieldProfile:
		f.choice.Profile = value
	case value == "" || value == f.preset(at):
		delete(f.choice.Set, at.name)
	case at.name == fieldTarget:
		f.reset(slices.DeleteFunc(slices.Clone(f.fields), func(at field) bool { return !at.ofContenders() })...)
		f.choice.Set[fieldTarget] = strings.Fields(value)
	default:
		f.choice.Set[at.name] = []string{value}
	}
}

// step changes a field to the next of its choices.
func (f *form) step(at field, by int) {
	if all := f.choices(at); len(all) > 0 {
		i := slices.Index(all, f.value(at))
		f.set(at, all[(max(i, 0)+by+len(all))%len(all)])
	}
}

// reset gives fields the profile's value.
func (f *form) reset(fields ...field) {
	for _, at := range fields {
		delete(f.choice.Set, at.name)
		if at.name == fieldContenders {
			f.choice.Contenders = nil
		}
	}
}

// row is a contender in one variant.
type row struct {
	sel   bench.Selection
	about string // language, framework and tags
}

// contenders returns all that can be chosen: those selected in their order, then the others.
func (f *form) contenders() (all []row) {
	for _, sel := range f.selected() {
		all = append(all, row{sel, ""})
	}
	for _, svc := range f.services {
		for i, resolved := range contender.Resolved(svc) {
			sel := bench.Selection{Contender: svc.Name, Variant: resolved.Variant}
			if i == 0 {
				sel.Variant = ""
			}
			at := slices.IndexFunc(all, func(r row) bool { return r.sel == sel })
			if at < 0 {
				at = len(all)
				all = append(all, row{sel: sel})
			}
			all[at].about = about(resolved)
		}
	}
	return all
}

// choose selects contenders; the profile's own are not a change.
func (f *form) choose(all []bench.Selection) {
	f.choice.Contenders = nil
	if !slices.Equal(all, f.selected()) {
		f.choice.Contenders = all
	}
}

// about returns language, framework and tags of a contender.
func about(svc bench.Service) string {
	parts := []string{
		ui.Outside(svc.Language, 40), ui.Outside(strings.TrimSpace(svc.Framework+" "+svc.Version), 60),
		ui.Outside(strings.Join(svc.Tags, " "), 60),
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}

// replan takes the chosen profile and makes the plan as the command line would.
func (f *form) replan() {
	f.base, f.plan, f.loaded, f.err = bench.Profile{}, bench.Profile{}, false, nil
	i := slices.IndexFunc(f.profiles, func(p Profile) bool { return p.Name == f.choice.profile() })
	if i < 0 || f.profiles[i].Err != nil {
		if i >= 0 {
			f.err = f.profiles[i].Err
		}
		return
	}
	f.base, f.loaded = f.profiles[i].Profile, true
	if f.plan, f.err = profile.Change(f.base, f.choice.Changes(), nil); f.err == nil {
		if targets := f.choice.Set[fieldTarget]; targets != nil {
			f.plan.Contenders, f.plan.Runtime, f.plan.Limits = make([]bench.Selection, len(targets)), bench.RuntimeURL, bench.Limits{}
		}
		f.plan, _ = profile.Settle(f.plan, 0)
	}
}

// mistake says why there is no plan, and at which field; "" if there is one.
func (f *form) mistake() (field, mistake string) {
	mistake = reason(f.err)
	if f.err != nil && !f.loaded {
		return fieldProfile, mistake
	}
	for _, at := range f.shown() {
		if strings.HasPrefix(mistake, "--"+at.name+" ") {
			return at.name, mistake
		}
	}
	return fieldStart, mistake
}

// extent says how much will run.
func (f *form) extent() string {
	out := units.Plural(len(f.plan.Contenders), "contender")
	if f.plan.Rounds > 1 {
		out += " × " + units.Plural(f.plan.Rounds, "round")
	}
	return out + ", " + units.Plural(len(f.plan.Steps), "step") + ", " + f.took()
}

// took is the assumed time of the run, without builds.
func (f *form) took() string { return "~" + units.Approx(event.Before(f.plan)+event.Total(f.plan)) }

// reason returns the mistakes that err joins, without the name of the profile.
func reason(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		err = errors.Join(joined.Unwrap()...)
	}
	return text(err)
}

// text returns an error in one line, safe to show.
func text(err error) string {
	if err == nil {
		return ""
	}
	return ui.Outside(strings.Join(strings.Fields(err.Error()), " "), 300)
}
