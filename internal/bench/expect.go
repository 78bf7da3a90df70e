package bench

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Expectation is what a response must be, as in a check suite, except its status. Its numbers are
// int64, float64, or json.Number where those would change them.
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
		"approx", "at", "body", "contains", "every", "header", "json", "json_includes", "message", "none", "some",
	}
}

// ExpectedPlaces returns the places in the expectation of the request, in order, with repetitions.
func (r Request) ExpectedPlaces() (places []Part) {
	for _, key := range FilledExpectations() {
		eachText(r.Expect[key], func(text string) {
			for _, p := range Parts(text) {
				if p.Name != "" {
					places = append(places, p)
				}
			}
		})
	}
	return places
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
