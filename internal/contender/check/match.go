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

	"locbench/internal/text/jsonpath"
	"locbench/internal/text/safe"
)

// answer is what came back, whole unless it is longer than maxBody.
type response struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration

	parsed bool
	doc    any
	err    error
}

// json returns the body as a document: map[string]any, []any, json.Number, string, bool or nil.
func (a *response) json() (any, error) {
	if !a.parsed {
		a.parsed = true
		dec := json.NewDecoder(bytes.NewReader(a.body))
		dec.UseNumber()
		if a.err = dec.Decode(&a.doc); a.err == nil {
			if _, err := dec.Token(); !errors.Is(err, io.EOF) {
				a.err = errors.New("extra content after the JSON document")
			}
		}
		if a.err != nil {
			what := a.text()
			// A text may begin as a number of JSON does: "404 page not found".
			kind, start := a.header.Get("Content-Type"), bytes.TrimLeft(a.body, " \t\r\n")
			likeJSON := len(start) > 0 && strings.ContainsRune("{[\"", rune(start[0]))
			if !likeJSON && kind != "" && !strings.Contains(kind, "json") {
				a.err = fmt.Errorf("expected JSON, got %s, which is %s", what, safe.Line(kind, 60))
			} else {
				a.err = fmt.Errorf("wanted JSON, got %s: %w", what, a.err)
			}
		}
	}
	return a.doc, a.err
}

// text returns the body for a message.
func (a *response) text() string {
	if len(a.body) == 0 {
		return "an empty body"
	}
	return fmt.Sprintf("%q", safe.Line(string(a.body[:min(len(a.body), 1000)]), 200))
}

// Expect is what a response must be: the status, and everything that the matchers say.
type Expect struct {
	Status   []int // any of these
	matchers []matcher
}

// matcher looks at one side of a response. The error says what was wanted and what was got.
type matcher func(*response) error

// Judge returns what is wrong with a response; nil where nothing is. Its status is not looked at.
func (e Expect) Judge(status int, header http.Header, body []byte) error {
	e.Status = []int{status}
	if wrong := e.judge(&response{status: status, header: header, body: body}); len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// judge returns what is wrong with the response.
func (e Expect) judge(a *response) (wrong []string) {
	if !slices.Contains(e.Status, a.status) {
		want := strings.ReplaceAll(strings.Trim(fmt.Sprint(e.Status), "[]"), " ", " or ")
		// The other matchers would only repeat that this is another answer.
		return []string{fmt.Sprintf("expected status %s, got %d with %s", want, a.status, a.text())}
	}
	if len(a.body) > maxBody {
		return []string{fmt.Sprintf("response longer than %d bytes", maxBody)}
	}
	for _, m := range e.matchers {
		if err := m(a); err != nil {
			wrong = append(wrong, err.Error())
			if a.err != nil {
				break // not JSON: once is enough
			}
		}
	}
	return wrong
}

// document looks at the JSON document.
func document(look func(a *response, doc any) error) matcher {
	return func(a *response) error {
		doc, err := a.json()
		if err != nil {
			return err
		}
		return look(a, doc)
	}
}

// list looks at the list that a path leads to.
func list(p jsonpath.Path, look func([]any) error) matcher {
	return leadsTo(p, func(got any) error {
		list, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s: wanted a list, got %s", p.String(), shown(got))
		}
		return look(list)
	})
}

// leadsTo looks at what a path leads to.
func leadsTo(p jsonpath.Path, look func(got any) error) matcher {
	return document(func(a *response, doc any) error {
		got, ok := p.Value(doc)
		if !ok {
			return fmt.Errorf("%s: not found in %s", p.String(), a.text())
		}
		return look(got)
	})
}

// every wants a list's values to be the same. An empty list fails: nothing would have been checked.
func every(p jsonpath.Path, want any) matcher {
	return list(p, func(list []any) error {
		for i, got := range list {
			if differences("", want, got, false) != nil {
				return fmt.Errorf("%s: expected %s everywhere, got %s at %d", p.String(), shown(want), shown(got), i)
			}
		}
		if len(list) == 0 {
			return fmt.Errorf("%s: wanted %s everywhere, got no element", p.String(), shown(want))
		}
		return nil
	})
}

