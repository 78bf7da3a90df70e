package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"locbench/internal/safe"
)

// answer is what came back, whole unless it is longer than maxBody.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration

	parsed bool
	doc    any
	err    error
}

// json is the body as a document: map[string]any, []any, json.Number, string, bool or nil.
func (a *answer) json() (any, error) {
	if !a.parsed {
		a.parsed = true
		dec := json.NewDecoder(bytes.NewReader(a.body))
		dec.UseNumber()
		if a.err = dec.Decode(&a.doc); a.err == nil {
			if _, err := dec.Token(); !errors.Is(err, io.EOF) {
				a.err = errors.New("something follows the JSON document")
			}
		}
		if a.err != nil {
			a.err = fmt.Errorf("wanted JSON, got %s: %w", a.text(), a.err)
		}
	}
	return a.doc, a.err
}

// text is the body for a message.
func (a *answer) text() string {
	if len(a.body) == 0 {
		return "an empty body"
	}
	return fmt.Sprintf("%q", safe.Line(string(a.body[:min(len(a.body), 1000)]), 200))
}

// Expect is what an answer must be: the status, and everything that the matchers say.
type Expect struct {
	Status   []int // any of these
	matchers []matcher
}

// matcher looks at one side of an answer. The error says what was wanted and what was got.
type matcher interface{ match(*answer) error }

// judge returns what is wrong with the answer.
func (e Expect) judge(a *answer) (wrong []string) {
	if !slices.Contains(e.Status, a.status) {
		want := strings.Trim(fmt.Sprint(e.Status), "[]")
		// The other matchers would only repeat that this is another answer.
		return []string{fmt.Sprintf("wanted status %s, got %d with %s", strings.ReplaceAll(want, " ", " or "), a.status, a.text())}
	}
	if len(a.body) > maxBody {
		return []string{fmt.Sprintf("the answer is longer than %d bytes", maxBody)}
	}
	for _, m := range e.matchers {
		if err := m.match(a); err != nil {
			wrong = append(wrong, err.Error())
			if a.err != nil {
				break // not JSON: once is enough
			}
		}
	}
	return wrong
}

// jsonMatch compares the whole document.
type jsonMatch struct {
	want   any
	partly bool // objects may hold more
}

func (m jsonMatch) match(a *answer) error {
	doc, err := a.json()
	if err != nil {
		return err
	}
	d := diff{partly: m.partly}
	d.compare("$", m.want, doc)
	if len(d.found) > 0 {
		return errors.New(strings.Join(d.found, "; "))
	}
	return nil
}

// atMatch compares what a path leads to.
type atMatch struct {
	path path
	want any
}

func (m atMatch) match(a *answer) error {
	got, err := lookup(a, m.path)
	if err != nil {
		return err
	}
	var d diff
	d.compare(m.path.text, m.want, got)
	if len(d.found) > 0 {
		return errors.New(strings.Join(d.found, "; "))
	}
	return nil
}

// everyMatch wants each of a list's values to be the same. An empty list is a failure: nothing
// would have been checked.
type everyMatch struct {
	path path
	want any
}

func (m everyMatch) match(a *answer) error {
	list, err := lookupList(a, m.path)
	if err != nil {
		return err
	}
	for i, got := range list {
		if !equal(m.want, got) {
			return fmt.Errorf("%s: wanted %s everywhere, got %s at %d", m.path.text, shown(m.want), shown(got), i)
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("%s: wanted %s everywhere, got no element", m.path.text, shown(m.want))
	}
	return nil
}

// someMatch wants certain values to be in a list, anywhere.
type someMatch struct {
	path path
	want []any
	none bool // they must not be in it
}

func (m someMatch) match(a *answer) error {
	list, err := lookupList(a, m.path)
	if err != nil {
		return err
	}
	for _, want := range m.want {
		has := slices.ContainsFunc(list, func(got any) bool { return equal(want, got) })
		switch {
		case !has && !m.none:
			return fmt.Errorf("%s: wanted %s among them, got %s", m.path.text, shown(want), shown(list))
		case has && m.none:
			return fmt.Errorf("%s: wanted no %s, got %s", m.path.text, shown(want), shown(list))
		}
	}
	return nil
}

// countMatch bounds the length of a list.
type countMatch struct {
	path     path
	min, max int
}

func (m countMatch) match(a *answer) error {
	list, err := lookupList(a, m.path)
	if err != nil {
		return err
	}
	if len(list) < m.min || len(list) > m.max {
		want := fmt.Sprint(m.min)
		if m.min != m.max {
			want = fmt.Sprintf("%d to %d", m.min, m.max)
		}
		return fmt.Errorf("%s: wanted %s elements, got %d", m.path.text, want, len(list))
	}
	return nil
}

// keysMatch wants objects to have exactly these keys.
type keysMatch struct {
	path path
	want []string // sorted
}

func (m keysMatch) match(a *answer) error {
	doc, err := a.json()
	if err != nil {
		return err
	}
	values, ok := m.path.find(doc)
	if !ok || len(values) == 0 {
		return fmt.Errorf("%s: wanted an object with the keys %s, got nothing there", m.path.text, strings.Join(m.want, ", "))
	}
	for _, v := range values {
		object, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: wanted an object, got %s", m.path.text, shown(v))
		}
		if got := sortedKeys(object); !slices.Equal(got, m.want) {
			return fmt.Errorf("%s: wanted exactly the keys %s, got %s", m.path.text, strings.Join(m.want, ", "), strings.Join(got, ", "))
		}
	}
	return nil
}

