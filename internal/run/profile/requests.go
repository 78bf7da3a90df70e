package profile

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	defaultExponent = 1.1
	maxFixedIDs     = 100_000
	maxRequestName  = 100 // bytes

	fixed   = "fixed"
	uniform = "uniform"
	zipf    = "zipf"
)

// methods are those that have a key.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}

// request is a request as a file has it.
type request struct {
	bench.Request
	requestKeys
}

// requestKeys are the keys whose form is another one than that of the fields of bench.Request. The
// method may be the key of the path: `get: /items`.
type requestKeys struct {
	Share   float64  `yaml:"share" strict:"percent"`
	Get     string   `yaml:"get"`
	Head    string   `yaml:"head"`
	Post    string   `yaml:"post"`
	Put     string   `yaml:"put"`
	Patch   string   `yaml:"patch"`
	Delete  string   `yaml:"delete"`
	Options string   `yaml:"options"`
	JSON    document `yaml:"json"`
	Form    form     `yaml:"form"`
	Expect  expect   `yaml:"expect"`
	Follow  *follow  `yaml:"follow"`
}

// UnmarshalStrict reads a map whose absent keys have defaults.
func (r *request) UnmarshalStrict(v strictyaml.Value) {
	keys := &r.requestKeys
	v.Struct(&r.Request, keys)
	given := 0
	for i, path := range []string{keys.Get, keys.Head, keys.Post, keys.Put, keys.Patch, keys.Delete, keys.Options} {
		if v.Has(strings.ToLower(methods[i])) {
			given++
			r.Method, r.Path = methods[i], path
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
	switch {
	case keys.JSON != "":
		r.Body, r.Encoding = string(keys.JSON), bench.JSONBody
	case keys.Form != "":
		r.Body, r.Encoding = string(keys.Form), bench.FormBody
	}
	r.ExpectStatus, r.Request.Expect = http.StatusOK, keys.Expect.rest
	if all := keys.Expect.statuses; len(all) > 0 {
		r.ExpectStatus, r.MoreStatuses = all[0], all[1:]
	}
	if !v.Has("share") && !v.Has("weight") {
		r.Weight = 1
	}
}

// readIDs reads "uniform", "zipf", a list of ids, or a map.
func readIDs(v strictyaml.Value, d *bench.IDSpec) {
	switch v.Kind() {
	case strictyaml.Scalar:
		d.Distribution, _ = v.Enum(uniform, zipf)
	case strictyaml.List:
		d.Distribution = fixed
		v.Decode(&d.Fixed)
	default:
		v.Struct(d)
	}
	if d.Distribution == zipf && d.Exponent == 0 {
		d.Exponent = defaultExponent
	}
}

// weigh converts shares to weights. All or no items have shares, which add up to 100%.
func (f *file) weigh(v strictyaml.Value) {
	var shares []float64
	var weights []*int
	for i := range f.keys.Requests.all {
		one := &f.keys.Requests.all[i]
		shares, weights = append(shares, one.Share), append(weights, &one.Weight)
	}
	for i := range f.keys.Sessions {
		one := &f.keys.Sessions[i]
		shares, weights = append(shares, one.Share), append(weights, &one.Weight)
	}
	given, sum, divisor := 0, 0, 0
	for i, s := range shares {
		if s == 0 {
			continue
		}
		given++
		*weights[i] = int(math.Round(s * 1e5))
		sum, divisor = sum+*weights[i], gcd(divisor, *weights[i])
	}
	switch {
	case given == 0:
		return
	case given < len(shares):
		v.At("requests").Mistake("only some requests have a share", "write one for each, or weights for all")
		return
	case sum < 99_990 || sum > 100_010:
		v.At("requests").Mistake("the shares add up to "+strictyaml.FormatShare(float64(sum)/1e5), "they must add up to 100%")
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

// mix fills in the requests of the profile: single ones, then those of the sessions, each after its
// setup.
func (f *file) mix() {
	p := &f.Profile
	p.Setup, p.Teardown = f.requests(f.keys.Setup, "", true), f.requests(f.keys.Teardown, "", false)
	p.Requests = f.requests(f.keys.Requests.all, "", false)
	for _, s := range f.keys.Sessions {
		p.Sessions = append(p.Sessions, s.Session)
		p.Requests = append(p.Requests, f.requests(s.Setup, s.Name, true)...)
		p.Requests = append(p.Requests, f.requests(s.Requests, s.Name, false)...)
	}
}

// requests returns requests with what all of the file share, and with defaults; session is "" for
// single ones. Those of a setup lack a shared header until its variable is saved.
func (f *file) requests(all []request, session string, setup bool) (out []bench.Request) {
	for i, r := range all {
		if r.Session = session; session != "" {
			r.Weight, r.SetUp = 0, setup
		}
		r.Header = maps.Clone(r.Header)
		for name, value := range f.keys.Header {
			_, own := r.Header[name]
			if own || setup && slices.ContainsFunc(all[i:], func(later request) bool { return later.savesPlace(value) }) {
				continue
			}
			if r.Header == nil {
				r.Header = map[string]string{}
			}
			r.Header[name] = value
		}
		if many := cmp.Or(r.requestKeys.Follow, f.keys.Follow); many != nil {
			r.Request.Follow = int(*many)
		}
		if f.ofData(r, "id") {
			r.IDs.Distribution = cmp.Or(r.IDs.Distribution, uniform)
		}
		if f.ofData(r, "language") && r.Languages == nil {
			r.Languages = kinds.Provided(f.Needs).Languages
		}
		if r.Name == "" {
			path, _, _ := strings.Cut(r.Path, "?")
			if r.Name = r.Method + " " + path; session != "" {
				r.Name = session + ": " + r.Name
			}
			r.Name = r.Name[:min(len(r.Name), maxRequestName)]
		}
		out = append(out, r.Request)
	}
	return out
}

// ofData reports whether a path has a place for values of the data set: none of its own.
func (f *file) ofData(r request, name string) bool {
	saves := func(r request) bool {
		return slices.ContainsFunc(r.Save, func(s bench.Save) bool { return s.Name == name })
	}
	return bench.HasPlace(r.Path, name) && !slices.ContainsFunc(f.keys.Setup, saves) &&
		!slices.ContainsFunc(f.Variables, func(v bench.Variable) bool { return v.Name == name }) &&
		!slices.ContainsFunc(f.keys.Sessions, func(s session) bool {
			return s.Name == r.Session && (slices.ContainsFunc(s.Setup, saves) || slices.ContainsFunc(s.Requests, saves))
		})
}

// savesPlace reports whether the request saves a variable that a text has.
func (r request) savesPlace(text string) bool {
	return slices.ContainsFunc(r.Save, func(s bench.Save) bool { return bench.HasPlace(text, s.Name) })
}

// usualStatuses returns the statuses that mean success for a method, where the user names none:
// what writes may create, accept, or return nothing.
func usualStatuses(method string) []int {
	if method == http.MethodGet || method == http.MethodHead {
		return []int{http.StatusOK}
	}
	all := []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent}
	if !slices.Contains(methods, method) {
		all = append(all, http.StatusMultiStatus) // PROPFIND and others of WebDAV
	}
	return all
}
