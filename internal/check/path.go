package check

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// path leads to values inside a JSON document: `cities[0].id`, `cities[*].id`,
// `paths["/city/v1/get"].get`. `$` is the whole document. With `[*]` it leads to a list of values,
// one for each element.
type path struct {
	text  string
	steps []pathStep
}

// pathStep goes one level down: to a key (string), to an element (int), or to all elements (nil).
type pathStep any

var errPath = errors.New("write a path such as `cities[0].id`, `cities[*].id` or `paths[\"/city/v1/get\"].get`")

func parsePath(s string) (path, error) {
	p := path{text: s}
	rest := strings.TrimSpace(s)
	if rest == "" || len(rest) > 500 {
		return p, errPath
	}
	if after, ok := strings.CutPrefix(rest, "$"); ok && (after == "" || after[0] == '.' || after[0] == '[') {
		rest = strings.TrimPrefix(after, ".")
		if after == "." {
			return p, errPath
		}
	}
	for first := true; rest != ""; first = false {
		var step pathStep
		var err error
		switch {
		case rest[0] == '[':
			step, rest, err = bracket(rest)
		case first:
			step, rest, err = dotted(rest)
		case rest[0] == '.':
			step, rest, err = dotted(rest[1:])
		default:
			err = errPath
		}
		if err != nil {
			return p, err
		}
		p.steps = append(p.steps, step)
	}
	return p, nil
}

func dotted(s string) (pathStep, string, error) {
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	if end == 0 || strings.ContainsAny(s[:end], `]" `) {
		return nil, "", errPath
	}
	return s[:end], s[end:], nil
}

func bracket(s string) (pathStep, string, error) {
	if strings.HasPrefix(s, `["`) {
		end := strings.Index(s, `"]`)
		if end < 2 {
			return nil, "", errPath
		}
		return s[2:end], s[end+2:], nil
	}
	inside, rest, ok := strings.Cut(s[1:], "]")
	if !ok {
		return nil, "", errPath
	}
	if inside == "*" {
		return nil, rest, nil
	}
	n, err := strconv.Atoi(inside)
	if err != nil || n < 0 || inside[0] == '+' {
		return nil, "", errPath
	}
	return n, rest, nil
}

// find returns the values that the path leads to. ok is false if one of the ways does not exist.
func (p path) find(doc any) (values []any, ok bool) {
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

// value is what the path leads to: one value, or with `[*]` the list of them.
func (p path) value(doc any) (any, bool) {
	values, ok := p.find(doc)
	if !ok || slices.Contains(p.steps, nil) {
		return values, ok
	}
	return values[0], true
}
