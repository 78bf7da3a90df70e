package check

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// ReadExpect reads what a response must be, outside a suite: its places are filled in with values
// of the request.
func ReadExpect(v strictyaml.Value) Expect { return expander{places: true}.expect(v) }

// ParseExpect reads what a response must be from a decoded JSON object, or from nil.
func ParseExpect(raw map[string]any) (e Expect, err error) {
	data, err := json.Marshal(raw) // JSON is YAML, and keeps numbers exact
	if err != nil {
		return e, err
	}
	err = strictyaml.DecodeThen("expect", data, new(any), func(v strictyaml.Value) { e = ReadExpect(v) })
	return e, err
}

// expectFile is what a response must be, as written in a file.
type expectFile struct {
	Status   raw              `yaml:"status"`
	Header   raw              `yaml:"header"`
	Body     *string          `yaml:"body"`
	Contains raw              `yaml:"contains"`
	MaxSize  strictyaml.Bytes `yaml:"max_size" strict:"min=1B,max=4MiB"`
	Message  raw              `yaml:"message"`
	JSON     raw              `yaml:"json"`
	Includes raw              `yaml:"json_includes"`
	At       raw              `yaml:"at"`
	Every    raw              `yaml:"every"`
	Some     raw              `yaml:"some"`
	None     raw              `yaml:"none"`
	Count    raw              `yaml:"count"`
	Keys     raw              `yaml:"keys"`
	Present  raw              `yaml:"present"`
	Schema   raw              `yaml:"schema"`
	Took     raw              `yaml:"took"`
}

// countBounds bound the length of a list.
type countBounds struct {
	Min int `yaml:"min" strict:"min=0"`
	Max int `yaml:"max" strict:"min=0"`
}

// tookBounds bound the time of a response.
type tookBounds struct {
	Min time.Duration `yaml:"min" strict:"min=0s,max=10m"`
	Max time.Duration `yaml:"max" strict:"min=1ms,max=10m"`
}

// expect reads what a response must be: status, headers, then the body, cheap matchers first.
func (e expander) expect(v strictyaml.Value) Expect {
	var f expectFile
	out := Expect{Status: []int{200}}
	if v.Kind() != strictyaml.Map {
		v.Wrong("write what the response must be, such as `{status: 404, message: id}`")
		return out
	}
	v.Decode(&f)
	add := func(m matcher) { out.matchers = append(out.matchers, m) }
	if v.Has("status") {
		out.Status = statuses(v.At("status"))
	}
	for _, h := range pairs(v, "header") {
		add(header(h.Key, e.template(e.scalar(h.Value))))
	}
	if f.MaxSize > 0 {
		add(size(int64(f.MaxSize)))
	}
	if f.Body != nil {
		add(body(e.template(e.text(v.At("body"), *f.Body))))
	}
	if v.Has("contains") {
		add(contains(e.templates(v.At("contains"))))
	}
	if v.Has("message") {
		add(message(e.templates(v.At("message"))))
	}
	e.json(v, add)
	if v.Has("took") {
		add(readTook(v.At("took")))
	}
	return out
}

// json reads the matchers of a JSON document.
func (e expander) json(v strictyaml.Value, add func(matcher)) {
	eachPath(v, "keys", func(p jsonpath.Path, v strictyaml.Value) {
		add(exactKeys(p, slices.Sorted(slices.Values(e.texts(v)))))
	})
	eachPath(v, "count", func(p jsonpath.Path, v strictyaml.Value) { add(readCount(p, v)) })
	if v.Has("present") {
		for _, entry := range listOrOne(v.At("present")) {
			add(present(readPaths(entry, e.scalar(entry))))
		}
	}
	eachPath(v, "at", func(p jsonpath.Path, v strictyaml.Value) {
		want := e.value(v)
		add(atPath(p, func(r *response, got any) error { return differences(r, p.String(), want, got, false, p.Keys()...) }))
	})
	eachPath(v, "every", func(p jsonpath.Path, v strictyaml.Value) { add(every(p, e.value(v))) })
	eachPath(v, "some", func(p jsonpath.Path, v strictyaml.Value) { add(includes(p, e.values(v), false)) })
	eachPath(v, "none", func(p jsonpath.Path, v strictyaml.Value) { add(includes(p, e.values(v), true)) })
	if v.Has("schema") {
		add(e.schema(v.At("schema")))
	}
	for _, key := range []string{"json", "json_includes"} {
		if v.Has(key) {
			want := e.value(v.At(key))
			add(document(func(r *response, doc any) error { return differences(r, "$", want, doc, key == "json_includes") }))
		}
	}
}

