package check

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/unpack"
)

// response is what the service sent, with its body unpacked.
type response struct {
	status int
	header func() http.Header // may be nil
	body   []byte
	unread error // why body is not the whole body; nil if it is
	took   time.Duration
	value  func(name string) string // values that the request was sent with; may be nil

	parsed bool
	doc    any
	err    error
}

// json returns the body as a document: map[string]any, []any, json.Number, string, bool or nil.
func (r *response) json() (any, error) {
	if r.unread != nil {
		return nil, r.unread
	}
	if !r.parsed {
		r.parsed = true
		if r.doc, r.err = jsonpath.Decode(r.body); r.err != nil {
			what := r.text()
			// A plain text may begin like a JSON number: "404 page not found".
			kind, start := r.headers().Get("Content-Type"), bytes.TrimLeft(r.body, " \t\r\n")
			likeJSON := len(start) > 0 && strings.ContainsRune("{[\"", rune(start[0]))
			if !likeJSON && kind != "" && !strings.Contains(kind, "json") {
				r.err = fmt.Errorf("expected JSON, got %s, which is %s", what, safe.Line(kind, 60))
			} else {
				r.err = fmt.Errorf("expected JSON, got %s: %w", what, r.err)
			}
		}
	}
	return r.doc, r.err
}

func (r *response) headers() http.Header {
	if r.header == nil {
		return nil
	}
	return r.header()
}

// text returns the body for a message.
func (r *response) text() string {
	switch {
	case len(r.body) == 0 && r.unread != nil:
		return "a body that was not looked at: " + r.unread.Error()
	case len(r.body) == 0:
		return "an empty body"
	}
	if !safe.IsText(r.body) {
		return unpack.Describe(nil, r.headers().Get("Content-Type"), int64(len(r.body)))
	}
	return fmt.Sprintf("%q", safe.Line(secret.Masker{}.Keyed(string(r.body[:min(len(r.body), 1000)])), 200))
}

// Expect is what a response must be: the status, and everything that the matchers say.
type Expect struct {
	Status   []int // any of these
	matchers []matcher
}

// matcher checks one property of a response. Its error says what was expected and what was found.
type matcher func(*response) error

// Sent is a response of the load, and what is known of its request.
type Sent struct {
	Status int
	Header func() http.Header // called if a header matters; may be nil
	Body   []byte
	Unread error                    // why Body is not the whole body, but its beginning or nil; nil if it is
	Value  func(name string) string // a value that the request was sent with; may be nil
}

// Judge returns what is wrong with a response, nil, or a.Unread if nothing is wrong as far as was
// seen, but the body matters. It does not check the status.
func (e Expect) Judge(a Sent) error {
	e.Status = nil
	r := response{status: a.Status, header: a.Header, body: a.Body, unread: a.Unread, value: a.Value}
	wrong, unread := e.judge(&r)
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return unread
}

// judge returns what is wrong with the response, and why its body was not looked at, if a matcher
// needs it.
func (e Expect) judge(r *response) (wrong []string, unread error) {
	defer func() { // a response must not end what checks it
		if p := recover(); p != nil {
			wrong = append(wrong, safe.Line(fmt.Sprintf("response cannot be checked: %v", p), 200))
		}
	}()
	if e.Status != nil && !slices.Contains(e.Status, r.status) {
		// The other matchers would only repeat that this is another response.
		return []string{fmt.Sprintf("expected status %s, got %d with %s", bench.InWords(e.Status), r.status, r.text())}, nil
	}
	for _, m := range e.matchers {
		err := m(r)
		if err != nil && errors.Is(err, r.unread) {
			unread = err
			continue
		}
		if err != nil {
			wrong = append(wrong, err.Error())
			if r.err != nil {
				break // not JSON: once is enough
			}
		}
	}
	return wrong, unread
}

// document calls look with the JSON document.
func document(look func(r *response, doc any) error) matcher {
	return func(r *response) error {
		doc, err := r.json()
		if err != nil {
			return err
		}
		return look(r, doc)
	}
}

// list calls look with the list at a path.
func list(p jsonpath.Path, look func(*response, []any) error) matcher {
	return atPath(p, func(r *response, got any) error {
		list, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s: expected a list, got %s", p.String(), shownAt(p, got))
		}
		return look(r, list)
	})
}

// atPath calls look with the value at a path.
func atPath(p jsonpath.Path, look func(r *response, got any) error) matcher {
	return document(func(r *response, doc any) error {
		got, ok := p.Value(doc)
		if !ok {
			return fmt.Errorf("%s: not found in %s", p.String(), r.text())
		}
		return look(r, got)
	})
}

// every expects each value of a list to equal want. An empty list fails: it would check nothing.
func every(p jsonpath.Path, want any) matcher {
	return list(p, func(r *response, list []any) error {
		want := resolved(want, r)
		for i, got := range list {
			if differences(r, "", want, got, false) != nil {
				return fmt.Errorf("%s: expected %s everywhere, got %s at %d", p.String(), shownAt(p, want), shownAt(p, got), i)
			}
		}
		if len(list) == 0 {
			return fmt.Errorf("%s: expected %s everywhere, got an empty list", p.String(), shownAt(p, want))
		}
		return nil
	})
}

