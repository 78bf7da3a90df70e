package setup

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
)

// id is a field: the name of an option of a run, or another name for fields of several options.
type id string

const (
	fieldProfile     id = "profile"
	fieldContenders  id = "contenders"
	fieldRounds      id = "rounds"
	fieldCPUs        id = "cpus"
	fieldCPUSet      id = "cpu-set"
	fieldMemory      id = "memory"
	fieldConnections id = "connections"
	fieldDuration    id = "duration"
	fieldInterleave  id = "interleave"
	fieldRuntime     id = "runtime"
	fieldStore       id = "store"
	fieldElastic     id = "elastic"
	fieldData        id = "kind of data"
	fieldCities      id = "cities"
	fieldDump        id = "data"
	fieldStart       id = "start"
)

const dataBundled, dataGenerated, dataDump = profile.BundledData, "generated", "dump"

// allFields returns all fields, in order.
func allFields() []id {
	all := []id{fieldProfile}
	for _, o := range profile.Options() {
		if id(o.Name) == fieldCities {
			all = append(all, fieldData)
		}
		if o.Label != "" {
			all = append(all, id(o.Name))
		}
	}
	return append(all, fieldStart)
}

// about returns the label of a field and a line of help.
func (f id) about() (label, help string) {
	switch f {
	case fieldProfile:
		return "Profile", "The benchmark to start from. Change any field below; w saves the result as a new profile."
	case fieldData:
		return "Data", "The data in the store. Check suite locations needs the bundled data and is skipped with any other."
	case fieldStart:
		return "", "Starts the benchmark and shows it live. The command line below does the same."
	}
	o := profile.ByName(string(f))
	return o.Label, o.Help
}

// shown returns the fields that have an effect now, in order.
func (s *Screen) shown() []id {
	var out []id
	for _, f := range allFields() {
		switch {
		case f == fieldInterleave && len(s.selected()) < 2 && !s.changed(f): // interleaving needs two contenders
		case f == fieldElastic && !s.storeKind().Traits().ByURL:
		case f == fieldCities && s.dataKind() != dataGenerated:
		case f == fieldDump && s.dataKind() != dataDump:
		default:
			out = append(out, f)
		}
	}
	return out
}

// value returns the current text of a field.
func (s *Screen) value(f id) string {
	given := s.choice.Set.Text(string(f))
	switch {
	case f == fieldProfile:
		return s.choice.Profile
	case f == fieldContenders:
		return strings.Join(names(s.selected()), " ")
	case f == fieldStore:
		return string(s.storeKind())
	case f == fieldData:
		return s.dataKind()
	case s.choice.Set.Given(string(f)) && (f != fieldDump || given != dataBundled):
		return given
	}
	return s.preset(f)
}

// preset returns the profile's value of a field.
func (s *Screen) preset(f id) string {
	if f == fieldData {
		return dataKind(s.base.Data)
	}
	return profile.ByName(string(f)).Get(s.base)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (s *Screen) changed(f id) bool {
	set := s.choice.Set.Given
	switch f {
	case fieldContenders:
		return s.choice.Contenders != nil
	case fieldStore:
		return set("store") || set("elastic") && !bench.StoreKind(s.preset(fieldStore)).Traits().ByURL
	case fieldData:
		return set("data") || set("cities")
	}
	return set(string(f))
}

func (s *Screen) changes() (n int) {
	for _, f := range allFields() {
		if f != fieldDump && f != fieldCities && s.changed(f) {
			n++
		}
	}
	return n
}

// storeKind returns the kind of the store; with a URL it is an external one.
func (s *Screen) storeKind() bench.StoreKind {
	if url := s.choice.Set.Text("elastic"); url != "" || s.choice.Set.Given("store") {
		return storeKind(bench.StoreSpec{Kind: bench.StoreKind(s.choice.Set.Text("store")), URL: url})
	}
	return storeKind(s.base.Store)
}

func storeKind(spec bench.StoreSpec) bench.StoreKind {
	if spec.URL != "" {
		return spec.Chosen()
	}
	return spec.Kind
}

func (s *Screen) elasticURL() string {
	if !s.storeKind().Traits().ByURL {
		return ""
	}
	return s.value(fieldElastic)
}

func (s *Screen) runtime() bench.Runtime {
	return cmp.Or(bench.Runtime(s.value(fieldRuntime)), bench.RuntimeAuto)
}

// inContainers reports whether contenders are expected to run in containers.
func (s *Screen) inContainers() bool {
	return s.runtime().Traits().Container || s.runtime().Traits().Auto && s.engineResponds()
}

func (s *Screen) dataKind() string {
	switch {
	case s.choice.Set.Given("cities"):
		return dataGenerated
	case s.choice.Set.Text("data") == dataBundled:
		return dataBundled
	case s.choice.Set.Given("data"):
		return dataDump
	}
	return dataKind(s.base.Data)
}

func dataKind(d bench.DataSpec) string {
	switch {
	case d.Dir != "":
		return dataDump
	case d.Cities > 0:
		return dataGenerated
	}
	return dataBundled
}

func (s *Screen) selected() []bench.Selection {
	if s.choice.Contenders != nil {
		return s.choice.Contenders
	}
	return s.base.Contenders
}

type option struct {
	value, help string
	faulty      bool
}

// options returns the options of a field; nil for fields without a list.
func (s *Screen) options(f id) (out []option) {
	switch f {
	case fieldProfile:
		for _, p := range s.profiles {
			out = append(out, option{p.Name, cmp.Or(text(p.Err), p.Title), p.Err != nil})
		}
	case fieldRuntime:
		for _, r := range bench.Runtimes() {
			out = append(out, option{value: r, help: bench.Runtime(r).Traits().Help})
		}
	case fieldStore:
		for _, kind := range bench.StoreKinds() {
			if t := bench.StoreKind(kind).Traits(); !t.None || s.storeKind().Traits().None {
				out = append(out, option{value: kind, help: t.Help})
			}
		}
	case fieldData:
		return []option{
			{value: dataBundled, help: "14,945 real cities of five countries"},
			{value: dataGenerated, help: "generated cities, any number"},
			{value: dataDump, help: "your own folder"},
		}
	}
	return out
}
