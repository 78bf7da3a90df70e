// Package jsonpath finds values in JSON documents by paths such as `cities[0].id`.
package jsonpath

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/bits"
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

// Scan returns the bytes of the value at the path in body: a text with its quotes, a number, true,
// a list. It reads nothing after the value and does not allocate. ok is false if there is no value,
// if the path has `[*]`, and if the part before the value is not JSON.
func (p Path) Scan(body []byte) (value []byte, ok bool) {
	if p.Many() {
		return nil, false
	}
	return p.ScanOne(body, 0)
}

// ScanOne is Scan of one element of each list that `[*]` stands for. The random number draws it:
// all elements are equally likely.
func (p Path) ScanOne(body []byte, random uint64) (value []byte, ok bool) {
	s := scanner{body}
	for _, next := range p.steps {
		if !s.to(next, &random) {
			return nil, false
		}
	}
	s.blanks()
	from := s.rest
	if !s.skip() {
		return nil, false
	}
	return from[:len(from)-len(s.rest)], true
}

// Repeats reports whether an object on the path repeats the key that the path has there. Decode
// refuses such documents. The random number is that of ScanOne.
func (p Path) Repeats(body []byte, random uint64) bool {
	s := scanner{body}
	for _, next := range p.steps {
		if key, ok := next.(string); ok {
			rest, found := s, 0
			twice, _ := rest.each('{', func(quoted []byte, _ int) bool {
				if isKey(quoted, key) {
					found++
				}
				return found > 1
			})
			if twice {
				return true
			}
		}
		if !s.to(next, &random) {
			return false
		}
	}
	return false
}

// to goes to a key, an element, or one drawn at random.
func (s *scanner) to(next step, random *uint64) (found bool) {
	if key, ok := next.(string); ok {
		found, _ = s.each('{', func(quoted []byte, _ int) bool { return isKey(quoted, key) })
		return found
	}
	n, ok := next.(int)
	if !ok {
		var elements uint64
		rest := *s
		if _, whole := rest.each('[', func([]byte, int) bool { elements++; return false }); !whole || elements == 0 {
			return false
		}
		var high uint64
		high, *random = bits.Mul64(*random, elements) // the rest is for a list within it
		n = int(high)
	}
	found, _ = s.each('[', func(_ []byte, i int) bool { return i == n })
	return found
}

// each goes through the members of an object, with their keys in quotes, or the elements of a list,
// with their numbers. Where stop returns true it stops before that value. whole: it has read all.
func (s *scanner) each(open byte, stop func(quoted []byte, n int) bool) (stopped, whole bool) {
	end := open + 2 // '}' or ']'
	if !s.take(open) || s.take(end) {
		return false, false
	}
	for n := 0; ; n++ {
		s.blanks()
		quoted := s.rest
		if open == '{' {
			if len(quoted) == 0 || quoted[0] != '"' || !s.skip() {
				return false, false
			}
			quoted = quoted[:len(quoted)-len(s.rest)]
			if !s.take(':') {
				return false, false
			}
		}
		if stop(quoted, n) {
			return true, false
		}
		if !s.skip() {
			return false, false
		}
		if !s.take(',') {
			return false, s.take(end)
		}
	}
}

// Text appends the content of a JSON text to dst, or any other value unchanged.
func Text(dst, value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return append(dst, value...)
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return append(dst, inner...)
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return append(dst, value[1:len(value)-1]...)
	}
	return append(dst, text...)
}

// scanner reads JSON from its beginning. Its methods return false if the JSON is not as expected.
type scanner struct{ rest []byte }

func (s *scanner) blanks() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\t' || s.rest[0] == '\r') {
		s.rest = s.rest[1:]
	}
}

// take skips blanks and reads c.
func (s *scanner) take(c byte) bool {
	s.blanks()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// isKey reports whether a text in quotes is the key.
func isKey(quoted []byte, key string) bool {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		return string(Text(nil, quoted)) == key
	}
	return string(inner) == key
}

// skip skips one value.
func (s *scanner) skip() bool {
	s.blanks()
	if len(s.rest) == 0 {
		return false
	}
	switch s.rest[0] {
	case '"':
		return s.skipText()
	case '{', '[':
		return s.skipNested()
	}
	n := bytes.IndexAny(s.rest, delimiters)
	if n < 0 {
		n = len(s.rest)
	}
	ok := json.Valid(s.rest[:n])
	s.rest = s.rest[n:]
	return ok
}

func (s *scanner) skipText() bool {
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '"':
			s.rest = s.rest[i+1:]
			return true
		}
	}
	return false
}

// skipNested skips an object or a list by counting braces and brackets.
func (s *scanner) skipNested() bool {
	depth := 0
	for len(s.rest) > 0 {
		switch s.rest[0] {
		case '"':
			if !s.skipText() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.rest = s.rest[1:]
		if depth == 0 {
			return true
		}
	}
	return false
}