// includes expects a list to have all of the values, in any order; with none, none of them.
func includes(p jsonpath.Path, values []any, none bool) matcher {
	return list(p, func(r *response, list []any) error {
		for _, want := range values {
			want = resolved(want, r)
			has := slices.ContainsFunc(list, func(got any) bool { return differences(r, "", want, got, false) == nil })
			switch {
			case !has && !none:
				return fmt.Errorf("%s: expected to include %s, got %s", p.String(), shownAt(p, want), shownAt(p, list))
			case has && none:
				return fmt.Errorf("%s: unexpected %s in %s", p.String(), shownAt(p, want), shownAt(p, list))
			}
		}
		return nil
	})
}

// counted bounds the length of a list.
func counted(p jsonpath.Path, least, most int) matcher {
	return list(p, func(_ *response, list []any) error {
		if len(list) >= least && len(list) <= most {
			return nil
		}
		want := fmt.Sprint(least)
		if least != most {
			want = fmt.Sprintf("%d to %d", least, most)
		}
		return fmt.Errorf("%s: expected %s elements, got %d", p.String(), want, len(list))
	})
}

// exactKeys expects the objects at a path to have exactly these keys, which are sorted.
func exactKeys(p jsonpath.Path, keys []string) matcher {
	want := strings.Join(keys, ", ")
	return document(func(_ *response, doc any) error {
		values, ok := p.Find(doc)
		if !ok || len(values) == 0 {
			return fmt.Errorf("%s: expected an object with the keys %s, got nothing", p.String(), want)
		}
		for _, v := range values {
			object, ok := v.(map[string]any)
			if !ok {
				return fmt.Errorf("%s: expected an object, got %s", p.String(), shownAt(p, v))
			}
			if got := sortedKeys(object); !slices.Equal(got, keys) {
				return fmt.Errorf("%s: expected exactly the keys %s, got %s", p.String(), want, strings.Join(got, ", "))
			}
		}
		return nil
	})
}

// present expects at least one of the paths to exist.
func present(paths []jsonpath.Path) matcher {
	return document(func(_ *response, doc any) error {
		var texts []string
		for _, p := range paths {
			if values, ok := p.Find(doc); ok && len(values) > 0 {
				return nil
			}
			texts = append(texts, p.String())
		}
		return fmt.Errorf("expected %s to exist", strings.Join(texts, " or "))
	})
}

// message expects a JSON object whose `message` names at least one of the parameters.
func message(all []template) matcher {
	return document(func(r *response, doc any) error {
		params := filled(all, r)
		want := strings.Join(params, " or ")
		object, _ := doc.(map[string]any)
		text, ok := object["message"].(string)
		if !ok {
			return fmt.Errorf("expected an object with a text `message` that names %s, got %s", want, r.text())
		}
		if !slices.ContainsFunc(params, func(p string) bool { return hasWord(text, p) }) {
			return fmt.Errorf("expected a message that names %s, got %q", want, safe.Line(text, 200))
		}
		return nil
	})
}

// header expects a header to contain a text, in upper or lower case.
func header(name string, text template) matcher {
	return func(r *response) error {
		want, got := text.fill(r), strings.Join(r.headers().Values(name), ", ")
		if !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			return fmt.Errorf("header %s: expected %s in it, got %s", name, shownUnder(want, name), shownUnder(got, name))
		}
		return nil
	}
}

// contains expects the body to contain the texts.
func contains(all []template) matcher {
	return func(r *response) error {
		if r.unread != nil {
			return r.unread
		}
		for _, want := range filled(all, r) {
			if !bytes.Contains(r.body, []byte(want)) {
				return fmt.Errorf("expected %q in the body, got %s", safe.Line(want, 200), r.text())
			}
		}
		return nil
	}
}

// body compares the body byte by byte.
func body(text template) matcher {
	return func(r *response) error {
		if r.unread != nil {
			return r.unread
		}
		if want := text.fill(r); string(r.body) != want {
			return fmt.Errorf("expected the body %q, got %s", safe.Line(want, 200), r.text())
		}
		return nil
	}
}

// size bounds the length of the unpacked body in bytes.
func size(most int64) matcher {
	return func(r *response) error {
		if int64(len(r.body)) > most {
			return fmt.Errorf("expected at most %d bytes, got %d", most, len(r.body))
		}
		return r.unread
	}
}

// took bounds the time from sending to the last byte of the response. With 0 most is ignored.
func took(least, most time.Duration) matcher {
	return func(r *response) error {
		switch {
		case r.took < least:
			return fmt.Errorf("expected a response after %s or more, got it after %s", least, r.took.Round(time.Microsecond))
		case most > 0 && r.took > most:
			return fmt.Errorf("expected a response within %s, got it after %s", most, r.took.Round(time.Microsecond))
		}
		return nil
	}
}

// filled returns texts with the values that the request was sent with.
func filled(all []template, r *response) (out []string) {
	for _, t := range all {
		out = append(out, t.fill(r))
	}
	return out
}