// eachPath calls do for each entry of a map whose keys are paths.
func eachPath(v strictyaml.Value, key string, do func(jsonpath.Path, strictyaml.Value)) {
	for _, f := range entries(v, key, "write paths and values, such as `{\"cities[0].id\": 1}`") {
		p, err := jsonpath.Parse(f.Key)
		if err != nil {
			f.Value.Mistake("`"+safe.Line(f.Key, 60)+"` is not a path", err.Error())
			continue
		}
		do(p, f.Value)
	}
}

// readPaths reads "a.path" or "one.path | another.path".
func readPaths(v strictyaml.Value, text string) (paths []jsonpath.Path) {
	for alternative := range strings.SplitSeq(text, "|") {
		p, err := jsonpath.Parse(strings.TrimSpace(alternative))
		if err != nil {
			v.Wrong(err.Error())
			break
		}
		paths = append(paths, p)
	}
	return paths
}

func readCount(p jsonpath.Path, v strictyaml.Value) matcher {
	if v.Kind() == strictyaml.Map {
		f := countBounds{Max: math.MaxInt}
		v.Decode(&f)
		if f.Min > f.Max {
			v.Wrong("write a `max` of at least `min`")
		}
		return counted(p, f.Min, f.Max)
	}
	n, ok := wholeOf(v)
	if !ok || n < 0 || n > math.MaxInt32 {
		v.Wrong("write a number of elements, or `{min: 1, max: 10}`")
	}
	return counted(p, int(n), int(n))
}

func readTook(v strictyaml.Value) matcher {
	var f tookBounds
	if v.Kind() != strictyaml.Map {
		v.Wrong("write `{min: 50ms}`, `{max: 2s}` or both")
	} else if v.Decode(&f); f.Max > 0 && f.Min > f.Max {
		v.Wrong("write a `max` of at least `min`")
	}
	return took(f.Min, f.Max)
}

func statuses(v strictyaml.Value) (out []int) {
	for _, item := range listOrOne(v) {
		if item.Any() == bench.Any2xx {
			out = append(out, bench.All2xx()...)
			continue
		}
		n, ok := wholeOf(item)
		if !ok || n < 100 || n > 599 {
			item.Wrong("write a status from 100 to 599, `2xx`, or a list of them")
			continue
		}
		out = append(out, int(n))
	}
	return out
}

// listOrOne returns the items of a list, or the value alone if it is not one.
func listOrOne(v strictyaml.Value) []strictyaml.Value {
	if v.Kind() != strictyaml.List {
		return []strictyaml.Value{v}
	}
	if len(v.Items()) == 0 {
		v.Wrong("write at least one value")
	}
	return v.Items()
}

func (e expander) texts(v strictyaml.Value) (out []string) {
	for _, item := range listOrOne(v) {
		s := e.scalar(item)
		if s == "" {
			item.Wrong("write a non-empty text")
		}
		out = append(out, s)
	}
	return out
}

func (e expander) templates(v strictyaml.Value) (out []template) {
	for _, text := range e.texts(v) {
		out = append(out, e.template(text))
	}
	return out
}

func (e expander) values(v strictyaml.Value) (out []any) {
	for _, item := range listOrOne(v) {
		out = append(out, e.value(item))
	}
	return out
}
