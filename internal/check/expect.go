package check

import (
	"math"
	"slices"
	"strings"
	"time"

	"locbench/internal/safe"
	"locbench/internal/strictyaml"
)

// expect reads what an answer must be. Matchers are kept in this order: status, headers, then the
// body from rough to fine.
func (e expander) expect(v strictyaml.Value) Expect {
	var f struct {
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
		Took     raw              `yaml:"took"`
	}
	out := Expect{Status: []int{200}}
	if v.Kind() != strictyaml.Map {
		v.Wrong("write what the answer must be, for example `{status: 404, message: id}`")
		return out
	}
	v.Decode(&f)
	add := func(m matcher) { out.matchers = append(out.matchers, m) }
	if v.Has("status") {
		out.Status = statuses(v.At("status"))
	}
	for _, h := range pairs(v, "header") {
		add(headerMatch{h.Key, e.scalar(h.Value)})
	}
	if f.MaxSize > 0 {
		add(sizeMatch{int64(f.MaxSize)})
	}
	if f.Body != nil {
		add(bodyMatch{e.text(v.At("body"), *f.Body)})
	}
	if v.Has("contains") {
		add(containsMatch{e.texts(v.At("contains"))})
	}
	if v.Has("message") {
		add(messageMatch{e.texts(v.At("message"))})
	}
	e.json(v, add)
	if v.Has("took") {
		add(took(v.At("took")))
	}
	return out
}

// json reads the matchers of a JSON document.
func (e expander) json(v strictyaml.Value, add func(matcher)) {
	for _, p := range pathPairs(v, "keys") {
		keys := e.texts(p.value)
		slices.Sort(keys)
		add(keysMatch{p.path, keys})
	}
	for _, p := range pathPairs(v, "count") {
		add(count(p.path, p.value))
	}
	if v.Has("present") {
		for _, entry := range listOrOne(v.At("present")) {
			add(present(entry, e.scalar(entry)))
		}
	}
	for _, p := range pathPairs(v, "at") {
		add(atMatch{p.path, e.value(p.value)})
	}
	for _, p := range pathPairs(v, "every") {
		add(everyMatch{p.path, e.value(p.value)})
	}
	for _, p := range pathPairs(v, "some") {
		add(someMatch{path: p.path, want: e.values(p.value)})
	}
	for _, p := range pathPairs(v, "none") {
		add(someMatch{path: p.path, want: e.values(p.value), none: true})
	}
	if v.Has("json") {
		add(jsonMatch{want: e.value(v.At("json"))})
	}
	if v.Has("json_includes") {
		add(jsonMatch{want: e.value(v.At("json_includes")), partly: true})
	}
}

type pathPair struct {
	path  path
	value strictyaml.Value
}

// pathPairs are the entries of a map whose keys are paths.
func pathPairs(v strictyaml.Value, key string) (out []pathPair) {
	if !v.Has(key) {
		return nil
	}
	v = v.At(key)
	if v.Kind() != strictyaml.Map {
		v.Wrong("write paths and values, for example `{\"cities[0].id\": 1}`")
		return nil
	}
	for _, f := range v.Fields() {
		p, err := parsePath(f.Key)
		if err != nil {
			f.Value.Mistake("`"+safe.Line(f.Key, 60)+"` is no path", err.Error())
			continue
		}
		out = append(out, pathPair{p, f.Value})
	}
	return out
}

// present reads "a.path" or "one.path | another.path".
func present(v strictyaml.Value, text string) presentMatch {
	var m presentMatch
	for alternative := range strings.SplitSeq(text, "|") {
		p, err := parsePath(strings.TrimSpace(alternative))
		if err != nil {
			v.Wrong(err.Error())
			return m
		}
		m.paths = append(m.paths, p)
	}
	return m
}

func count(p path, v strictyaml.Value) countMatch {
	m := countMatch{path: p, max: math.MaxInt}
	if v.Kind() == strictyaml.Map {
		var f struct {
			Min int  `yaml:"min" strict:"min=0"`
			Max *int `yaml:"max" strict:"min=0"`
		}
		v.Decode(&f)
		m.min = f.Min
		if f.Max != nil {
			m.max = *f.Max
		}
		if m.min > m.max {
			v.Wrong("write a `max` that is not below `min`")
		}
		return m
	}
	n, ok := v.Any().(int64)
	if !ok || n < 0 || n > math.MaxInt32 {
		v.Wrong("write a number of elements, or `{min: 1, max: 10}`")
		return m
	}
	m.min, m.max = int(n), int(n)
	return m
}

func took(v strictyaml.Value) tookMatch {
	var f struct {
		Min time.Duration `yaml:"min" strict:"min=0s,max=10m"`
		Max time.Duration `yaml:"max" strict:"min=1ms,max=10m"`
	}
	if v.Kind() != strictyaml.Map {
		v.Wrong("write `{min: 50ms}`, `{max: 2s}` or both")
		return tookMatch{}
	}
	v.Decode(&f)
	if f.Max > 0 && f.Min > f.Max {
		v.Wrong("write a `max` that is not below `min`")
	}
	return tookMatch{f.Min, f.Max}
}

func statuses(v strictyaml.Value) (out []int) {
	for _, item := range listOrOne(v) {
		n, ok := item.Any().(int64)
		if !ok || n < 100 || n > 599 {
			item.Wrong("write a status from 100 to 599, or a list of them")
			continue
		}
		out = append(out, int(n))
	}
	return out
}

// listOrOne are the items of a list, or the value alone if it is none.
func listOrOne(v strictyaml.Value) []strictyaml.Value {
	if v.Kind() != strictyaml.List {
		return []strictyaml.Value{v}
	}
	if len(v.Items()) == 0 {
		v.Wrong("write at least one")
	}
	return v.Items()
}

func (e expander) texts(v strictyaml.Value) (out []string) {
	for _, item := range listOrOne(v) {
		s := e.scalar(item)
		if s == "" {
			item.Wrong("write a text that is not empty")
		}
		out = append(out, s)
	}
	return out
}

func (e expander) values(v strictyaml.Value) (out []any) {
	for _, item := range listOrOne(v) {
		out = append(out, e.value(item))
	}
	return out
}
