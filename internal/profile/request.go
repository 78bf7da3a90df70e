package profile

import (
	"fmt"
	"net/http"
	"net/textproto"
	"regexp"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
)

const (
	defaultExponent = 1.1
	maxFixedIDs     = 100_000
)

// request is one kind of request in the mix.
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
	if r.Name == "" {
		path, _, _ := strings.Cut(r.Path, "?")
		r.Name = r.Method + " " + path
		if len(r.Name) > 100 {
			r.Name = r.Name[:100]
		}
	}
}

var (
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
	id, language := false, false
	for _, name := range placeholder.FindAllString(r.Path, -1) {
		switch name {
		case "{id}":
			id = true
		case "{language}":
			language = true
		default:
			v.At("path").Wrong(fmt.Sprintf("only `{id}` and `{language}` are filled in, not `%s`", name))
		}
	}
	switch {
	case !id && v.Has("ids"):
		v.At("ids").Mistake("`ids` are given, but the path has no `{id}`", "write `{id}` into the path or remove `ids`")
	case id && r.IDs.Distribution == "":
		r.IDs.Distribution = uniform
	}
	switch {
	case !language && v.Has("languages"):
		v.At("languages").Mistake("`languages` are given, but the path has no `{language}`", "write `{language}` into the path or remove `languages`")
	case language && !v.Has("languages"):
		r.Languages = []string{"cs", "de", "en", "pl", "sk"}
	}
	for i, item := range v.At("languages").Items() {
		if i < len(r.Languages) && !languagePattern.MatchString(r.Languages[i]) {
			item.Wrong("write a language such as `cs`")
		}
	}
}

func (r *request) checkHeader(v strictyaml.Value) {
	for _, f := range v.At("header").Fields() {
		value := r.Header[f.Key]
		if textproto.TrimString(f.Key) == "" || strings.ContainsFunc(f.Key, notToken) {
			f.Value.Mistake(fmt.Sprintf("%q is no name of a header", f.Key), "write letters, digits and `-`, for example `Accept`")
		}
		if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			f.Value.Wrong("write a value of one line")
		}
	}
}

// notToken follows RFC 9110, section 5.6.2.
func notToken(c rune) bool {
	alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	return !alphanumeric && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
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
		IDs:       bench.IDSpec{Distribution: r.IDs.Distribution, Fixed: r.IDs.Fixed, Exponent: r.IDs.Exponent},
		Languages: r.Languages, ExpectStatus: r.ExpectStatus,
	}
}

func requestOf(r bench.Request) request {
	return request{
		Name: r.Name, Weight: r.Weight, Method: r.Method, Path: r.Path, Header: r.Header, Body: r.Body,
		IDs:       ids{r.IDs.Distribution, r.IDs.Fixed, r.IDs.Exponent},
		Languages: r.Languages, ExpectStatus: r.ExpectStatus,
	}
}
