package elasticsearch

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Options has the origin before the URL and the latency, and the number of cities before what
// belongs to it.
var Options = []needs.Option{
	{
		Name: "store", Key: "from", Type: "string", Values: origins,
		Usage: "auto, embedded, external, container or none",
		Label: "Store",
		Help:  "The Elasticsearch that contenders query. On another machine it takes no CPU from contender and client.",
		Get:   originOption, Set: setOrigin,
	},
	{
		Name: "elastic", Key: "url", Type: "string",
		Usage: "Elasticsearch or OpenSearch `URL` (see 'locbench seed'); ${NAME} is an environment variable; implies --store external",
		Label: "Elastic URL",
		Help:  "URL of an Elasticsearch or OpenSearch, such as http://10.0.0.5:9200. Load its data with: locbench seed --elastic URL.",
		Get:   func(n bench.NeedSpec) string { return n.URL }, Set: setURL,
	},
	{
		Name: "store-latency", Key: "latency", Type: "duration", Usage: "median latency added by the embedded store",
		Set: setLatency(func(s *spec) *time.Duration { return &s.Latency }),
	},
	{
		Name: "store-latency-p99", Key: "latency_p99", Type: "duration", Usage: "p99 of that latency",
		Set: setLatency(func(s *spec) *time.Duration { return &s.P99 }),
	},
	{
		Name: "cities", Key: "cities.count", Type: "int",
		Usage: "generate N cities (1 to 1,000,000) instead of the bundled data",
		Label: "Cities", Help: "Number of generated cities, 1 to 1,000,000; the same number gives the same data.",
		Get: func(n bench.NeedSpec) string {
			if count := specOf(n).Cities.Count; count != 0 {
				return strconv.Itoa(count)
			}
			return ""
		},
		Set: setNumber(1, dataset.MaxGenerated, func(s *spec, n uint64) {
			s.Cities = cities{Count: int(n), Vertices: defaultVertices, Seed: defaultDataSeed}
		}),
	},
	{
		Name: "vertices", Key: "cities.vertices", Type: "int", Default: strconv.Itoa(defaultVertices), With: "cities",
		Usage: "vertices per generated shape",
		Set:   setNumber(12, 10_000, func(s *spec, n uint64) { s.Cities.Vertices = int(n) }),
	},
	{
		Name: "data-seed", Key: "cities.seed", Type: "uint64", Default: strconv.Itoa(defaultDataSeed), With: "cities",
		Usage: "seed for --cities; the same seed gives the same data",
		Set:   setNumber(0, math.MaxUint64, func(s *spec, n uint64) { s.Cities.Seed = n }),
	},
	{
		Name: "data", Key: "cities.dir", Type: "string", Folder: true, Values: []string{bundled + "\tthe bundled cities"},
		Usage: "dump in `DIR` (see 'locbench seed --help'), or bundled; only the bundled data is checked by suite " + suite,
		Label: "Folder",
		Help:  "Folder with a dump: per index <index>.mapping.json and <index>.ndjson (_bulk format).",
		Get:   func(n bench.NeedSpec) string { return string(specOf(n).Cities.Dir) }, Set: setData,
	},
}

// change changes what only this kind has, unless the text of the option was wrong.
func change(e needs.Edit, wrong error, to func(s *spec)) error {
	if wrong != nil {
		return e.Refuse(wrong.Error())
	}
	s := specOf(*e.Need)
	to(&s)
	s.put(e.Need)
	return nil
}

// setNumber returns a function that sets a whole number between two bounds.
func setNumber(low, high uint64, to func(s *spec, n uint64)) func(needs.Edit, string) error {
	return func(e needs.Edit, text string) error {
		n, err := strconv.ParseUint(text, 0, 64)
		_, negative := strconv.ParseInt(text, 0, 64)
		switch {
		case high == math.MaxUint64 && err != nil:
			err = errors.New("write a whole number from 0, such as 6")
		case err != nil && negative != nil && !errors.Is(err, strconv.ErrRange):
			err = errors.New("write a whole number, such as 6")
		case err != nil || n < low || n > high:
			err = fmt.Errorf("write from %d to %d", low, high)
		}
		return change(e, err, func(s *spec) { to(s, n) })
	}
}

// originOption returns the value of --store.
func originOption(n bench.NeedSpec) string {
	if n.URL != "" {
		return string(chosen(n.From, n.URL))
	}
	return string(n.From)
}

// setOrigin replaces the profile's Elasticsearch; its data remain.
func setOrigin(e needs.Edit, text string) error {
	if !slices.Contains(originNames(), text) {
		return e.Refuse(strictyaml.Suggest(text, "one of", originNames()))
	}
	replace(e.Need, bench.NeedOrigin(text), "")
	return nil
}

func replace(n *bench.NeedSpec, from bench.NeedOrigin, url string) {
	data := specOf(*n).Cities
	n.From, n.URL = from, url
	spec{Cities: data}.put(n)
}

func setURL(e needs.Edit, text string) error {
	if text == "" {
		return nil
	}
	from, _ := e.Given("store")
	if chosen(bench.NeedOrigin(from), text) != bench.NeedExternal {
		return console.Usagef("--elastic names an external store, --store says %s: choose one", from)
	}
	u, err := needs.URL("elastic", text, e.Getenv)
	replace(e.Need, bench.NeedExternal, u)
	return err
}

func setLatency(at func(*spec) *time.Duration) func(needs.Edit, string) error {
	return func(e needs.Edit, text string) error {
		d, err := strictyaml.ParseDuration(text)
		if err == nil && (d < 0 || d > maxLatency) {
			err = errors.New("write from 0s to " + units.Exact(maxLatency))
		}
		return change(e, err, func(s *spec) { *at(s) = d })
	}
}

// setData chooses the bundled data, or a dump in the folder dir.
func setData(e needs.Edit, dir string) error {
	if _, given := e.Given("cities"); given {
		return console.Usagef("--data names a data set, --cities generates one: choose one")
	}
	switch dir {
	case "":
		return console.Usagef("--data: no folder given; write one with a dump, or %s", bundled)
	case bundled:
		return change(e, nil, func(s *spec) { s.Cities = cities{} })
	}
	return change(e, nil, func(s *spec) { s.Cities = cities{Dir: strictyaml.Folder(dir)} })
}
