package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/secret"
	"locbench/internal/strictyaml"
)

// selection is "rs-actix" or "rs-actix:lto".
type selection bench.Selection

var contenderPattern = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,62})(?::([a-z0-9][a-z0-9._-]{0,62}))?$`)

func (s selection) String() string { return bench.Selection(s).String() }

// ParseSelection reads a contender as profiles and options name it: "rs-actix" or "rs-actix:lto".
func ParseSelection(text string) (bench.Selection, bool) {
	m := contenderPattern.FindStringSubmatch(text)
	if m == nil {
		return bench.Selection{}, false
	}
	return bench.Selection{Contender: m[1], Variant: m[2]}, true
}

// UnmarshalStrict reads a name and, behind a colon, a variant.
func (s *selection) UnmarshalStrict(v strictyaml.Value) {
	if text, ok := v.Text(); ok {
		sel, ok := ParseSelection(text)
		if !ok {
			v.Wrong("write the name of a contender and, where another variant than its first is meant, " +
				"that behind a colon: `rs-actix:lto`")
		}
		*s = selection(sel)
	}
}

// MarshalYAML writes what UnmarshalStrict reads.
func (s selection) MarshalYAML() (any, error) { return s.String(), nil }

// store is the name of a kind, or a map.
type store struct {
	Kind    bench.StoreKind `yaml:"kind" strict:"required"`
	URL     string          `yaml:"url,omitempty" strict:"max=2000"`
	Image   string          `yaml:"image,omitempty" strict:"max=500"`
	Latency duration        `yaml:"latency,omitempty" strict:"min=0s,max=1m"`
	P99     duration        `yaml:"p99,omitempty" strict:"min=0s,max=1m"`
}

// UnmarshalStrict reads a kind or a map.
func (s *store) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		kind, _ := v.Enum(bench.StoreKinds()...)
		s.Kind = bench.StoreKind(kind)
		return
	}
	type plain store // without this method
	var p plain
	if !v.Decode(&p) {
		return
	}
	kind, ok := v.At("kind").Enum(bench.StoreKinds()...)
	if !ok {
		return
	}
	*s = store(p)
	if s.URL != "" {
		u, err := secret.ParseURL(s.URL)
		switch {
		case !bench.StoreSpec{Kind: s.Kind, URL: s.URL}.Chosen().Traits().ByURL:
			v.At("url").Mistake("a store of kind "+kind+" has no url", "write `kind: external` or remove the url")
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
			v.At("url").Wrong("write a URL such as `http://10.0.0.5:9200`")
		}
	}
	if s.Image != "" && !s.Kind.Traits().Container {
		v.At("image").Mistake("a store of kind "+kind+" has no image", "write `kind: container` or remove the image")
	}
	for _, key := range []string{"latency", "p99"} {
		if v.Has(key) && !s.Kind.Traits().Latency {
			v.At(key).Mistake("a store of kind "+kind+" answers as fast as it can", "write `kind: embedded` or remove `"+key+"`")
		}
	}
	if s.P99 != 0 && s.P99 < s.Latency {
		v.At("p99").Wrong("the median is `latency`: write at least that")
	}
	if s.P99 != 0 && s.Latency == 0 {
		v.At("p99").Mistake("`p99` stands without a median", "add `latency`, for example `latency: 2ms`")
	}
}

// MarshalYAML writes the kind alone where there is no more to say.
func (s store) MarshalYAML() (any, error) {
	if s == (store{Kind: s.Kind}) {
		return string(s.Kind), nil
	}
	type plain store
	return plain(s), nil
}

// data is "bundled", {cities, vertices, seed} or {dir}.
type data bench.DataSpec

const bundled = "bundled"

type dataMap struct {
	Dir      string `yaml:"dir,omitempty" strict:"min=1,max=4096"`
	Cities   int    `yaml:"cities,omitempty" strict:"min=1,max=1000000"`
	Vertices int    `yaml:"vertices,omitempty" strict:"min=12,max=10000"`
	Seed     uint64 `yaml:"seed,omitempty"`
}

// UnmarshalStrict reads "bundled" or a map.
func (d *data) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		if text, ok := v.Text(); ok && text != bundled {
			v.Wrong("write `bundled`, or {dir: FOLDER} for a dump, or {cities: 100000} to generate as many")
		}
		return
	}
	m := dataMap{Vertices: 60, Seed: 1}
	if !v.Decode(&m) {
		return
	}
	switch generated := v.Has("cities") || v.Has("vertices") || v.Has("seed"); {
	case v.Has("dir") && generated:
		v.Mistake("data is both read (`dir`) and generated (`cities`, `vertices`, `seed`)", "keep one of the two")
	case v.Has("dir"):
		*d = data{Dir: m.Dir}
	case !v.Has("cities"):
		v.At("cities").Wrong("write `data: bundled`, `{dir: FOLDER}`, or how many to generate, `{cities: 100000}`")
	default:
		*d = data(m)
	}
}

// MarshalYAML writes what UnmarshalStrict reads.
func (d data) MarshalYAML() (any, error) {
	if d == (data{}) {
		return bundled, nil
	}
	return strictyaml.Inline{V: dataMap(d)}, nil
}

type checks struct {
	Lifecycle lifecycle `yaml:"lifecycle"`
	Suites    []string  `yaml:"suites,flow" strict:"max=20"`
}

// ValidateStrict wants names.
func (c *checks) ValidateStrict(v strictyaml.Value) {
	for i, item := range v.At("suites").Items() {
		if i < len(c.Suites) && strings.TrimSpace(c.Suites[i]) == "" {
			item.Mistake("a suite has no name", "write the name of a bundled suite or the path of a YAML file")
		}
	}
}

type lifecycle []string

// UnmarshalStrict reads "all", "none" or a list of names.
func (l *lifecycle) UnmarshalStrict(v strictyaml.Value) {
	all := bench.LifecycleChecks()
	*l = nil
	if v.Kind() != strictyaml.List {
		switch text, ok := v.Text(); {
		case ok && text == "all":
			*l = all
		case ok && text != "none":
			v.Wrong("write `all`, `none` or a list of " + strings.Join(all, ", "))
		}
		return
	}
	for _, item := range v.Items() {
		name, ok := item.Enum(all...)
		switch {
		case !ok:
		case slices.Contains(*l, name):
			item.Mistake(fmt.Sprintf("check %q is here again", name), "list each once")
		default:
			*l = append(*l, name)
		}
	}
}

// MarshalYAML writes what UnmarshalStrict reads.
func (l lifecycle) MarshalYAML() (any, error) {
	switch {
	case len(l) == 0:
		return "none", nil
	case slices.Equal(l, bench.LifecycleChecks()):
		return "all", nil
	}
	return strictyaml.Inline{V: []string(l)}, nil
}
