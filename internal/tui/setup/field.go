package setup

import (
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
	"locbench/internal/units"
)

// id is a field.
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

// The data sets that can be chosen.
const (
	dataBundled   = "bundled"
	dataGenerated = "generated"
	dataDump      = "dump"
)

// form is what a field is: its label, the flag behind it if it is a text, and a line of help.
type form struct {
	label, flag, help string
}

func formOf(f id) form {
	return [fieldCount]form{
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
	}[f]
}

// shown are the fields that mean something now, in order.
func (s *Screen) shown() []id {
	var out []id
	for f := range fieldCount {
		switch f {
		case fieldTurns:
			if len(s.selected()) < 2 && s.value(f) == "" { // nobody to take turns with
				continue
			}
		case fieldElastic:
			if !s.storeKind().Traits().ByURL {
				continue
			}
		case fieldCities:
			if s.dataKind() != dataGenerated {
				continue
			}
		case fieldDump:
			if s.dataKind() != dataDump {
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// value is what a field holds now, as it is typed.
func (s *Screen) value(f id) string {
	if v, ok := s.choice.Set[formOf(f).flag]; ok && f != fieldDump {
		return v
	}
	switch f {
	case fieldProfile:
		return s.choice.Profile
	case fieldStore:
		return string(s.storeKind())
	case fieldData:
		return s.dataKind()
	case fieldDump:
		if v, ok := s.choice.Set["data"]; ok && v != dataBundled {
			return v
		}
	}
	return s.preset(f)
}

// preset is what the profile says of a field.
func (s *Screen) preset(f id) string {
	b := &s.base
	switch f {
	case fieldRounds:
		return strconv.Itoa(b.Rounds)
	case fieldCPUs:
		if b.Limits.CPUs > 0 {
			return strconv.FormatFloat(b.Limits.CPUs, 'f', -1, 64)
		}
	case fieldCPUSet:
		if b.Limits.CPUSet > 0 {
			return strconv.Itoa(b.Limits.CPUSet)
		}
	case fieldMemory:
		if b.Limits.Memory > 0 {
			return strictyaml.FormatBytes(b.Limits.Memory)
		}
	case fieldConnections:
		return ladder(b.Steps)
	case fieldDuration:
		return durations(b.Steps)
	case fieldTurns:
		if b.Turns > 0 {
			return short(b.Turns)
		}
	case fieldRuntime:
		return string(b.Runtime)
	case fieldStore:
		return string(storeKind(b.Store))
	case fieldElastic:
		return b.Store.URL
	case fieldData:
		return dataKind(b.Data)
	case fieldCities:
		if b.Data.Cities > 0 {
			return strconv.Itoa(b.Data.Cities)
		}
	case fieldDump:
		return b.Data.Dir
	case fieldContenders:
		return joined(b.Contenders)
	}
	return ""
}

// changed tells whether a field differs from the profile.
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
	flag := formOf(f).flag
	return flag != "" && set(flag)
}

// changes is the number of fields that differ from the profile.
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
	url := s.choice.Set["elastic"]
	if !set && url == "" {
		return storeKind(s.base.Store)
	}
	return storeKind(bench.StoreSpec{Kind: bench.StoreKind(kind), URL: url})
}

func storeKind(spec bench.StoreSpec) bench.StoreKind {
	if spec.URL != "" {
		return spec.Chosen()
	}
	return spec.Kind
}

// elasticURL is the address of the store, as far as one is given.
func (s *Screen) elasticURL() string {
	if !s.storeKind().Traits().ByURL {
		return ""
	}
	return s.value(fieldElastic)
}

func (s *Screen) runtime() bench.Runtime {
	r := bench.Runtime(s.value(fieldRuntime))
	if r == "" {
		return bench.RuntimeAuto
	}
	return r
}

// inContainers tells whether contenders will run in containers, as far as that is known.
func (s *Screen) inContainers() bool {
	return s.runtime().Traits().Container || s.runtime().Traits().Auto && s.facts.machineOK && s.facts.machine.Engine.Err == nil
}

func (s *Screen) dataKind() string {
	if _, ok := s.choice.Set["cities"]; ok {
		return dataGenerated
	}
	if v, ok := s.choice.Set["data"]; ok {
		if v == dataBundled {
			return dataBundled
		}
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

// selected are the contenders of the set-up.
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
	least, most := steps[0].Duration, steps[0].Duration
	for _, step := range steps {
		least, most = min(least, step.Duration), max(most, step.Duration)
	}
	if least == most {
		return short(least)
	}
	return short(least) + " to " + short(most)
}

func short(d time.Duration) string { return units.Exact(d) }

func size(n int64) string { return units.Bytes(n) }
