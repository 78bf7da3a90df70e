package workload

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/jsonpath"
	"locbench/internal/text/safe"
	"locbench/internal/text/unpack"
	"locbench/internal/values"
)

// Bounds of saving. The time of a regular expression grows with its states times the bytes that it
// sees, about 10 ns for each pair.
const (
	maxSaved   = 64 << 10 // bytes of a value
	maxPattern = 1000     // bytes of a regular expression
	maxStates  = 2000     // states of its program
	maxVisits  = 16 << 20 // states times bytes of a body
)

// save takes one value from responses.
type save struct {
	spec bench.Save
	slot int
	use  values.Use
	path jsonpath.Path
	re   *regexp.Regexp
	sees int // bytes of a body that the regular expression sees
}

func newSave(spec bench.Save, slot int, use values.Use) (s save, err error) {
	s = save{spec: spec, slot: slot, use: use}
	switch spec.From {
	case bench.FromJSON:
		s.path, err = jsonpath.Parse(spec.Of)
	case bench.FromRegex:
		s.re, s.sees, err = compiled(spec.Of)
	}
	if err != nil {
		return s, fmt.Errorf("save %s: %w", spec.Name, err)
	}
	return s, nil
}

// compiled returns a regular expression, and how many bytes of a body it may see.
func compiled(pattern string) (re *regexp.Regexp, sees int, err error) {
	if len(pattern) > maxPattern {
		return nil, 0, fmt.Errorf("a regular expression of %d bytes: write at most %d", len(pattern), maxPattern)
	}
	if re, err = regexp.Compile(pattern); err != nil {
		return nil, 0, err
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	states := len(program.Inst)
	if states > maxStates {
		return nil, 0, fmt.Errorf("a regular expression of %d states: write at most %d; repetitions such as {1000} take many",
			states, maxStates)
	}
	return re, maxVisits / states, nil
}

// CheckSave returns what is wrong with the place of a value in a response; nil if it is valid.
func CheckSave(spec bench.Save) error {
	switch spec.From {
	case bench.FromJSON, bench.FromRegex:
	case bench.FromHeader, bench.FromCookie:
		if spec.Of == "" {
			return fmt.Errorf("the %s needs a name", spec.From)
		}
	default:
		return fmt.Errorf("%q is not a part of a response: write a path, or one of `{json: PATH}`, `{header: NAME}`, "+
			"`{cookie: NAME}`, `{regex: PATTERN}`", spec.From)
	}
	s, err := newSave(spec, 0, values.Use{})
	if err == nil && spec.From == bench.FromJSON && s.path.Many() {
		err = errors.New("`[*]` matches several values: write an index, such as `[0]`")
	}
	return err
}

// take puts the value from a response into a slot.
func (s *save) take(a Response, to *slot) error {
	value, ok := []byte(nil), false
	switch s.spec.From {
	case bench.FromJSON:
		if value, ok = s.path.Scan(a.Body); !ok {
			return fmt.Errorf("%s is not in %s", s.spec.Of, shown(a.Body))
		}
		if s.path.Repeats(a.Body) {
			return fmt.Errorf("an object on the way to %s repeats its key", s.spec.Of)
		}
		to.text = jsonpath.Text(to.text[:0], value)
	case bench.FromHeader:
		if value, ok = headerValue(a.Head, s.spec.Of, nil); !ok {
			return fmt.Errorf("the response has no header %s", s.spec.Of)
		}
		to.text = append(to.text[:0], value...)
	case bench.FromCookie:
		if value, ok = headerValue(a.Head, "Set-Cookie", []byte(s.spec.Of+"=")); !ok {
			return fmt.Errorf("the response sets no cookie %s", s.spec.Of)
		}
		value, _, _ = bytes.Cut(value[len(s.spec.Of)+1:], []byte{';'})
		to.text = append(to.text[:0], value...)
	case bench.FromRegex:
		body := a.Body[:min(len(a.Body), s.sees)]
		m := s.re.FindSubmatchIndex(body)
		if m == nil && len(body) < len(a.Body) {
			return fmt.Errorf("/%s/ does not match the first %d bytes; a simpler one sees more", s.spec.Of, len(body))
		}
		if m == nil {
			return fmt.Errorf("/%s/ does not match %s", s.spec.Of, shown(a.Body))
		}
		if len(m) > 2 && m[2] >= 0 {
			m = m[2:]
		}
		to.text = append(to.text[:0], a.Body[m[0]:m[1]]...)
	}
	if len(to.text) == 0 || s.spec.From == bench.FromJSON && string(value) == `""` {
		return fmt.Errorf("the value of %s is empty", s.spec.Of)
	}
	if s.spec.From == bench.FromJSON && string(value) == "null" {
		return fmt.Errorf("the value of %s is null", s.spec.Of)
	}
	if max(len(to.text), len(value)) > maxSaved {
		return fmt.Errorf("value longer than %d bytes", maxSaved)
	}
	if !s.use.JSON {
		return s.use.Fits(to.text)
	}
	if s.spec.From != bench.FromJSON {
		value = to.text
	}
	if to.json = append(to.json[:0], value...); !values.IsJSON(to.json) {
		return values.NotJSON(to.json)
	}
	return values.Use{Header: s.use.Header, Number: s.use.Number}.Fits(to.text)
}

// headerValue returns the value of the first header with a name that begins with a text.
func headerValue(head []byte, name string, begin []byte) ([]byte, bool) {
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		head = rest
		key, value, ok := bytes.Cut(line, []byte{':'})
		if !ok || len(key) != len(name) || !strings.EqualFold(string(key), name) {
			continue
		}
		if value = bytes.TrimSpace(value); bytes.HasPrefix(value, begin) {
			return value, true
		}
	}
	return nil, false
}

func shown(body []byte) string {
	if len(body) == 0 {
		return "an empty body"
	}
	if !safe.IsText(body) {
		return unpack.Describe(nil, "", int64(len(body)))
	}
	return "`" + safe.Line(string(body[:min(len(body), 1000)]), 120) + "`"
}
