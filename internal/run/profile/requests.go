package profile

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/values"
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
		r.ExpectStatus, r.MoreStatuses = all[0], append(r.MoreStatuses, all[1:]...)
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

// expect is what a response must be, as in a check suite.
type expect struct {
	statuses []int             // none without the key
	rest     bench.Expectation // with any schema file read
}

// UnmarshalStrict checks the expectations and keeps them.
func (e *expect) UnmarshalStrict(v strictyaml.Value) {
	compiled := check.ReadExpect(v)
	raw, ok := check.Raw(v).(map[string]any)
	if !ok {
		return
	}
	if v.Has("took") {
		v.At("took").Mistake("`took` is for check suites", "write a threshold, such as `thresholds: [p99<50ms]`")
	}
	if _, ok := raw["schema"].(string); ok {
		if doc, err := check.ReadSchema(v.At("schema")); err == nil { // ReadExpect has reported an error
			raw["schema"] = doc
		}
	}
	if v.Has("status") {
		e.statuses = compiled.Status
	}
	if delete(raw, "status"); len(raw) > 0 {
		e.rest = raw
	}
}

const (
	defaultEvery = 100 * time.Millisecond
	defaultMost  = 20
)

// readRepeat reads until when a request is sent again. Absent keys have defaults.
func readRepeat(v strictyaml.Value, r *bench.Repeat) {
	var end struct {
		Until expect `yaml:"until" strict:"required" example:"{status: 200}"`
	}
	r.Every, r.Most = defaultEvery, defaultMost
	v.Struct(&end, r)
	if r.Status, r.Until = end.Until.statuses, end.Until.rest; v.Has("until") && r.Status == nil && r.Until == nil {
		v.At("until").Mistake("`until` is empty", "write what the last response must be, such as `{status: 200}`")
	}
}

// repeat reports a repetition that never ends, as no expected status ends it.
func (r *rules) repeat(at string, req bench.Request) {
	if req.Repeat == nil {
		return
	}
	for _, status := range req.Repeat.Status {
		expected := append(req.Expected(), status)
		r.when(!slices.Contains(req.Expected(), status), at+".repeat.until",
			fmt.Sprintf("%d ends the repetition, but is not an expected status", status),
			fmt.Sprintf("expect it, and what comes before it: `expect: {status: %s}`", list(expected)))
	}
	one := len(req.Repeat.Status) > 0 && len(req.Repeat.Until) == 0 &&
		!slices.ContainsFunc(req.Expected(), func(s int) bool { return !slices.Contains(req.Repeat.Status, s) })
	r.when(one, at+".repeat", "each expected status ends the repetition, so nothing is repeated",
		"expect the status that comes before it, too, such as `expect: {status: "+list(append(req.Expected(), 202))+"}`")
}

func list(statuses []int) string {
	return strings.ReplaceAll(fmt.Sprint(slices.Compact(statuses)), " ", ", ")
}

// document is a JSON body, which may have places for variables.
type document string

// UnmarshalStrict takes any value.
func (d *document) UnmarshalStrict(v strictyaml.Value) { *d = document(v.JSON()) }

// form is a form body, which may have places for variables.
type form string

// UnmarshalStrict reads names and values, in their order.
func (f *form) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() != strictyaml.Map {
		v.Wrong("write names and values, such as `{user: \"{user}\", page: 1}`")
	}
	var pairs []string
	for _, field := range v.Fields() {
		text, _ := field.Value.Text()
		pairs = append(pairs, url.QueryEscape(field.Key)+"="+bench.Escaped(text, url.QueryEscape))
	}
	*f = form(strings.Join(pairs, "&"))
}

const fieldsHint = "write names and values, such as `{title: lamp, picture: {file: lamp.jpg}}`"

// mediaTypes are those of files without a type, by extension: the same on every machine.
var mediaTypes = map[string]string{
	".avif": "image/avif", ".bmp": "image/bmp", ".css": "text/css", ".csv": "text/csv", ".gif": "image/gif",
	".gz": "application/gzip", ".htm": "text/html", ".html": "text/html", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
	".js": "text/javascript", ".json": "application/json", ".md": "text/markdown", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
	".pdf": "application/pdf", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain", ".wav": "audio/wav",
	".webm": "video/webm", ".webp": "image/webp", ".xml": "text/xml", ".yaml": "application/yaml",
	".yml": "application/yaml", ".zip": "application/zip",
}

const binary = "application/octet-stream"

// readFields reads the fields of a multipart body, `title: lamp` and `picture: {file: lamp.jpg}`, and
// lists of these.
func readFields(v strictyaml.Value, all *[]bench.Field) {
	if v.Kind() != strictyaml.Map || len(v.Fields()) == 0 {
		v.Wrong(fieldsHint)
		return
	}
	for _, f := range v.Fields() {
		items := []strictyaml.Value{f.Value}
		if f.Value.Kind() == strictyaml.List {
			items = f.Value.Items()
		}
		for _, item := range items {
			if one := (bench.Field{Name: f.Key}); readField(item, &one) {
				*all = append(*all, one)
			}
		}
	}
}

func readField(v strictyaml.Value, f *bench.Field) bool {
	if v.Kind() == strictyaml.Scalar {
		f.Value, _ = v.Text()
		return true
	}
	if !v.Struct(f) {
		return false
	}
	if count(v, "value", "file") != 1 {
		v.Mistake("a field is a value or a file", fieldsHint)
		return false
	}
	if f.File != "" {
		f.FileName = cmp.Or(f.FileName, bench.Literal(filepath.Base(f.File)))
		f.Type = cmp.Or(f.Type, mediaTypes[strings.ToLower(filepath.Ext(f.File))], binary)
		f.File = v.ResolvePath(f.File)
	}
	return true
}

// multipart reports what is wrong with the fields of a body.
func (r *rules) multipart(at string, req bench.Request) {
	for _, f := range req.Multipart {
		of := at + ".multipart." + f.Name
		if err := values.CheckBody(f.File); err != nil {
			r.when(true, of, err.Error(), "write the path of a file, relative to the profile")
		}
		kind, _, err := mime.ParseMediaType(f.Type)
		r.when(f.Type != "" && (err != nil || !strings.Contains(kind, "/") || strings.ContainsAny(f.Type, "\r\n")), of,
			fmt.Sprintf("%q is not a media type", f.Type), "write one such as `image/png`")
	}
	for name := range req.Header {
		r.when(len(req.Multipart) > 0 && strings.EqualFold(name, "Content-Type"), at+".header."+name,
			"`multipart` has its own Content-Type, with the boundary", "remove the header")
	}
}
