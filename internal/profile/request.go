package profile

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
)

const (
	defaultExponent = 1.1
	maxFixedIDs     = 100_000
)

type request struct {
	Name         string            `yaml:"name" strict:"min=1,max=100"`
	Weight       int               `yaml:"weight" strict:"min=1,max=1000000"`
	Method       string            `yaml:"method" strict:"oneof=GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS"`
	Path         string            `yaml:"path" strict:"required,min=1,max=8000" example:"/city/v1/get?id={id}&language={language}"`
	Header       map[string]string `yaml:"header,omitempty" strict:"max=50"`
	Body         string            `yaml:"body,omitempty"`
	IDs          ids               `yaml:"ids,omitempty"`
	Languages    []string          `yaml:"languages,flow,omitempty" strict:"min=1,max=100"`
	ExpectStatus int               `yaml:"expect_status" strict:"min=200,max=599"`
}

// UnmarshalStrict reads a map whose absent keys have defaults.
func (r *request) UnmarshalStrict(v strictyaml.Value) {
	type plain request
	p := plain{Weight: 1, Method: http.MethodGet, ExpectStatus: http.StatusOK}
	v.Decode(&p)
	*r = request(p)
	if r.Path == "" {
		return // reported already
	}
	r.checkPath(v)
	r.checkHeader(v)
	checkWords(v.At("body"), r.Body)
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

func (r *request) checkPath(v strictyaml.Value) {
	if !strings.HasPrefix(r.Path, "/") {
		v.At("path").Wrong("begin it with `/`: the host is that of the contender")
	}
	if i := strings.IndexFunc(r.Path, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '#' || c > 0x7e }); i >= 0 {
		v.At("path").Wrong("write letters other than ASCII, blanks and `#` as %-escapes, such as `%20`")
	}
	for _, name := range placeholder.FindAllString(r.Path, -1) {
		if name != "{id}" && name != "{language}" {
			v.At("path").Wrong(fmt.Sprintf("only `{id}` and `{language}` are filled in, not `%s`", name))
		}
	}
	for _, of := range [][2]string{{"ids", "{id}"}, {"languages", "{language}"}} {
		if key, name := of[0], of[1]; v.Has(key) && !strings.Contains(r.Path, name) {
			v.At(key).Mistake(fmt.Sprintf("`%s` are given, but the path has no `%s`", key, name),
				fmt.Sprintf("write `%s` into the path or remove `%s`", name, key))
		}
	}
	if strings.Contains(r.Path, "{id}") {
		r.IDs.Distribution = cmp.Or(r.IDs.Distribution, uniform)
	}
	if strings.Contains(r.Path, "{language}") && !v.Has("languages") {
		r.Languages = []string{"cs", "de", "en", "pl", "sk"}
	}
	for i, language := range r.Languages {
		if !languagePattern.MatchString(language) {
			v.At("languages").Items()[i].Wrong("write a language such as `cs`")
		}
	}
}

func (r *request) checkHeader(v strictyaml.Value) {
	for _, f := range v.At("header").Fields() {
		value := r.Header[f.Key]
		if !token.MatchString(f.Key) {
			f.Value.Mistake(fmt.Sprintf("%q is no name of a header", f.Key), "write letters, digits and `-`, for example `Accept`")
		}
		if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			f.Value.Wrong("write a value of one line")
		}
		checkWords(f.Value, value)
	}
}

// namesCity tells whether the request is one of the locations service's for cities or regions.
func (r request) namesCity() bool {
	return strings.HasPrefix(r.Path, "/city/") || strings.HasPrefix(r.Path, "/region/")
}

// checkWords finds what would be sent as it is written, though it looks as if it were filled in.
func checkWords(v strictyaml.Value, text string) {
	for _, word := range bench.Words(text) {
		v.Mistake(fmt.Sprintf("`%s` is filled in only in `path`, not here", word),
			fmt.Sprintf("write `{%s}` if the text %s is to be sent, or `${NAME}` for a variable of the environment", word, word))
	}
}

const (
	fixed   = "fixed"
	uniform = "uniform"
	zipf    = "zipf"
)

// ids is "uniform", "zipf", a list of ids, or a map.
type ids struct {
	Distribution string  `yaml:"distribution" strict:"required,oneof=fixed|uniform|zipf"`
	Fixed        []int64 `yaml:"fixed,flow,omitempty" strict:"min=1,max=100000"`
	Exponent     float64 `yaml:"exponent,omitempty" strict:"max=10"`
}

// UnmarshalStrict reads a distribution, a list of ids, or a map.
func (d *ids) UnmarshalStrict(v strictyaml.Value) {
	switch v.Kind() {
	case strictyaml.Scalar:
		d.Distribution, _ = v.Enum(uniform, zipf)
	case strictyaml.List:
		if v.Decode(&d.Fixed) {
			d.Distribution = fixed
			if n := len(d.Fixed); n == 0 || n > maxFixedIDs {
				v.Mistake(fmt.Sprintf("%d ids are given", n), fmt.Sprintf("write from 1 to %d", maxFixedIDs))
			}
		}
	default:
		type plain ids
		var p plain
		if !v.Decode(&p) {
			return
		}
		*d = ids(p)
		if d.Distribution == fixed && !v.Has("fixed") {
			v.At("fixed").Wrong("write the ids: `fixed: [3067696, 2950159]`")
		}
		if d.Distribution != fixed && v.Has("fixed") {
			v.At("fixed").Mistake("a list of ids is given, but they are drawn "+d.Distribution, "write `distribution: fixed` or remove the list")
		}
		if d.Distribution != zipf && v.Has("exponent") {
			v.At("exponent").Mistake("an exponent is given, but ids are drawn "+d.Distribution, "write `distribution: zipf` or remove the exponent")
		}
		if d.Distribution == zipf && v.Has("exponent") && d.Exponent <= 1 {
			v.At("exponent").Wrong("write a number above 1, up to 10")
		}
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