// presentMatch wants at least one of several paths to lead somewhere.
type presentMatch struct{ paths []path }

func (m presentMatch) match(a *answer) error {
	doc, err := a.json()
	if err != nil {
		return err
	}
	var texts []string
	for _, p := range m.paths {
		if values, ok := p.find(doc); ok && len(values) > 0 {
			return nil
		}
		texts = append(texts, p.text)
	}
	return fmt.Errorf("wanted %s to be there, got nothing", strings.Join(texts, " or "))
}

// messageMatch wants a JSON object whose `message` names at least one of the parameters.
type messageMatch struct{ params []string }

func (m messageMatch) match(a *answer) error {
	want := strings.Join(m.params, " or ")
	doc, err := a.json()
	if err != nil {
		return err
	}
	object, _ := doc.(map[string]any)
	text, ok := object["message"].(string)
	if !ok {
		return fmt.Errorf("wanted an object with a text `message` that names %s, got %s", want, a.text())
	}
	if !slices.ContainsFunc(m.params, func(p string) bool { return names(text, p) }) {
		return fmt.Errorf("wanted a message that names %s, got %q", want, safe.Line(text, 200))
	}
	return nil
}

// headerMatch wants a header to hold a text, in any case.
type headerMatch struct{ name, want string }

func (m headerMatch) match(a *answer) error {
	got := strings.Join(a.header.Values(m.name), ", ")
	if !strings.Contains(strings.ToLower(got), strings.ToLower(m.want)) {
		return fmt.Errorf("header %s: wanted %q in it, got %q", m.name, m.want, safe.Line(got, 200))
	}
	return nil
}

// containsMatch wants texts to be in the body.
type containsMatch struct{ want []string }

func (m containsMatch) match(a *answer) error {
	for _, want := range m.want {
		if !bytes.Contains(a.body, []byte(want)) {
			return fmt.Errorf("wanted %q in the body, got %s", safe.Line(want, 200), a.text())
		}
	}
	return nil
}

// bodyMatch compares the body byte by byte.
type bodyMatch struct{ want string }

func (m bodyMatch) match(a *answer) error {
	if string(a.body) != m.want {
		return fmt.Errorf("wanted the body %q, got %s", safe.Line(m.want, 200), a.text())
	}
	return nil
}

// sizeMatch bounds the body's length in bytes.
type sizeMatch struct{ max int64 }

func (m sizeMatch) match(a *answer) error {
	if int64(len(a.body)) > m.max {
		return fmt.Errorf("wanted at most %d bytes, got %d", m.max, len(a.body))
	}
	return nil
}

// tookMatch bounds the time from the sending of the request to the last byte of the answer. A max
// of 0 is none.
type tookMatch struct{ min, max time.Duration }

func (m tookMatch) match(a *answer) error {
	switch {
	case a.took < m.min:
		return fmt.Errorf("wanted an answer after %s or more, got it after %s", m.min, a.took.Round(time.Microsecond))
	case m.max > 0 && a.took > m.max:
		return fmt.Errorf("wanted an answer within %s, got it after %s", m.max, a.took.Round(time.Microsecond))
	}
	return nil
}

func lookup(a *answer, p path) (any, error) {
	doc, err := a.json()
	if err != nil {
		return nil, err
	}
	got, ok := p.value(doc)
	if !ok {
		return nil, fmt.Errorf("%s: nothing there in %s", p.text, a.text())
	}
	return got, nil
}

func lookupList(a *answer, p path) ([]any, error) {
	got, err := lookup(a, p)
	if err != nil {
		return nil, err
	}
	list, ok := got.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: wanted a list, got %s", p.text, shown(got))
	}
	return list, nil
}
