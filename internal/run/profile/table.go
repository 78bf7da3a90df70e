package profile

import (
	"slices"
	"strconv"
	"time"

	"locbench/internal/bench"
	"locbench/internal/store/dataset"
	"locbench/internal/text/strictyaml"
)

const (
	// BundledData is what --data calls the data set that comes along; a folder of that name is ./bundled.
	BundledData = "bundled"
	// bundledSuite is the suite of checks that knows the bundled data and no other.
	bundledSuite = "locations"

	defaultVertices = 60
	defaultDataSeed = 1
)

// Options is the table of all options of a run, in the order in which they are carried out: the number of connections
// comes before what is said of every step, the kind of store before its address.
func Options() []Option { return options }

var options = slices.Concat(loadOptions(), placeOptions(), dataOptions(), keyOptions())

func loadOptions() []Option {
	return []Option{
		{
			Name: "contenders", Key: "contenders", Type: Several, Label: "Contenders",
			Help: "What is compared: implementations of the service, and variants of them. Each is started once in every " +
				"round, in a shuffled order.",
			value: value{get: contendersText, set: addContender},
		},
		{
			Name: "rounds", Key: "rounds", Type: "int", Group: OfRuns,
			Usage: "repetitions of each contender; six give a 95 % interval of a median",
			Label: "Rounds", Help: "Repetitions of each contender. Six is the least that gives a 95 % interval of a median; " +
				"fewer support no claim of a difference.",
			value: ints(func(p *bench.Profile) *int { return &p.Rounds }, 1, 1000, wrong),
		},
		{
			Name: "cpus", Key: "limits.cpus", Type: "float64", Usage: "CPU quota of a contender, such as 1.5",
			Label: "CPUs", Help: "CPU quota of a contender: 1.5 is 150 ms of CPU time in every 100 ms. Beyond it the " +
				"contender is throttled.",
			value: floats(func(p *bench.Profile) *float64 { return &p.Limits.CPUs }, 0.01, 1024, absent),
		},
		{
			Name: "cpu-set", Key: "limits.cpu_set", Type: "int",
			Usage: "let a contender run on so many different CPUs, or on as many as there are",
			Label: "CPU set",
			Help:  "On how many different CPUs a contender may run. Runtimes choose their number of threads by it.",
			value: ints(func(p *bench.Profile) *int { return &p.Limits.CPUSet }, 1, 1024, absent),
		},
		{
			Name: "memory", Key: "limits.memory", Type: "string", Usage: "memory limit of a contender, such as 512MiB",
			Label: "Memory",
			Help:  "Memory limit of a contender, without swap on top. Units: MiB, GiB (1024), MB, GB (1000).",
			value: number[int64]{
				at: func(p *bench.Profile) *int64 { return &p.Limits.Memory }, min: 6 << 20, max: 16 << 40, zero: absent,
				read: strictyaml.ParseBytes, write: strictyaml.FormatBytes,
			}.value(),
		},
		{
			Name: "connections", Key: "steps", Type: "stringSlice", Group: OfRuns,
			Usage: "replace the steps by these `numbers` of connections; also '1 x5 warm-up,2..64 doubling', as in a profile",
			Label: "Steps", Help: "Steps of load by their numbers of connections, such as 1,8,64; ranges too: 1 x5 warm-up, " +
				"2..2048 doubling, 64 for 30s.",
			value: value{get: func(p *bench.Profile) string { return ShortSteps(p.Steps) }, set: setConnections},
		},
		{
			Name: "duration", Key: "step_duration", Type: "duration", Group: OfRuns, Usage: "length of every step",
			Label: "Duration", Help: "Length of every step, such as 10s. Short steps are for trying out; JITs and caches need " +
				"more than three seconds to warm up.",
			value: value{get: durations, set: setDuration},
		},
		{
			Name: "turns", Key: "turns", Type: "duration", Group: OfRuns,
			Usage: "keep the contenders of a round alive at the same time, and load them in turns of so long, such as 100ms: " +
				"noise of the machine affects all alike",
			Label: "Turns", Help: "Contenders of a round alive at the same time and loaded in turns of so long, such as " +
				"100ms, so that noise of the machine affects all alike. Empty: one after the other.",
			value: times(func(p *bench.Profile) *time.Duration { return &p.Turns }, 50*time.Millisecond, time.Minute, none),
		},
		{
			Name: "threshold", Key: "thresholds", Type: Several, Group: OfRuns,
			Usage: "`OBJECTIVE` that ends with exit code 4 where a step misses it, such as 'p99<50ms,errors<0.1%' or " +
				"'errors<20% stop=leg'; besides those of the profile; may be repeated",
			value: value{set: addThreshold},
		},
	}
}

