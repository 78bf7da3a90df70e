package bench

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Expectation is what a response must be, as in a check suite, except its status. Its numbers
// are json.Number.
type Expectation map[string]any

// UnmarshalJSON keeps numbers exact.
func (e *Expectation) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode((*map[string]any)(e))
}

// FilledExpectations are the keys of an expectation whose texts may contain {name}. It is filled in
// with the values that the request was sent with.
func FilledExpectations() []string {
	return []string{
		"at", "body", "contains", "every", "header", "json", "json_includes", "message", "none", "some",
	}
}

// ExpectedPlaces returns the places in the expectations of the request, in order, with repetitions.
func (r Request) ExpectedPlaces() []Part { return placesIn(r.ExpectedTexts()...) }

// ExpectedTexts returns the texts of the expectations, that of Repeat included, that may have places.
func (r Request) ExpectedTexts() (texts []string) {
	expected := []Expectation{r.Expect}
	if r.Repeat != nil {
		expected = append(expected, r.Repeat.Until)
	}
	for _, e := range expected {
		for _, key := range FilledExpectations() {
			eachText(e[key], func(text string) { texts = append(texts, text) })
		}
	}
	return texts
}

// Unfilled is a place in an expectation where nothing is filled in.
type Unfilled struct {
	Part
	Key   string // key of the expectation, such as "schema"
	InKey bool   // the place is in the key of a map, or in a path
}

// UnfilledPlaces returns what looks like a place in the expectation and is a text, in order: in
// keys of maps, in paths, and in everything under a key that is not one of FilledExpectations.
func (r Request) UnfilledPlaces() (all []Unfilled) {
	var walk func(key string, value any, filled bool)
	add := func(key, text string, inKey bool) {
		for _, p := range placesIn(text) {
			all = append(all, Unfilled{p, key, inKey})
		}
	}
	walk = func(key string, value any, filled bool) {
		switch v := value.(type) {
		case string:
			if !filled {
				add(key, v, false)
			}
		case []any:
			for _, item := range v {
				walk(key, item, filled)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				add(key, name, true)
				walk(key, v[name], filled)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Expect)) {
		walk(key, r.Expect[key], slices.Contains(FilledExpectations(), key))
	}
	return all
}

// eachText calls do with each text in a value, except the keys of maps.
func eachText(value any, do func(string)) {
	switch v := value.(type) {
	case string:
		do(v)
	case []any:
		for _, item := range v {
			eachText(item, do)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			eachText(v[key], do)
		}
	}
}
