package elasticsearch

import (
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	// bundled is the value of cities, and of --data, for the bundled data; a folder of that name is
	// ./bundled.
	bundled = "bundled"
	// suite is the check suite that expects the bundled data.
	suite = "locations"

	defaultVertices = 60
	defaultDataSeed = 1
	maxLatency      = time.Minute
)

// Kind is this kind of need.
var Kind = needs.Kind{
	Name: Name, Read: read, Wrong: wrong, Find: find,
	Missing: `needs an Elasticsearch. Use yours:  --elastic http://127.0.0.1:9200
or the official image:  --store container
or the embedded store (shares CPU with the client):  --store embedded`,
}

// chosen returns the origin that "auto" stands for: a URL stands for an external one.
func chosen(from bench.NeedOrigin, url string) bench.NeedOrigin {
	switch {
	case from != bench.NeedAuto && from != "":
		return from
	case url != "":
		return bench.NeedExternal
	}
	return bench.NeedEmbedded
}

// origins are where the need comes from, each with what it is.
var origins = []string{
	string(bench.NeedAuto) + "\ta URL if one is given, else embedded",
	string(bench.NeedEmbedded) + "\tinside locbench; shares CPUs with the load",
	string(bench.NeedExternal) + "\tan Elasticsearch or OpenSearch that runs already, at a URL",
	string(bench.NeedContainer) + "\tthe official image, started for this run",
	string(bench.NeedNone) + "\tthe contenders need none",
}

func originNames() (all []string) {
	for _, o := range origins {
		name, _, _ := strings.Cut(o, "\t")
		all = append(all, name)
	}
	return all
}

// spec is what a profile says of an Elasticsearch. Its JSON is bench.NeedSpec.Of.
type spec struct {
	Image   string        `json:"image,omitempty"`
	Latency time.Duration `json:"latency_ns,omitempty"`
	P99     time.Duration `json:"p99_ns,omitempty"`
	Cities  cities        `json:"cities,omitzero"`
}

// cities is the data set: the bundled one, a generated one or a dump.
type cities struct {
	Count    int    `json:"count,omitempty" yaml:"count" strict:"min=1,max=1000000"`
	Vertices int    `json:"vertices,omitempty" yaml:"vertices" strict:"min=12,max=10000"`
	Seed     uint64 `json:"seed,omitempty" yaml:"seed"`
	// folder of a dump
	Dir strictyaml.Folder `json:"dir,omitempty" yaml:"dir"`
}

// citiesMap is cities without its methods.
type citiesMap cities

func specOf(n bench.NeedSpec) (s spec) {
	s, _ = bench.ReadForm[spec](n.Of) // Find reports what a record has in another form
	return s
}

// put puts s into n.
func (s spec) put(n *bench.NeedSpec) {
	n.Of = bench.FormOf(s)
}

func (c cities) set() dataset.Spec {
	return dataset.Spec{Dir: string(c.Dir), Cities: c.Count, Vertices: c.Vertices, Seed: c.Seed}
}

// elasticsearch is the need in a profile.
type elasticsearch struct {
	From    string        `yaml:"from"`
	URL     string        `yaml:"url" strict:"max=2000"`
	Image   string        `yaml:"image" strict:"max=500"`
	Latency time.Duration `yaml:"latency" strict:"min=0s,max=1m"`
	P99     time.Duration `yaml:"latency_p99" strict:"min=0s,max=1m"`
	Cities  cities        `yaml:"cities"`
}

func read(v strictyaml.Value) bench.NeedSpec {
	f := elasticsearch{From: string(bench.NeedAuto)}
	v.Decode(&f)
	n := bench.NeedSpec{From: bench.NeedOrigin(f.From), URL: f.URL}
	spec{f.Image, f.Latency, f.P99, f.Cities}.put(&n)
	return n
}

// UnmarshalStrict reads "bundled" or a map.
func (c *cities) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		if text, ok := v.Text(); ok && text != bundled {
			v.Wrong("write `bundled`, {dir: FOLDER} for a dump, or {count: 100000} to generate 100,000")
		}
		return
	}
	p := citiesMap{Vertices: defaultVertices, Seed: defaultDataSeed}
	v.Decode(&p)
	if v.Has("dir") && !v.Has("count") && !v.Has("vertices") && !v.Has("seed") {
		p = citiesMap{Dir: p.Dir}
	}
	*c = cities(p)
}

func wrong(n bench.NeedSpec) (all []needs.Mistake) {
	if !slices.Contains(originNames(), string(n.From)) {
		return []needs.Mistake{{Path: "from", Value: string(n.From), Hint: strictyaml.Suggest(string(n.From), "one of", originNames())}}
	}
	when := func(broken bool, path, what, hint string) {
		if broken {
			all = append(all, needs.Mistake{Path: path, What: what, Hint: hint})
		}
	}
	s, from := specOf(n), chosen(n.From, n.URL)
	one := "an elasticsearch from " + string(n.From)
	u, err := secret.ParseURL(n.URL)
	usable := err == nil && secret.IsHTTP(u) && u.RawQuery+u.Fragment == ""
	switch {
	case n.URL == "":
	case !from.Traits().ByURL:
		when(true, "url", one+" has no url", "write `from: external` or remove the url")
	case !usable:
		all = append(all, needs.Mistake{Path: "url", Value: secret.Address(n.URL), Hint: "write a URL such as `http://10.0.0.5:9200`"})
	}
	when(s.Image != "" && !from.Traits().Container, "image", one+" has no image", "write `from: container` or remove the image")
	embedded := n.From.Traits().InClient
	when(s.Latency != 0 && !embedded, "latency", one+" cannot add latency", "write `from: embedded` or remove `latency`")
	when(s.P99 != 0 && !embedded, "latency_p99", one+" cannot add latency", "write `from: embedded` or remove `latency_p99`")
	when(s.P99 != 0 && s.Latency == 0, "latency_p99", "`latency_p99` without `latency`", "add `latency`, such as `latency: 2ms`")
	if s.P99 != 0 && s.P99 < s.Latency {
		all = append(all, needs.Mistake{Path: "latency_p99", Value: units.Exact(s.P99),
			Hint: "write at least the median, which is `latency`"})
	}
	c := s.Cities
	generated := c.Count != 0 || c.Vertices != 0 || c.Seed != 0
	when(c.Dir != "" && generated, "cities", "both `dir` and `count`/`vertices`/`seed` given", "keep one of the two")
	when(c.Dir == "" && generated && c.Count == 0, "cities", "`count` is missing",
		"write `cities: bundled`, `{dir: FOLDER}`, or the number to generate, `{count: 100000}`")
	return all
}

// Provides returns what requests and checks get from its data.
func Provides(n bench.NeedSpec) needs.Provided {
	p := needs.Provided{Data: true, Languages: dataset.Languages[:]}
	if specOf(n).Cities == (cities{}) {
		p.Suites = []string{suite}
	}
	return p
}