func placeOptions() []Option {
	return []Option{
		{
			Name: "runtime", Key: "runtime", Type: "string", Values: bench.Runtimes(),
			Usage: "docker, process, or auto: docker where an engine answers",
			Label: "Runtime", Help: "Where contenders run: in containers of a Docker engine, or as processes of this machine; " +
				"auto takes Docker where an engine answers.",
			value: choice(func(p *bench.Profile) *bench.Runtime { return &p.Runtime }, bench.AllRuntimes(), bench.Runtimes()),
		},
		{
			Name: "store", Key: "store.kind", Type: "string", Values: bench.StoreKinds(),
			Usage: "auto, embedded, external, container or none",
			Label: "Store", Help: "The Elasticsearch that contenders ask. One that runs elsewhere leaves this machine's CPUs " +
				"to contender and load.",
			value: storeValue(),
		},
		{
			Name: "elastic", Key: "store.url", Type: "string",
			Usage: "`URL` of an Elasticsearch 7 to use (see 'locbench seed'); ${NAME} in it is a variable of the environment; " +
				"implies --store external",
			Label: "Elastic URL", Help: "Where the Elasticsearch 7 answers, such as http://10.0.0.5:9200. Its data come from: " +
				"locbench seed --elastic URL.",
			value: value{get: func(p *bench.Profile) string { return p.Store.URL }, set: setElastic},
		},
		{
			Name: "target", Type: Several,
			Usage: "load the service that runs at this `[NAME=]URL` instead of starting one; several with names are compared. " +
				"Without a profile or contender exactly the path and query of the URL are asked",
			value: value{set: func(c *change, _ string) error {
				c.p.Store = bench.StoreSpec{Kind: bench.StoreNone}
				return nil
			}},
		},
		{
			Name: "seed", Type: "uint64", Usage: "of the order of the legs and of the drawn ids (default random; recorded)",
			value: value{set: func(c *change, text string) error { // the run has it
				if _, err := readUint(text); err != nil {
					return c.refuse(text, err.Error())
				}
				return nil
			}},
		},
		{
			Name: "latency", Key: "store.latency", Type: "duration",
			Usage: "median latency that the embedded store adds to each answer",
			value: times(func(p *bench.Profile) *time.Duration { return &p.Store.Latency }, 0, time.Minute, none),
		},
		{
			Name: "latency-p99", Key: "store.p99", Type: "duration", Usage: "99 % quantile of that latency",
			value: times(func(p *bench.Profile) *time.Duration { return &p.Store.P99 }, 0, time.Minute, none),
		},
		{
			Name: "http2", Key: "protocol", Type: "bool",
			Usage: "load in HTTP/2: over TLS where the target's address is one of https, else from the first byte; one " +
				"request at a time on each connection",
			value: protocolValue(),
		},
		{
			Name: "no-checks", Key: "checks", Type: "bool", Usage: "skip lifecycle and HTTP checks",
			value: onOff(func(p *bench.Profile, on bool) {
				if on {
					p.Checks = bench.CheckSpec{}
				}
			}),
		},
	}
}

func dataOptions() []Option {
	return []Option{
		{
			Name: "cities", Key: "data.cities", Type: "int",
			Usage: "generate so many cities (1 to 1,000,000) instead of taking the bundled data",
			Label: "Cities", Help: "How many cities are made up, 1 to 1,000,000; the same number gives the same data.",
			value: generated(ints(func(p *bench.Profile) *int { return &p.Data.Cities }, 1, dataset.MaxGenerated, absent)),
		},
		{
			Name: "vertices", Key: "data.vertices", Type: "int", Default: strconv.Itoa(defaultVertices),
			Usage: "of each shape that --cities generates",
			value: generated(ints(func(p *bench.Profile) *int { return &p.Data.Vertices }, 12, 10_000, absent)),
		},
		{
			Name: "data-seed", Key: "data.seed", Type: "uint64", Default: strconv.Itoa(defaultDataSeed),
			Usage: "of the data that --cities generates; the same seed gives the same data",
			value: generated(value{set: func(c *change, text string) (err error) {
				if c.p.Data.Seed, err = readUint(text); err != nil {
					return c.refuse(text, err.Error())
				}
				return nil
			}}),
		},
		{
			Name: "data", Key: "data.dir", Type: "string",
			Usage: "the dump in this `DIR` (see 'locbench seed --help'), or bundled; other data than the bundled goes without " +
				"the suite " + bundledSuite,
			Label: "Folder",
			Help:  "A folder with a dump: for each index <index>.mapping.json and <index>.ndjson, as _bulk takes it.",
			value: value{get: func(p *bench.Profile) string { return p.Data.Dir }, set: setData},
		},
	}
}

// keyOptions are those that only a profile says.
func keyOptions() []Option {
	share := func(at func(*bench.Profile) *float64, zero zero, or string) value {
		return number[float64]{
			at: at, min: minShare, max: 1, zero: zero, write: writeShare, hint: "write a share from 0.001% to 100%" + or,
		}.value()
	}
	return []Option{
		{Key: "limits.pids", value: number[int64]{
			at: func(p *bench.Profile) *int64 { return &p.Limits.PIDs }, min: 1, max: 4_194_304, zero: absent,
			write: func(n int64) string { return strconv.FormatInt(n, 10) },
		}.value()},
		{Key: "isolation", value: choice(func(p *bench.Profile) *string { return &p.Isolation },
			[]string{isolationAuto, bench.IsolationOff, ""}, nil)}, // the empty text is written as auto
		{Key: "timeout", value: times(
			func(p *bench.Profile) *time.Duration { return &p.Timeout }, time.Millisecond, time.Hour, wrong)},
		{Key: "validate", value: share(func(p *bench.Profile) *float64 { return &p.Validate }, none, ", or `none`")},
		{Key: "max_errors", value: share(func(p *bench.Profile) *float64 { return &p.MaxErrors }, absent, "")},
		{Key: "price_per_vcpu_hour", value: floats(
			func(p *bench.Profile) *float64 { return &p.PriceVCPUHr }, 0, 1000, none)},
	}
}
