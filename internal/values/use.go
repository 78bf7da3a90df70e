package values

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Use is where the values of a variable are filled in, which limits what they may be.
type Use struct {
	Header bool // no control characters
	Text   bool // a text
	Number bool // a JSON number
	JSON   bool // any JSON value
	Raw    bool // a part of a path that is sent unchanged
	Link   bool // a whole path
}

// Uses returns the uses of all variables of requests, by name.
func Uses(requests []bench.Request) map[string]Use {
	uses := map[string]Use{}
	for _, r := range requests {
		for _, value := range r.Header {
			for _, p := range bench.Parts(value) {
				u := uses[p.Name]
				u.Header = true
				uses[p.Name] = u
			}
		}
		for _, p := range r.Places() {
			u := uses[p.Name]
			u.Number, u.JSON = u.Number || p.Type == bench.TypeNumber, u.JSON || p.Type == bench.TypeJSON
			u.Raw = u.Raw || p.Type == bench.TypeRaw
			u.Text = u.Text || p.Type != bench.TypeNumber && p.Type != bench.TypeJSON
			uses[p.Name] = u
		}
		if name := r.Link(); name != "" {
			u := uses[name]
			u.Link = true
			uses[name] = u
		}
	}
	for _, r := range requests {
		for _, p := range r.ExpectedPlaces() { // compared only: any value fits
			u := uses[p.Name]
			uses[p.Name] = u
		}
	}
	delete(uses, "")
	return uses
}

// Fits returns what is wrong with a value for this use; nil if it fits.
func (u Use) Fits(value []byte) error {
	switch {
	case u.Number && !isNumber(value):
		return fmt.Errorf("%q is not a number, which `:number` needs", safe.Line(string(value), 60))
	case u.JSON && !IsJSON(value):
		return NotJSON(value)
	case u.Header && bytes.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		return errors.New("a header cannot have a line break or another control character")
	case u.Link && (len(value) == 0 || value[0] != '/'):
		return fmt.Errorf("%q is not a path: it must start with a slash", safe.Line(string(value), 60))
	case (u.Link || u.Raw) && bytes.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '#' }):
		return fmt.Errorf("%q is not a part of a path: percent-encode non-ASCII letters, spaces and `#`",
			safe.Line(string(value), 60))
	}
	return nil
}

// NotJSON returns the error of a value that is used as JSON and is none.
func NotJSON(value []byte) error {
	return fmt.Errorf("%q is not JSON, which `:json` needs", safe.Line(string(value), 60))
}

// IsJSON reports whether a text is a JSON value.
func IsJSON(text []byte) bool { return json.Valid(text) }

// isNumber reports whether a text is a JSON number.
func isNumber(text []byte) bool {
	return len(text) > 0 && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid(text) &&
		text[len(text)-1] >= '0' && text[len(text)-1] <= '9'
}
