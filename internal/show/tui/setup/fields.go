package setup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Names of fields: that of the option of a run, or another one of a field that is not one option.
const (
	fieldProfile     = "profile"
	fieldContenders  = "contenders"
	fieldRounds      = "rounds"
	fieldCPUs        = "cpus"
	fieldCPUSet      = "cpu-set"
	fieldMemory      = "memory"
	fieldConnections = "connections"
	fieldDuration    = "duration"
	fieldInterleave  = "interleave"
	fieldRuntime     = "runtime"
	fieldNeeds       = "needs" // those that have no fields
	fieldStart       = "start" // the button
)

// Field is a line of the form, with all that differs between fields.
type Field struct {
	Name, Group, Label, Help string

	Empty   string   // what no value means; "": none
	Key     []string // options that undoing it unsets
	Needed  bool     // without the option, the run would be different: it is also given without a value
	Get     func(*form) string
	Set     func(*form, string)
	Choices func(*form) []choice // nil: its value is typed
	Note    func(*form) string   // what the value means here
	Hidden  func(*form) bool     // it has no effect now
	Secret  bool                 // its value may hold a password, which is not shown
	Unit    float64              // by which arrows change a number; 0: they do not
}

// choice is one of the values of a field.
type choice struct{ value, help string }

// allFields returns the fields in their order. What one does not say is as the table of options has
// it.
func allFields() []Field {
	all := slices.Concat([]Field{
		{
			Name: fieldProfile, Group: "what", Label: "Profile", Help: "The benchmark to start from. Change any field " +
				"below. A contender is one implementation of your service, in one variant.",
			Get: func(f *form) string { return f.choice.Profile }, Set: func(f *form, name string) { f.choice.Profile = name },
			Choices: profileChoices, Note: func(f *form) string { return f.base.Title },
		},
		{
			Name: fieldContenders, Group: "what", Note: readiness,
			Get: func(f *form) string { return strings.Join(names(f.selected()), " ") },
		},
		{Name: fieldRounds, Group: "what", Unit: 1, Note: settledRounds},
		{Name: fieldCPUs, Group: "limits", Unit: 0.5, Note: cpusHere},
		{Name: fieldCPUSet, Group: "limits", Unit: 1, Note: cpusHere, Empty: "all"},
		{Name: fieldMemory, Group: "limits", Note: memoryHere},
		{
			Name: fieldConnections, Group: "load",
			Note: func(f *form) string { return units.Plural(len(f.plan.Steps), "step") },
		},
		{
			Name: fieldDuration, Group: "load",
			Note: func(f *form) string { return units.Length(f.plan.LoadDuration()) + " load per trial" },
		},
		{Name: fieldInterleave, Group: "load", Note: interleaving},
		{Name: fieldRuntime, Group: "where", Choices: runtimeChoices, Note: engineHere},
		{
			Name: fieldNeeds, Group: "where", Label: "Needs", Get: needsHere, Set: func(*form, string) {}, Note: restored,
			Help:    "What the contenders need, of the profile and of their manifests. Change it in these files.",
			Choices: func(*form) []choice { return nil }, Hidden: func(f *form) bool { return needsHere(f) == "" },
		},
	}, storeFields(), []Field{{
		Name: fieldStart, Label: "Start", Get: (*form).estimate,
		Help: "Starts the benchmark and shows it live. The command below does the same.",
	}})
	for i := range all {
		f, o := &all[i], profile.ByName(all[i].Name)
		f.Label, f.Help = cmp.Or(f.Label, o.Label), cmp.Or(f.Help, o.Help)
		if f.Key == nil {
			f.Key = []string{f.Name}
		}
		if f.Get == nil {
			f.Get = func(form *form) string { return form.option(o.Name) }
		}
		if f.Set == nil {
			f.Set = func(form *form, value string) { form.put(*f, value) }
		}
	}
	return all
}

func profileChoices(f *form) (all []choice) {
	for _, p := range f.profiles {
		help := p.Title
		if p.Err != nil {
			help = "unreadable: " + text(p.Err)
		}
		all = append(all, choice{p.Name, help})
	}
	return all
}

func runtimeChoices(*form) (all []choice) {
	for _, r := range bench.Runtimes() {
		all = append(all, choice{r, bench.Runtime(r).Traits().Help})
	}
	return all
}

// The notes of fields say what their values mean here and now; "" for nothing.

func settledRounds(f *form) string {
	if f.option(fieldRounds) == "" {
		return units.Plural(f.plan.Rounds, "round")
	}
	return ""
}

func cpusHere(f *form) string {
	if cpus, _, _ := f.has(); cpus > 0 {
		return strconv.Itoa(cpus) + " here"
	}
	return ""
}

func memoryHere(f *form) string {
	if _, memory, _ := f.has(); memory > 0 {
		return units.Bytes(memory) + " here"
	}
	return ""
}

func interleaving(f *form) string {
	switch n := len(f.plan.Contenders); {
	case n < 2:
		return "needs 2 contenders"
	case f.plan.Interleave > 0:
		return units.Plural(n, "contender") + " at the same time"
	case f.notInterleaved != nil && f.notInterleaved.Reason != bench.PlainChosen:
		return "one after the other: " + f.notInterleaved.Text
	}
	return ""
}

func engineHere(f *form) string {
	switch engine := f.facts.machine.Engine; {
	case !f.facts.machineRead:
		return "looking for Docker"
	case f.runtime().Traits().OnHost:
		return ""
	case engine.Err == nil:
		return "Docker " + engine.Version
	case f.runtime().Traits().Auto:
		return "no Docker: processes"
	}
	return ""
}

// readiness says what the contenders need before they can run.
func readiness(f *form) string {
	if f.facts.states == nil {
		return cmp.Or(f.facts.unreadable, "looking for builds")
	}
	out := units.Plural(len(f.selected()), "contender")
	if more := f.builds(); more != "" {
		return out + ", " + more
	}
	return out + ", ready"
}

// outside makes short text from outside safe to show.
func outside(s string) string { return ui.Outside(s, 300) }