// among wants certain values to be in a list, anywhere, or none of them.
func among(p jsonpath.Path, wanted []any, none bool) matcher {
	return list(p, func(list []any) error {
		for _, want := range wanted {
			has := slices.ContainsFunc(list, func(got any) bool { return differences("", want, got, false) == nil })
			switch {
			case !has && !none:
				return fmt.Errorf("%s: expected to include %s, got %s", p.String(), shown(want), shown(list))
			case has && none:
				return fmt.Errorf("%s: wanted no %s, got %s", p.String(), shown(want), shown(list))
			}
		}
		return nil
	})
}

// counted bounds the length of a list.
func counted(p jsonpath.Path, least, most int) matcher {
	return list(p, func(list []any) error {
		if len(list) >= least && len(list) <= most {
			return nil
		}
		want := fmt.Sprint(least)
		if least != most {
			want = fmt.Sprintf("%d to %d", least, most)
		}
		return fmt.Errorf("%s: wanted %s elements, got %d", p.String(), want, len(list))
	})
}

// keyed wants objects to have exactly these keys, which are sorted.
func keyed(p jsonpath.Path, keys []string) matcher {
	want := strings.Join(keys, ", ")
	return document(func(_ *response, doc any) error {
		values, ok := p.Find(doc)
		if !ok || len(values) == 0 {
			return fmt.Errorf("%s: wanted an object with the keys %s, got nothing there", p.String(), want)
		}
		for _, v := range values {
			object, ok := v.(map[string]any)
			if !ok {
				return fmt.Errorf("%s: wanted an object, got %s", p.String(), shown(v))
			}
			if got := sortedKeys(object); !slices.Equal(got, keys) {
				return fmt.Errorf("%s: wanted exactly the keys %s, got %s", p.String(), want, strings.Join(got, ", "))
			}
		}
		return nil
	})
}

// present wants at least one of several paths to lead somewhere.
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

// message wants a JSON object whose `message` names at least one of the parameters.
func message(params []string) matcher {
	want := strings.Join(params, " or ")
	return document(func(a *response, doc any) error {
		object, _ := doc.(map[string]any)
		text, ok := object["message"].(string)
		if !ok {
			return fmt.Errorf("wanted an object with a text `message` that names %s, got %s", want, a.text())
		}
		if !slices.ContainsFunc(params, func(p string) bool { return names(text, p) }) {
			return fmt.Errorf("wanted a message that names %s, got %q", want, safe.Line(text, 200))
		}
		return nil
	})
}

// header wants a header to hold a text, in any case.
func header(name, want string) matcher {
	return func(a *response) error {
		got := strings.Join(a.header.Values(name), ", ")
		if !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			return fmt.Errorf("header %s: expected %q in it, got %q", name, want, safe.Line(got, 200))
		}
		return nil
	}
}

// contains wants texts to be in the body.
func contains(texts []string) matcher {
	return func(a *response) error {
		for _, want := range texts {
			if !bytes.Contains(a.body, []byte(want)) {
				return fmt.Errorf("wanted %q in the body, got %s", safe.Line(want, 200), a.text())
			}
		}
		return nil
	}
}

// body compares the body byte by byte.
func body(want string) matcher {
	return func(a *response) error {
		if string(a.body) != want {
			return fmt.Errorf("wanted the body %q, got %s", safe.Line(want, 200), a.text())
		}
		return nil
	}
}

// size bounds the body's length in bytes.
func size(most int64) matcher {
	return func(a *response) error {
		if int64(len(a.body)) > most {
			return fmt.Errorf("wanted at most %d bytes, got %d", most, len(a.body))
		}
		return nil
	}
}

// took bounds the time from the sending to the last byte of the response. A most of 0 is none.
func took(least, most time.Duration) matcher {
	return func(a *response) error {
		switch {
		case a.took < least:
			return fmt.Errorf("expected a response after %s or more, got it after %s", least, a.took.Round(time.Microsecond))
		case most > 0 && a.took > most:
			return fmt.Errorf("expected a response within %s, got it after %s", most, a.took.Round(time.Microsecond))
		}
		return nil
	}
}
