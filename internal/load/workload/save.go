package workload

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/unpack"
	"github.com/locbench/locbench/internal/values"
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
	link bool // a later request is sent to it
	path jsonpath.Path
	re   *regexp.Regexp
	sees int // bytes of a body that the regular expression sees
}

func newSave(spec bench.Save, slot int, use values.Use) (s save, err error) {
	s = save{spec: spec, slot: slot, use: use, link: use.Link}
	s.use.Link = false
	pattern := spec.Regex
	switch spec.From {
	case bench.FromJSON:
		s.path, err = jsonpath.Parse(spec.Of)
	case bench.FromRegex:
		pattern = spec.Of
	}
	if err == nil && pattern != "" {
		s.re, s.sees, err = compiled(pattern)
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
	_, err := newSave(spec, 0, values.Use{})
	return err
}

// take puts the value from a response into a slot.
func (s *save) take(a Response, to *slot) error {
	value, err := s.find(a, to)
	if err != nil {
		return err
	}
	if value != nil && string(value) == "null" {
		return fmt.Errorf("the value of %s is null", s.spec.Of)
	}
	if s.spec.Regex != "" {
		found, err := s.cut(to.text, s.spec.Regex)
		if err != nil {
			return err
		}
		to.text, value = to.text[:copy(to.text, found)], nil
	}
	if len(to.text) == 0 {
		return fmt.Errorf("the value of %s is empty", s.spec.Of)
	}
	if max(len(to.text), len(value)) > maxSaved {
		return fmt.Errorf("value longer than %d bytes", maxSaved)
	}
	if s.link {
		if to.link, err = a.sent.resolve(to.link[:0], to.text); err != nil {
			return err
		}
	}
	if !s.use.JSON {
		return s.use.Fits(to.text)
	}
	if value == nil {
		value = to.text
	}
	if to.json = append(to.json[:0], value...); !values.IsJSON(to.json) {
		return values.NotJSON(to.json)
	}
	return values.Use{Header: s.use.Header, Number: s.use.Number, Raw: s.use.Raw}.Fits(to.text)
}

// find puts the text in which the value is into a slot. It also returns the JSON of that text, nil
// if it is not from a JSON body.
func (s *save) find(a Response, to *slot) (json []byte, err error) {
	to.text = to.text[:0]
	switch s.spec.From {
	case bench.FromJSON:
		value, ok := s.path.ScanOne(a.Body, a.random)
		if !ok {
			return nil, fmt.Errorf("%s is not in %s", s.spec.Of, shown(a.Body))
		}
		if s.path.Repeats(a.Body, a.random) {
			return nil, fmt.Errorf("an object on the way to %s repeats its key", s.spec.Of)
		}
		to.text = jsonpath.Text(to.text, value)
		return value, nil
	case bench.FromHeader:
		value, _, ok := nextHeader(a.Head, s.spec.Of)
		if !ok {
			return nil, fmt.Errorf("the response has no header %s", s.spec.Of)
		}
		to.text = append(to.text, value...)
	case bench.FromCookie:
		value, ok := cookieValue(a.Head, s.spec.Of, time.Now())
		if !ok && a.jar != nil {
			value, ok = a.jar.value(s.spec.Of)
		}
		if !ok {
			return nil, fmt.Errorf("the response sets no cookie %s", s.spec.Of)
		}
		to.text = append(to.text, value...)
	case bench.FromRegex:
		found, err := s.cut(a.Body, s.spec.Of)
		to.text = append(to.text, found...)
		return nil, err
	}
	return nil, nil
}

// cut returns what the regular expression matches in a text: its first group, or the whole match.
func (s *save) cut(text []byte, pattern string) ([]byte, error) {
	seen := text[:min(len(text), s.sees)]
	m := s.re.FindSubmatchIndex(seen)
	switch {
	case m == nil && len(seen) < len(text):
		return nil, fmt.Errorf("/%s/ does not match the first %d bytes; a simpler one sees more", pattern, len(seen))
	case m == nil:
		return nil, fmt.Errorf("/%s/ does not match %s", pattern, shown(text))
	case len(m) > 2 && m[2] >= 0:
		m = m[2:]
	}
	return text[m[0]:m[1]], nil
}

func shown(body []byte) string {
	if len(body) == 0 {
		return "an empty body"
	}
	if !safe.IsText(body) {
		return unpack.Describe(nil, "", int64(len(body)))
	}
	return "`" + safe.Line(secret.Masker{}.Keyed(string(body[:min(len(body), 1000)])), 120) + "`"
}
