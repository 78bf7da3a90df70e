package profile

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	defaultExponent = 1.1
	maxFixedIDs     = 100_000
)

// request is a request in a file. The method may be the key of the path: `get: /items`.
type request struct {
	Name      string            `yaml:"name" strict:"min=1,max=100"`
	Weight    int               `yaml:"weight"`
	Share     share             `yaml:"share"`
	Method    string            `yaml:"method"`
	Path      string            `yaml:"path"`
	Get       string            `yaml:"get"`
	Head      string            `yaml:"head"`
	Post      string            `yaml:"post"`
	Put       string            `yaml:"put"`
	Patch     string            `yaml:"patch"`
	Delete    string            `yaml:"delete"`
	Options   string            `yaml:"options"`
	Header    map[string]string `yaml:"header" strict:"max=50"`
	JSON      document          `yaml:"json"`
	Form      form              `yaml:"form"`
	Body      plainText         `yaml:"body"`
	File      string            `yaml:"file" strict:"min=1,max=1000"`
	Multipart fields            `yaml:"multipart"`
	IDs       ids               `yaml:"ids"`
	Languages []string          `yaml:"languages" strict:"min=1,max=100"`
	Expect    expect            `yaml:"expect"`
	Success   []int             `yaml:"success" strict:"min=1,max=100"`
	Timeout   time.Duration     `yaml:"timeout" strict:"min=1ms,max=1h"`
	Save      saves             `yaml:"save"`
	Follow    follow            `yaml:"follow"`
	Think     think             `yaml:"think"`
	Repeat    *repeated         `yaml:"repeat"`
	Pace      time.Duration     `yaml:"pace" strict:"min=1ms,max=1h"`
}

// UnmarshalStrict reads a map whose absent keys have defaults.
func (r *request) UnmarshalStrict(v strictyaml.Value) {
	type plain request
	var p plain
	v.Decode(&p)
	*r = request(p)
	given := 0
	for _, m := range r.methodKeys() {
		if v.Has(m.key) {
			given++
			r.Method, r.Path = m.method, *m.path
		}
	}
	switch {
	case given+count(v, "path") == 0:
		v.Mistake("no path", "write one, such as `get: /items/{item}` or `{method: POST, path: /orders}`")
	case given > 0 && v.Has("path"), given > 1, given > 0 && v.Has("method"):
		v.Mistake("several keys give a method or path", "keep one: `get: /items`, or `method` and `path`")
	}
	r.Method = cmp.Or(r.Method, http.MethodGet)
	if n := count(v, "json", "form", "body", "file", "multipart"); n > 1 {
		v.Mistake("several bodies", "keep one of `json`, `form`, `body`, `file`, `multipart`")
	}
	if r.File != "" {
		r.File = v.At("file").ResolvePath(r.File)
	}
	if !v.Has("share") && !v.Has("weight") {
		r.Weight = 1
	}
}

// methodKey is a key that names a method and has a path as its value.
type methodKey struct {
	key, method string
	path        *string
}

func (r *request) methodKeys() []methodKey {
	return []methodKey{
		{"get", http.MethodGet, &r.Get}, {"head", http.MethodHead, &r.Head}, {"post", http.MethodPost, &r.Post},
		{"put", http.MethodPut, &r.Put}, {"patch", http.MethodPatch, &r.Patch}, {"delete", http.MethodDelete, &r.Delete},
		{"options", http.MethodOptions, &r.Options},
	}
}

func count(v strictyaml.Value, keys ...string) (n int) {
	for _, key := range keys {
		if v.Has(key) {
			n++
		}
	}
	return n
}

var (
	token           = regexp.MustCompile("^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$") // RFC 9110, section 5.6.2
	braces          = regexp.MustCompile(`\{[^{}]*\}?`)
	languagePattern = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
)

const (
	fixed   = "fixed"
	uniform = "uniform"
	zipf    = "zipf"
)

// ids is "uniform", "zipf", a list of ids, or a map.
type ids bench.IDSpec

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

