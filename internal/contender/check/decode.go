package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// raw keeps a value to be read later, when the variables are known.
type raw struct{ strictyaml.Value }

// UnmarshalStrict keeps the value.
func (r *raw) UnmarshalStrict(v strictyaml.Value) { r.Value = v }

// suiteFile is a suite as written in its file.
type suiteFile struct {
	Name   string         `yaml:"suite" strict:"required,min=1,max=60"`
	About  string         `yaml:"about"`
	Vars   map[string]any `yaml:"vars"`
	Groups raw            `yaml:"groups" strict:"required"`
}

// checkFile is one check as written in a suite.
type checkFile struct {
	Name    string        `yaml:"name" strict:"required,min=1,max=120"`
	Request string        `yaml:"request" strict:"required"`
	Query   raw           `yaml:"query"`
	Headers raw           `yaml:"headers"`
	Body    string        `yaml:"body"`
	Timeout time.Duration `yaml:"timeout" strict:"min=1ms,max=10m"`
	Expect  raw           `yaml:"expect" strict:"required"`
}

// UnmarshalStrict implements strictyaml.Unmarshaler.
func (s *Suite) UnmarshalStrict(v strictyaml.Value) {
	var file suiteFile
	if !v.Decode(&file) && !v.Has("groups") {
		return
	}
	s.Name = file.Name
	groups := v.At("groups")
	if groups.Kind() != strictyaml.Map {
		groups.Wrong("write the groups of endpoints, each with its list of checks")
	} else if len(groups.Fields()) == 0 {
		groups.Wrong("write at least one group with one check")
	}
	e := expander{vars: map[string]any{}}
	if v.Has("vars") {
		for _, f := range v.At("vars").Fields() {
			e.vars[f.Key] = expander{raw: true}.value(f.Value)
		}
	}
	for _, g := range groups.Fields() {
		s.Groups = append(s.Groups, Group{Name: g.Key, Checks: e.checks(g.Value)})
	}
}

func (e expander) checks(v strictyaml.Value) (checks []Check) {
	items := v.Items()
	if len(items) == 0 {
		v.Wrong("write a list of checks, each with `name`, `request` and `expect`")
	}
	for _, item := range items {
		c := e.check(item)
		if slices.ContainsFunc(checks, func(o Check) bool { return o.Name == c.Name && c.Name != "" }) {
			item.At("name").Wrong("write another name: an earlier check of this group has the same")
		}
		checks = append(checks, c)
	}
	return checks
}

func (e expander) check(v strictyaml.Value) Check {
	var f checkFile
	if !v.Decode(&f) && !v.Has("expect") {
		return Check{}
	}
	c := Check{Name: f.Name, Timeout: f.Timeout}
	if f.Request != "" {
		req, err := parseRequest(e.text(v.At("request"), f.Request))
		if err != nil {
			v.At("request").Wrong(err.Error())
		}
		c.Request = req
	}
	c.Request.Body = e.text(v.At("body"), f.Body)
	for _, p := range pairs(v, "query") {
		c.Request.addQuery(p.Key, e.scalar(p.Value))
	}
	c.Request.Header = http.Header{}
	for _, h := range pairs(v, "headers") {
		value := e.scalar(h.Value)
		if !plainHeader(h.Key, value) {
			h.Value.Wrong("write a header name and a value in printable ASCII")
			continue
		}
		c.Request.Header.Set(h.Key, value)
	}
	if v.Has("expect") {
		c.Expect = e.expect(v.At("expect"))
	}
	return c
}

func pairs(v strictyaml.Value, key string) []strictyaml.Field {
	return entries(v, key, "write names and values, such as `{language: cs}`")
}

// entries returns the entries of the map under key, none if the key is missing. hint says what to
// write if the value is not a map.
func entries(v strictyaml.Value, key, hint string) []strictyaml.Field {
	if !v.Has(key) {
		return nil
	}
	if v = v.At(key); v.Kind() != strictyaml.Map {
		v.Wrong(hint)
	}
	return v.Fields()
}

func plainHeader(name, value string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool { return !wordRune(c) && c != '-' }) &&
		value != "" && !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' })
}

// expander fills in variables. A text that is only `{{name}}` becomes the variable's value with its
// type; inside a longer text a variable becomes text.
type expander struct {
	vars   map[string]any
	places bool // texts have places for values of the request instead
	raw    bool // texts stay unchanged
}

func (e expander) text(v strictyaml.Value, s string) string {
	if e.places || e.raw {
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "{{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, ok := strings.Cut(rest, "}}")
		if !ok {
			v.Mistake("`{{` without `}}`", "write a variable as `{{name}}`")
			return ""
		}
		b.WriteString(format(e.lookup(v, name)))
		s = after
	}
}

func (e expander) lookup(v strictyaml.Value, name string) any {
	name = strings.TrimSpace(name)
	value, ok := e.vars[name]
	if !ok {
		v.Mistake(fmt.Sprintf("unknown variable `%s`", safe.Line(name, 60)),
			strictyaml.Suggest(name, "variables under `vars`", sortedKeys(e.vars)))
	}
	return value
}

func format(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// scalar returns the text of a scalar with the variables filled in.
func (e expander) scalar(v strictyaml.Value) string {
	s, _ := v.Text()
	return e.text(v, s)
}

// value returns v as a JSON value with the variables filled in.
func (e expander) value(v strictyaml.Value) any {
	switch v.Kind() {
	case strictyaml.List:
		list := []any{}
		for _, item := range v.Items() {
			list = append(list, e.value(item))
		}
		return list
	case strictyaml.Map:
		m := map[string]any{}
		for _, f := range v.Fields() {
			m[f.Key] = e.value(f.Value)
		}
		return m
	}
	s, isText := v.Any().(string)
	if number, ok := numberOf(v); ok {
		return number
	}
	if !isText {
		return v.Any()
	}
	if e.places {
		if t := e.template(s); t.parts != nil {
			return t
		} else {
			return t.text
		}
	}
	if !e.raw && strings.HasPrefix(s, "{{") && strings.HasSuffix(s, "}}") && strings.Count(s, "{{") == 1 {
		return e.lookup(v, s[2:len(s)-2])
	}
	return e.text(v, s)
}

// numberOf returns a number, exact at any size.
func numberOf(v strictyaml.Value) (json.Number, bool) {
	text, ok := v.JSONNumber()
	if ok && !jsonpath.IsNumber(text) {
		v.Wrong(fmt.Sprintf("write at most %d digits and an exponent of at most %d", jsonpath.MaxDigits, jsonpath.MaxExponent))
	}
	return json.Number(text), ok
}

// wholeOf returns a whole number, written as in JSON.
func wholeOf(v strictyaml.Value) (n int64, ok bool) {
	if _, ok = v.JSONNumber(); ok { // 0200 is not octal
		n, ok = v.Any().(int64)
	}
	return n, ok
}

// Raw returns an expectation in the form that is saved. Its numbers are json.Number.
func Raw(v strictyaml.Value) any {
	doc, err := jsonpath.Decode([]byte(v.JSON()))
	if errors.Is(err, jsonpath.ErrNumber) {
		v.Mistake(err.Error(), "put a text that looks like a number in quotes")
	} else if err != nil {
		v.Mistake(err.Error(), "")
	}
	return doc
}
