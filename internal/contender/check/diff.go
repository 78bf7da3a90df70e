package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// maxDiffs bounds how many differences of one document are reported.
const maxDiffs = 4

// differences compares a document of a suite with one of a response. Objects may have their keys in
// any order; lists must agree in order and length; numbers are compared as numbers. With
// partly, objects may have more keys than expected.
// The names are those of the keys that lead to the documents.
func differences(r *response, at string, want, got any, partly bool, names ...string) error {
	d := diff{response: r, partly: partly, names: names}
	d.compare(at, want, got)
	if len(d.found) == 0 {
		return nil
	}
	return errors.New(strings.Join(d.found, "; "))
}

type diff struct {
	response *response // whose request's values are filled in
	partly   bool
	found    []string
	names    []string // of the keys that lead to the values: those under the name of a secret are masked
}

func (d *diff) add(at, format string, args ...any) {
	if len(d.found) < maxDiffs {
		d.found = append(d.found, safe.Line(at+": "+fmt.Sprintf(format, args...), 400))
	}
}

func (d *diff) compare(at string, want, got any) {
	if len(d.found) >= maxDiffs {
		return
	}
	switch want := resolved(want, d.response).(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			d.add(at, "expected an object, got %s", shownUnder(got, d.names...))
			return
		}
		d.objects(at, want, object)
	case []any:
		list, ok := got.([]any)
		if !ok {
			d.add(at, "expected a list, got %s", shownUnder(got, d.names...))
			return
		}
		if len(want) != len(list) {
			d.add(at, "expected %d elements %s, got %d %s", len(want), shownUnder(want, d.names...), len(list),
				shownUnder(got, d.names...))
			return
		}
		for i := range want {
			d.compare(at+"["+strconv.Itoa(i)+"]", want[i], list[i])
		}
	default:
		if !scalarEqual(want, got) {
			d.add(at, "expected %s, got %s", shownUnder(want, d.names...), shownUnder(got, d.names...))
		}
	}
}

func (d *diff) objects(at string, want, got map[string]any) {
	for _, key := range sortedKeys(want) {
		value, ok := got[key]
		if !ok {
			d.add(at, "key %q is missing", key)
			continue
		}
		above := d.names
		d.names = append(slices.Clip(above), key)
		d.compare(at+"."+key, want[key], value)
		d.names = above
	}
	if d.partly {
		return
	}
	for _, key := range sortedKeys(got) {
		if _, ok := want[key]; !ok {
			d.add(at, "unexpected key %s", shown(key))
		}
	}
}

// scalarEqual compares an expected scalar with one of a response; numbers are json.Number.
func scalarEqual(want, got any) bool {
	switch want := want.(type) {
	case requested:
		return want.equals(got)
	case json.Number:
		n, ok := got.(json.Number)
		return ok && jsonpath.SameNumber(string(want), string(n))
	}
	return want == got
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// shown returns v as JSON for a message, cut to 160 bytes.
func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return safe.Line(fmt.Sprint(v), 160)
	}
	return safe.Line(string(b), 160)
}

// shownUnder returns shown of a value, and Mask for one under the name of a secret.
func shownUnder(v any, names ...string) string {
	if slices.ContainsFunc(names, secret.Name) {
		return secret.Mask
	}
	return shown(v)
}

func shownAt(p jsonpath.Path, v any) string { return shownUnder(v, p.Keys()...) }

// hasWord reports whether text has word as a whole word: "id" is in "id: no number", not in "idea".
func hasWord(text, word string) bool {
	for from := 0; word != "" && from < len(text); {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !wordRune(before) && !wordRune(after) {
			return true
		}
		from = i + len(word)
	}
	return false
}

func wordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
