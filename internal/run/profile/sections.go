package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

var contenderPattern = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,62})(?::([a-z0-9][a-z0-9._-]{0,62}))?$`)

// ParseSelection reads a contender as profiles and options name it: "rs-actix" or "rs-actix:lto".
func ParseSelection(text string) (bench.Selection, error) {
	m := contenderPattern.FindStringSubmatch(text)
	if m == nil {
		return bench.Selection{}, fmt.Errorf("invalid contender %.200q: use NAME or NAME:VARIANT "+
			"(see 'locbench services list')", text)
	}
	return bench.Selection{Contender: m[1], Variant: m[2]}, nil
}

// store is the name of a kind, or a map.
type store struct {
	Kind    bench.StoreKind `yaml:"kind" strict:"required"`
	URL     string          `yaml:"url,omitempty" strict:"max=2000"`
	Image   string          `yaml:"image,omitempty" strict:"max=500"`
	Latency duration        `yaml:"latency,omitempty"`
	P99     duration        `yaml:"latency_p99,omitempty"`
}

// UnmarshalStrict reads a kind or a map.
func (s *store) UnmarshalStrict(v strictyaml.Value) {
	type plain store // without this method
	if v.Kind() != strictyaml.Scalar {
		v.Decode((*plain)(s))
	} else if kind, ok := v.Text(); ok {
		s.Kind = bench.StoreKind(kind)
	}
}

// MarshalYAML writes the kind alone where nothing else is set.
func (s store) MarshalYAML() (any, error) {
	if s == (store{Kind: s.Kind}) {
		return string(s.Kind), nil
	}
	type plain store
	return plain(s), nil
}

// data is "bundled", {cities, vertices, seed} or {dir}.
type data bench.DataSpec

type dataMap struct {
	Dir      folder `yaml:"dir,omitempty"`
	Cities   int    `yaml:"cities,omitempty"`
	Vertices int    `yaml:"vertices,omitempty"`
	Seed     uint64 `yaml:"seed,omitempty"`
}

// UnmarshalStrict reads "bundled" or a map.
func (d *data) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		if text, ok := v.Text(); ok && text != BundledData {
			v.Wrong("write `bundled`, {dir: FOLDER} for a dump, or {cities: 100000} to generate 100,000")
		}
		return
	}
	m := dataMap{Vertices: defaultVertices, Seed: defaultDataSeed}
	v.Decode(&m)
	if v.Has("dir") && !v.Has("cities") && !v.Has("vertices") && !v.Has("seed") {
		m = dataMap{Dir: m.Dir}
	}
	*d = data{Dir: string(m.Dir), Cities: m.Cities, Vertices: m.Vertices, Seed: m.Seed}
}

// MarshalYAML writes what UnmarshalStrict reads.
func (d data) MarshalYAML() (any, error) {
	if d == (data{}) {
		return BundledData, nil
	}
	return strictyaml.Inline{V: dataMap{folder(d.Dir), d.Cities, d.Vertices, d.Seed}}, nil
}

type checks struct {
	Lifecycle lifecycle `yaml:"lifecycle"`
	Suites    []suite   `yaml:"suites,flow" strict:"max=20"`
}

// suite is the name of a bundled suite, or the path of a file.
type suite string

// UnmarshalStrict reads a name, or a path relative to the profile.
func (s *suite) UnmarshalStrict(v strictyaml.Value) {
	text, _ := v.Text()
	if check.IsFile(text) {
		text = v.ResolvePath(text)
	}
	*s = suite(text)
}

// DescribeStrict describes what UnmarshalStrict reads.
func (suite) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema { return strictyaml.Text("") }

// folder is a path relative to the profile.
type folder string

// UnmarshalStrict reads a path.
func (f *folder) UnmarshalStrict(v strictyaml.Value) {
	switch text, ok := v.Text(); {
	case !ok:
	case text == "" || len(text) > 4096:
		v.Wrong("write the path of a folder, relative to the profile")
	default:
		*f = folder(v.ResolveFolder(text))
	}
}

// DescribeStrict describes what UnmarshalStrict reads.
func (folder) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema { return strictyaml.Text("") }

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
		name, _ := item.Enum(all...)
		*l = append(*l, name)
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

// plainText is a body as text, which may have places for variables.
type plainText string

// MarshalYAML quotes a text that would otherwise be read as another one, or not at all.
func (t plainText) MarshalYAML() (any, error) {
	odd := func(c rune) bool { return c != '\n' && unicode.IsControl(c) }
	if s := string(t); strings.TrimLeft(s, " \n") == s && !strings.ContainsFunc(s, odd) {
		return s, nil
	}
	return strictyaml.JSON(strconv.QuoteToASCII(string(t))), nil // YAML has the escapes of Go
}
