package jsonpath

import (
	"bytes"
	"encoding/json"
	"math/bits"
)

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
		if !s.to(next, &random) {
			return false
		}
		if key, ok := next.(string); ok {
			rest := scanner{s.rest}
			if rest.skip() && rest.repeats(key) {
				return true
			}
		}
	}
	return false
}

// to goes to a key, an element, or one drawn at random.
func (s *scanner) to(next step, random *uint64) bool {
	switch next := next.(type) {
	case string:
		return s.toKey(next)
	case int:
		return s.toElement(next)
	}
	rest := scanner{s.rest}
	n := rest.elements()
	if n == 0 {
		return false
	}
	high, low := bits.Mul64(*random, n)
	*random = low // for a list within it
	return s.toElement(int(high))
}

// elements returns the number of elements of a list; 0 if it is not a whole list.
func (s *scanner) elements() (n uint64) {
	if !s.take('[') || s.take(']') {
		return 0
	}
	for s.skip() {
		n++
		if !s.take(',') {
			break
		}
	}
	if !s.take(']') {
		return 0
	}
	return n
}

// repeats reports whether a key is among those that follow in an object.
func (s *scanner) repeats(key string) bool {
	for s.take(',') {
		s.blanks()
		quoted := s.rest
		if len(quoted) == 0 || quoted[0] != '"' || !s.skip() {
			return false
		}
		if isKey(quoted[:len(quoted)-len(s.rest)], key) {
			return true
		}
		if !s.take(':') || !s.skip() {
			return false
		}
	}
	return false
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

// toKey goes to the value of a key of an object.
func (s *scanner) toKey(key string) bool {
	if !s.take('{') {
		return false
	}
	for {
		s.blanks()
		quoted := s.rest
		if len(quoted) == 0 || quoted[0] != '"' || !s.skip() {
			return false
		}
		quoted = quoted[:len(quoted)-len(s.rest)]
		if !s.take(':') {
			return false
		}
		if isKey(quoted, key) {
			return true
		}
		if !s.skip() || !s.take(',') {
			return false
		}
	}
}

// isKey reports whether a text in quotes is the key.
func isKey(quoted []byte, key string) bool {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		return string(Text(nil, quoted)) == key
	}
	return string(inner) == key
}

// toElement goes to an element of a list.
func (s *scanner) toElement(n int) bool {
	if !s.take('[') {
		return false
	}
	for ; n > 0; n-- {
		if !s.skip() || !s.take(',') {
			return false
		}
	}
	s.blanks()
	return len(s.rest) > 0 && s.rest[0] != ']'
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
	n := bytes.IndexAny(s.rest, ",]} \n\t\r")
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
