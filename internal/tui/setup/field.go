package setup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
	"locbench/internal/units"
)

type id int

const (
	fieldProfile id = iota
	fieldContenders
	fieldRounds
	fieldCPUs
	fieldCPUSet
	fieldMemory
	fieldConnections
	fieldDuration
	fieldTurns
	fieldRuntime
	fieldStore
	fieldElastic
	fieldData
	fieldCities
	fieldDump
	fieldStart
	fieldCount
)

const dataBundled, dataGenerated, dataDump = "bundled", "generated", "dump"

// forms are what the fields are: a label, the flag behind a text, and a line of help.
var forms = [fieldCount]struct{ label, flag, help string }{
	fieldProfile:     {"Profile", "", "The benchmark to begin with. Everything below is as it says until it is changed; w saves the outcome as a new one."},
	fieldContenders:  {"Contenders", "", "What is compared: implementations of the service, and variants of them. Each lives once in every round, in a shuffled order."},
	fieldRounds:      {"Rounds", "rounds", "Lives of each contender. Six is the least that gives a 95 % interval of a median; fewer support no claim of a difference."},
	fieldCPUs:        {"CPUs", "cpus", "CPU quota of a contender: 1.5 is 150 ms of CPU time in every 100 ms. Beyond it the contender is throttled."},
	fieldCPUSet:      {"CPU set", "cpu-set", "On how many different CPUs a contender may run. Runtimes choose their number of threads by it."},
	fieldMemory:      {"Memory", "memory", "Memory limit of a contender, without swap on top. Units: MiB, GiB (1024), MB, GB (1000)."},
	fieldConnections: {"Steps", "connections", "Steps of load by their numbers of connections, such as 1,8,64; ranges too: 1 x5 warm-up, 2..2048 doubling, 64 for 30s."},
	fieldDuration:    {"Duration", "duration", "Length of every step, such as 10s. Short steps are for trying out; JITs and caches need more than three seconds to warm up."},
	fieldTurns:       {"Turns", "turns", "Contenders of a round alive side by side and loaded in turns of so long, such as 100ms, so that the machine's noise meets all alike. Empty: one after the other."},
	fieldRuntime:     {"Runtime", "runtime", "Where contenders run: in containers of a Docker engine, or as processes of this machine; auto takes Docker where an engine answers."},
	fieldStore:       {"Store", "store", "The Elasticsearch that contenders ask. One that runs elsewhere leaves this machine's CPUs to contender and load."},
	fieldElastic:     {"Elastic URL", "elastic", "Where the Elasticsearch 7 answers, such as http://10.0.0.5:9200. Its data come from: locbench seed --elastic URL."},
	fieldData:        {"Data", "", "What the store holds. The suite of checks called locations knows the bundled data and is left out with any other."},
	fieldCities:      {"Cities", "cities", "How many cities are made up, 1 to 1,000,000; the same number gives the same data."},
	fieldDump:        {"Folder", "data", "A folder with a dump: for each index <index>.mapping.json and <index>.ndjson, as _bulk takes it."},
	fieldStart:       {"", "", "Starts the benchmark and shows it live. The command line below does the same."},
}

// shown are the fields that mean something now, in order.
func (s *Screen) shown() []id {
	var out []id
	for f := range fieldCount {
		switch {
		case f == fieldTurns && len(s.selected()) < 2 && s.value(f) == "": // there is nobody to take turns with
		case f == fieldElastic && !s.storeKind().Traits().ByURL:
		case f == fieldCities && s.dataKind() != dataGenerated:
		case f == fieldDump && s.dataKind() != dataDump:
		default:
			out = append(out, f)
		}
	}
	return out
}

// value is what a field holds now, as it is typed.
func (s *Screen) value(f id) string {
	if v, ok := s.choice.Set[forms[f].flag]; ok && f != fieldDump {
		return v
	}
	switch v, ok := s.choice.Set["data"]; {
	case f == fieldProfile:
		return s.choice.Profile
	case f == fieldStore:
		return string(s.storeKind())
	case f == fieldData:
		return s.dataKind()
	case f == fieldDump && ok && v != dataBundled:
		return v
	}
	return s.preset(f)
}