// weigh converts shares to weights. All or no items have shares, which add up to 100%.
func (f *file) weigh(v strictyaml.Value) {
	var shares []share
	var weights []*int
	for i := range f.Requests.all {
		one := &f.Requests.all[i]
		shares, weights = append(shares, one.Share), append(weights, &one.Weight)
	}
	for i := range f.Sessions {
		shares, weights = append(shares, f.Sessions[i].Share), append(weights, &f.Sessions[i].Weight)
	}
	given, sum, divisor := 0, 0, 0
	for i, s := range shares {
		if s == 0 {
			continue
		}
		given++
		*weights[i] = int(math.Round(float64(s) * 1e5))
		sum, divisor = sum+*weights[i], gcd(divisor, *weights[i])
	}
	switch {
	case given == 0:
		return
	case given < len(shares):
		v.At("requests").Mistake("only some requests have a share", "write one for each, or weights for all")
		return
	case sum < 99_990 || sum > 100_010:
		v.At("requests").Mistake("the shares add up to "+writeShare(float64(sum)/1e5), "they must add up to 100%")
	}
	for _, w := range weights {
		*w /= divisor
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// request returns r with what all requests of the file share; session is "" for a single request.
func (f *file) request(r request, session string) bench.Request {
	out := bench.Request{
		Name: r.Name, Session: session, Weight: r.Weight, Method: r.Method, Path: r.Path, Body: string(r.Body), BodyFile: r.File,
		IDs: bench.IDSpec(r.IDs), Languages: r.Languages, Timeout: r.Timeout, Save: r.Save,
		Think: bench.Think(r.Think), Success: r.Success, Follow: cmp.Or(r.Follow, f.Follow).redirects(),
		Repeat: r.Repeat.spec(), Pace: r.Pace, Multipart: r.Multipart,
	}
	if session != "" {
		out.Weight = 0
	}
	if header := maps.Clone(f.Header); len(header)+len(r.Header) > 0 {
		if header == nil {
			header = map[string]string{}
		}
		maps.Copy(header, r.Header)
		out.Header = header
	}
	switch {
	case r.JSON != "":
		out.Body, out.Encoding = string(r.JSON), bench.JSONBody
	case r.Form != "":
		out.Body, out.Encoding = string(r.Form), bench.FormBody
	}
	out.ExpectStatus, out.MoreStatuses = r.Expect.status()
	if more := maps.Clone(r.Expect); len(more) > 0 {
		if delete(more, "status"); len(more) > 0 {
			out.Expect = bench.Expectation(more)
		}
	}
	ofData := func(name string) bool {
		return bench.HasPlace(r.Path, name) && !f.saves(name, session) &&
			!slices.ContainsFunc(f.Variables, func(v bench.Variable) bool { return v.Name == name })
	}
	if ofData("id") {
		out.IDs.Distribution = cmp.Or(out.IDs.Distribution, uniform)
	}
	if ofData("language") && out.Languages == nil {
		out.Languages = kinds.Provided(f.Needs).Languages
	}
	if out.Name == "" {
		path, _, _ := strings.Cut(r.Path, "?")
		if out.Name = r.Method + " " + path; session != "" {
			out.Name = session + ": " + out.Name
		}
		out.Name = out.Name[:min(len(out.Name), 100)]
	}
	return out
}

// saves reports whether the setup or a session saves a value under a name.
func (f *file) saves(name, within string) bool {
	has := func(r request) bool {
		return slices.ContainsFunc(r.Save, func(s bench.Save) bool { return s.Name == name })
	}
	return slices.ContainsFunc(f.Setup, has) || slices.ContainsFunc(f.Sessions, func(s session) bool {
		return s.Name == within && (slices.ContainsFunc(s.Setup, has) || slices.ContainsFunc(s.Requests, has))
	})
}

func (f *file) requests(all []request) []bench.Request { return f.ofSession(all, "") }

func (f *file) ofSession(all []request, session string) (out []bench.Request) {
	for _, r := range all {
		out = append(out, f.request(r, session))
	}
	return out
}
