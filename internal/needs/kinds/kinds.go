// Package kinds has all kinds of needs.
package kinds

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/container"
	"github.com/locbench/locbench/internal/needs/elasticsearch"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// All has all kinds. The last one has the needs of any name that is not that of another kind.
var All = []needs.Kind{
	elasticsearch.Kind,
	container.Kind,
}

// ByURL is the kind that options choose.
var ByURL = struct {
	Kind, Title   string
	AddressOption string         // with the URL of one that runs already
	Options       []needs.Option // in the order in which they are applied
	// Absent is what a diagnosis says without a URL, and what to do then.
	Absent, Instead string
	// Probe returns the version of an external one.
	Probe func(ctx context.Context, url string) (version string, err error)
}{
	elasticsearch.Name, "Elasticsearch", "elastic", elasticsearch.Options,
	"none; using the embedded store", "use a real one: --elastic http://host:9200", elasticsearch.Probe,
}

// Suites are the bundled check suites of the data of needs, in the folder suites.
var Suites = dataset.Suites

// Of returns a kind by its name.
func Of(name string) (k needs.Kind, ok bool) {
	i := slices.IndexFunc(All, func(k needs.Kind) bool { return k.Name == name })
	if i < 0 {
		return k, false
	}
	return All[i], true
}

// For returns the kind of a need by its name: its own kind, or the one of any other name.
func For(need string) (k needs.Kind, own bool) {
	if slices.Contains(Names(), need) {
		return Of(need)
	}
	return All[len(All)-1], false
}

// Names returns the names that have their own kinds.
func Names() (all []string) {
	for _, k := range All[:len(All)-1] {
		all = append(all, k.Name)
	}
	return all
}

// TraitsOf returns what a run knows of a need before it finds it.
func TraitsOf(n bench.NeedSpec) needs.Traits {
	k, ok := Of(n.Kind)
	if !ok || k.Traits == nil {
		return needs.Traits{}
	}
	return k.Traits(n)
}

// Provided returns what requests and checks get from all needs of a profile.
func Provided(all []bench.NeedSpec) (p needs.Provided) {
	if i := slices.IndexFunc(all, func(n bench.NeedSpec) bool { return n.Kind == ByURL.Kind }); i >= 0 {
		return elasticsearch.Provides(all[i]) // its kind has one name
	}
	return p
}

//go:embed needs.schema.json
var definitions string

// WithNeeds returns the JSON Schema of a file with the definitions of needs.
func WithNeeds(schema string) strictyaml.Schema {
	const defs = `"$defs": {`
	return strictyaml.Schema(strings.Replace(schema, defs, defs+strings.Trim(definitions, "{}\n")+"},", 1))
}
