package setup

import (
	"cmp"
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
	fieldStore       = "store"
	fieldElastic     = "elastic"
	fieldData        = "kind of data"
	fieldCities      = "cities"
	fieldDump        = "data"
	fieldStart       = "start" // the button
)

const dataBundled, dataGenerated, dataDump = profile.BundledData, "generated", "dump"

// Field is a line of the form, with all that differs between fields.
type Field struct {
	Name, Group, Label, Help string

	Empty   string   // what no value means; "": none
	Key     []string // options that undoing it unsets
	Get     func(*form) string
	Set     func(*form, string)
	Choices func(*form) []choice // nil: its value is typed
	Note    func(*form) string   // what the value means here
	Hidden  func(*form) bool     // it has no effect now
	Unit    float64              // by which arrows change a number; 0: they do not
}

// choice is one of the values of a field.
type choice struct{ value, help string }

// allFields returns the fields in their order: the options of a run that have a label, and what is
// not an option. special has what they do not have from the table of options.
func allFields() (all []Field) {
	special := specialFields()
	add := func(name, group, label, help string) {
		f := special[name]
		f.Name, f.Group, f.Label, f.Help = name, group, label, help
		if f.Key == nil {
			f.Key = []string{name}
		}
		if f.Get == nil {
			f.Get = func(form *form) string { return form.option(name) }
		}
		if f.Set == nil {
			f.Set = func(form *form, value string) { form.put(name, value) }
		}
		all = append(all, f)
	}
	add(fieldProfile, "what", "Profile", "The benchmark to start from. Change any field below; w saves the result as a new "+
		"profile. A contender is one implementation of your service, in one variant.")
	group := "what"
	for _, o := range profile.Options() {
		switch o.Name {
		case fieldCPUs:
			group = "limits"
		case fieldConnections:
			group = "load"
		case fieldRuntime:
			group = "where"
		case fieldCities:
			add(fieldData, group, "Data", "The data in the store. Check suite locations needs the bundled data and is skipped "+
				"with any other.")
		}
		if o.Label != "" {
			add(o.Name, group, o.Label, o.Help)
		}
	}
	add(fieldStart, "", "Start", "Starts the benchmark and shows it live. The command below does the same.")
	return all
}

func specialFields() map[string]Field {
	ofData := []string{"data", "cities", "vertices", "data-seed"}
	ofStore := []string{"store", "elastic"}
	return map[string]Field{
		fieldProfile: {
			Key: []string{},
			Get: func(f *form) string { return f.choice.Profile }, Set: func(f *form, name string) { f.choice.Profile = name },
			Choices: profileChoices, Note: func(f *form) string { return f.base.Title },
		},
		fieldContenders:  {Get: func(f *form) string { return strings.Join(names(f.selected()), " ") }, Note: readiness},
		fieldRounds:      {Unit: 1, Note: settledRounds},
		fieldCPUs:        {Unit: 0.5, Note: cpusHere},
		fieldCPUSet:      {Unit: 1, Note: cpusHere, Empty: "all"},
		fieldMemory:      {Note: memoryHere},
		fieldConnections: {Note: stepsInAll},
		fieldDuration:    {Note: loadPerTrial},
		fieldInterleave:  {Note: interleaving},
		fieldRuntime:     {Choices: runtimeChoices, Note: engineHere},
		fieldStore: {
			Key: ofStore, Get: func(f *form) string { return string(f.storeKind()) }, Set: (*form).setStore,
			Choices: storeChoices, Note: chosenStore,
		},
		fieldElastic: {
			Key: ofStore, Note: elasticThere,
			Hidden: func(f *form) bool { return !f.storeKind().Traits().ByURL },
		},
		fieldData: {
			Key: ofData, Get: (*form).dataKind, Set: (*form).setData,
			Choices: func(*form) []choice {
				return []choice{
					{dataBundled, "14,945 real cities of five countries"}, {dataGenerated, "generated cities, any number"},
					{dataDump, "your own folder"},
				}
			},
		},
		fieldStart:  {Get: (*form).estimate},
		fieldCities: {Key: ofData, Hidden: func(f *form) bool { return f.dataKind() != dataGenerated }},
		fieldDump:   {Key: ofData, Hidden: func(f *form) bool { return f.dataKind() != dataDump }},
	}
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

func storeChoices(f *form) (all []choice) {
	for _, kind := range bench.StoreKinds() {
		if t := bench.StoreKind(kind).Traits(); !t.None || f.storeKind().Traits().None {
			all = append(all, choice{kind, t.Help})
		}
	}
	return all
}

// The notes of fields say what their values mean here and now; "" for nothing.

func stepsInAll(f *form) string { return units.Plural(len(f.plan.Steps), "step") }

func loadPerTrial(f *form) string { return units.Length(f.plan.LoadDuration()) + " load per trial" }

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

func chosenStore(f *form) string {
	kind := f.storeKind()
	if chosen := (bench.StoreSpec{Kind: kind}).Chosen(); kind != "" && chosen != kind {
		return string(chosen)
	}
	return ""
}

func elasticThere(f *form) string {
	switch e, asked := f.facts.elastic[f.elasticURL()]; {
	case asked && !e.done:
		return "checking"
	case asked && e.err == "":
		return e.Version + ", " + units.Count(e.Cities) + " cities"
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
