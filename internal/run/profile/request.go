package profile

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/strictyaml"
)

const (
	defaultExponent = 1.1
	maxFixedIDs     = 100_000
)

type request struct {
	Name         string            `yaml:"name" strict:"min=1,max=100"`
	Weight       int               `yaml:"weight"`
	Method       string            `yaml:"method"`
	Path         string            `yaml:"path" strict:"required" example:"/city/v1/get?id={id}&language={language}"`
	Header       map[string]string `yaml:"header,omitempty" strict:"max=50"`
	Body         string            `yaml:"body,omitempty"`
	IDs          ids               `yaml:"ids,omitempty"`
	Languages    []string          `yaml:"languages,flow,omitempty" strict:"min=1,max=100"`
	ExpectStatus int               `yaml:"expect_status"`
}

// UnmarshalStrict reads a map whose absent keys have defaults.
func (r *request) UnmarshalStrict(v strictyaml.Value) {
	type plain request
	p := plain{Weight: 1, Method: http.MethodGet, ExpectStatus: http.StatusOK}
	v.Decode(&p)
	*r = request(p)
	if strings.Contains(r.Path, "{id}") {
		r.IDs.Distribution = cmp.Or(r.IDs.Distribution, uniform)
	}
	if strings.Contains(r.Path, "{language}") && !v.Has("languages") {
		r.Languages = []string{"cs", "de", "en", "pl", "sk"}
	}
	if r.Name == "" {
		path, _, _ := strings.Cut(r.Path, "?")
		r.Name = r.Method + " " + path
		r.Name = r.Name[:min(len(r.Name), 100)]
	}
}

var (
	token           = regexp.MustCompile("^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$") // RFC 9110, section 5.6.2
	placeholder     = regexp.MustCompile(`\{[^{}]*\}?`)
	languagePattern = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
)

// namesCity says whether the request is one of the locations service's for cities or regions.
func namesCity(r bench.Request) bool {
	return strings.HasPrefix(r.Path, "/city/") || strings.HasPrefix(r.Path, "/region/")
}

const (
	fixed   = "fixed"
	uniform = "uniform"
	zipf    = "zipf"
)

// ids is "uniform", "zipf", a list of ids, or a map.
type ids struct {
	Distribution string  `yaml:"distribution" strict:"required"`
	Fixed        []int64 `yaml:"fixed,flow,omitempty"`
	Exponent     float64 `yaml:"exponent,omitempty"`
}

// UnmarshalStrict reads a distribution, a list of ids, or a map.
func (d *ids) UnmarshalStrict(v strictyaml.Value) {
	switch v.Kind() {
	case strictyaml.Scalar:
		d.Distribution, _ = v.Enum(uniform, zipf)
	case strictyaml.List:
		d.Distribution = fixed
		v.Decode(&d.Fixed)
	default:
		type plain ids
		v.Decode((*plain)(d))
	}
	if d.Distribution == zipf && d.Exponent == 0 {
		d.Exponent = defaultExponent
	}
}

// MarshalYAML writes what UnmarshalStrict reads.
func (d ids) MarshalYAML() (any, error) {
	switch {
	case d.Distribution == uniform && d.Fixed == nil && d.Exponent == 0:
		return uniform, nil
	case d.Distribution == fixed && d.Fixed != nil && d.Exponent == 0:
		return strictyaml.Inline{V: d.Fixed}, nil
	}
	type plain ids
	return strictyaml.Inline{V: plain(d)}, nil
}

// IsZero leaves absent ids out of what is written.
func (d ids) IsZero() bool { return d.Distribution == "" && d.Fixed == nil && d.Exponent == 0 }

func (r request) request() bench.Request {
	if len(r.Header) == 0 {
		r.Header = nil
	}
	return bench.Request{
		Name: r.Name, Weight: r.Weight, Method: r.Method, Path: r.Path, Header: r.Header, Body: r.Body,
		IDs: bench.IDSpec(r.IDs), Languages: r.Languages, ExpectStatus: r.ExpectStatus,
	}
}

func requestOf(r bench.Request) request {
	return request{
		Name: r.Name, Weight: r.Weight, Method: r.Method, Path: r.Path, Header: r.Header, Body: r.Body,
		IDs: ids(r.IDs), Languages: r.Languages, ExpectStatus: r.ExpectStatus,
	}
}