var presets = [fieldCount]func(b *bench.Profile) string{
	fieldContenders:  func(b *bench.Profile) string { return joined(b.Contenders) },
	fieldRounds:      func(b *bench.Profile) string { return strconv.Itoa(b.Rounds) },
	fieldCPUs:        func(b *bench.Profile) string { return given(b.Limits.CPUs, number) },
	fieldCPUSet:      func(b *bench.Profile) string { return given(b.Limits.CPUSet, strconv.Itoa) },
	fieldMemory:      func(b *bench.Profile) string { return given(b.Limits.Memory, strictyaml.FormatBytes) },
	fieldConnections: func(b *bench.Profile) string { return ladder(b.Steps) },
	fieldDuration:    func(b *bench.Profile) string { return durations(b.Steps) },
	fieldTurns:       func(b *bench.Profile) string { return given(b.Turns, units.Exact) },
	fieldRuntime:     func(b *bench.Profile) string { return string(b.Runtime) },
	fieldStore:       func(b *bench.Profile) string { return string(storeKind(b.Store)) },
	fieldElastic:     func(b *bench.Profile) string { return b.Store.URL },
	fieldData:        func(b *bench.Profile) string { return dataKind(b.Data) },
	fieldCities:      func(b *bench.Profile) string { return given(b.Data.Cities, strconv.Itoa) },
	fieldDump:        func(b *bench.Profile) string { return b.Data.Dir },
}

func (s *Screen) preset(f id) string {
	if presets[f] == nil {
		return ""
	}
	return presets[f](&s.base)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// given writes v, or nothing where it is not positive.
func given[T cmp.Ordered](v T, write func(T) string) string {
	if v <= *new(T) {
		return ""
	}
	return write(v)
}

func (s *Screen) changed(f id) bool {
	set := func(flag string) bool { _, ok := s.choice.Set[flag]; return ok }
	switch f {
	case fieldContenders:
		return s.choice.Contenders != nil
	case fieldStore:
		return set("store") || set("elastic") && !bench.StoreKind(s.preset(fieldStore)).Traits().ByURL
	case fieldData:
		return set("data") || set("cities")
	case fieldDump:
		return set("data")
	}
	return set(forms[f].flag)
}

func (s *Screen) changes() (n int) {
	for f := range fieldCount {
		if f != fieldDump && f != fieldCities && s.changed(f) {
			n++
		}
	}
	return n
}

// storeKind of the set-up: a URL makes it an external one.
func (s *Screen) storeKind() bench.StoreKind {
	kind, set := s.choice.Set["store"]
	if url := s.choice.Set["elastic"]; set || url != "" {
		return storeKind(bench.StoreSpec{Kind: bench.StoreKind(kind), URL: url})
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

// inContainers tells whether contenders will run in containers, as far as that is known.
func (s *Screen) inContainers() bool {
	return s.runtime().Traits().Container || s.runtime().Traits().Auto && s.engineAnswers()
}

func (s *Screen) dataKind() string {
	_, cities := s.choice.Set["cities"]
	switch v, data := s.choice.Set["data"]; {
	case cities:
		return dataGenerated
	case v == dataBundled:
		return dataBundled
	case data:
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

func joined(list []bench.Selection) string {
	names := make([]string, len(list))
	for i, sel := range list {
		names[i] = sel.String()
	}
	return strings.Join(names, " ")
}

// durations is the length of the steps: "3s", or "2s to 3s" when they differ.
func durations(steps []bench.Step) string {
	if len(steps) == 0 {
		return ""
	}
	byDuration := func(a, b bench.Step) int { return cmp.Compare(a.Duration, b.Duration) }
	least, most := slices.MinFunc(steps, byDuration).Duration, slices.MaxFunc(steps, byDuration).Duration
	if least == most {
		return units.Exact(least)
	}
	return units.Exact(least) + " to " + units.Exact(most)
}

type option struct {
	value, help string
	faulty      bool
}

// options of a choice; nil for fields that are none.
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
			{value: dataGenerated, help: "as many made-up cities as wanted"},
			{value: dataDump, help: "a folder of your own"},
		}
	}
	return out
}
