// Package jsonpath finds values in JSON documents by paths such as `cities[0].id`.
package jsonpath

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Path leads to values inside a JSON document: `cities[0].id`, `cities[*].id`,
// `paths["/city/v1/get"].get`. `$` is the whole document. With `[*]` it leads to a list of values,
// one for each element.
type Path struct {
	text  string
	steps []step
}

// step goes one level down: to a key (string), an element (int), or all elements (nil).
type step any

var errPath = errors.New("write a path such as `cities[0].id`, `cities[*].id` or `paths[\"/city/v1/get\"].get`")

// stepPattern matches `.key`, `["key"]`, `[number]` or `[*]` where the rest of a path begins.
var stepPattern = regexp.MustCompile(`(?s)^(?:\.(?P<key>[^.[\]" ]+)|\["(?P<quoted>.*?)"\]|\[(?P<number>\d+)\]|\[\*\])`)

// Parse reads a path. The text of its error is a hint that says what to write.
func Parse(s string) (Path, error) {
	p := Path{text: s}
	rest := strings.TrimSpace(s)
	if rest == "" || len(rest) > 500 {
		return p, errPath
	}
	if after, ok := strings.CutPrefix(rest, "$"); ok && (after == "" || after[0] == '.' || after[0] == '[') {
		rest = after
	} else if rest[0] != '[' {
		rest = "." + rest
	}
	for rest != "" {
		found := stepPattern.FindStringSubmatch(rest)
		if found == nil {
			return p, errPath
		}
		var next step // all elements
		if number := found[3]; number != "" {
			n, err := strconv.Atoi(number)
			if err != nil {
				return p, errPath
			}
			next = n
		} else if found[0] != "[*]" {
			next = found[1] + found[2]
		}
		p.steps, rest = append(p.steps, next), rest[len(found[0]):]
	}
	return p, nil
}

// String returns the path in its original form.
func (p Path) String() string { return p.text }

// Keys returns the names of the objects' keys on the path, in order.
func (p Path) Keys() (names []string) {
	for _, s := range p.steps {
		if name, ok := s.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// Find returns the values at the path. ok is false if one of its branches does not exist.
func (p Path) Find(doc any) (values []any, ok bool) {
	values = []any{doc}
	for _, s := range p.steps {
		next := []any{}
		for _, v := range values {
			object, _ := v.(map[string]any)
			list, isList := v.([]any)
			switch s := s.(type) {
			case string:
				child, has := object[s]
				if !has {
					return nil, false
				}
				next = append(next, child)
			case int:
				if s >= len(list) {
					return nil, false
				}
				next = append(next, list[s])
			default:
				if !isList {
					return nil, false
				}
				next = append(next, list...)
			}
		}
		values = next
	}
	return values, true
}

// Value returns the value at the path, or with `[*]` the list of values.
func (p Path) Value(doc any) (any, bool) {
	values, ok := p.Find(doc)
	switch {
	case !ok:
		return nil, false
	case p.Many():
		return values, true
	}
	return values[0], true
}

// Many reports whether the path has `[*]` and so leads to a list of values.
func (p Path) Many() bool { return slices.Contains(p.steps, nil) }
