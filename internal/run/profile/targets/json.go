package targets

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	maxJSON     = 1 << 20 // bytes of a line
	jsonExample = "write each target on one line, such as " +
		"`{\"method\": \"GET\", \"url\": \"http://127.0.0.1:8080/items\"}`"
)

// jsonKeys are the keys of a target.
var jsonKeys = []string{"method", "url", "header", "body"}

// json reads the JSON format: one object in each line.
func (r *reader) json(lines []string) {
	for i, line := range lines {
		n := i + 1
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case line[0] == '#':
			r.Add(n, "a comment", "remove it: the JSON format has none")
			continue
		case line[0] == '[':
			r.Add(n, "a list of targets",
				"write each target on its own line, without the brackets and commas of the list, as `jq -c '.[]'` does")
			return
		case len(line) > maxJSON:
			r.Add(n, "a target of more than "+strictyaml.FormatBytes(maxJSON), "shorten it")
			continue
		case r.repeated(line):
			continue
		}
		whole, ok := r.object(line, n)
		if !whole {
			return
		}
		if !ok {
			continue
		}
		var t vegeta.Target
		if err := vegeta.NewJSONTargeter(strings.NewReader(line+"\n"), nil, nil).Decode(&t); err != nil {
			r.Add(n, "vegeta does not read this target", jsonExample)
			continue
		}
		r.add(line, t, place{line: n}, "")
	}
}

// object checks a line. It returns whether the object ends on it, and whether it is a target.
func (r *reader) object(line string, n int) (whole, ok bool) {
	d := json.NewDecoder(strings.NewReader(line))
	var text json.RawMessage
	switch err := d.Decode(&text); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.Add(n, "the target does not end on its line", "write each target on one line, as `jq -c` does")
		return false, false
	case err != nil:
		r.Add(n, "not JSON", jsonExample)
		return true, false
	case text[0] != '{':
		r.Add(n, "not a target", jsonExample)
		return true, false
	}
	if _, err := d.Token(); err != io.EOF {
		r.Add(n, "text after the target", "write each target on its own line, without a comma after it")
		return true, false
	}
	ok = true
	wrong := func(what, hint string) {
		r.Add(n, what, hint)
		ok = false
	}
	values, known := map[string]json.RawMessage{}, true
	for _, f := range fields(text) {
		switch _, twice := values[f.key]; {
		case !slices.Contains(jsonKeys, f.key):
			known = false
			wrong(fmt.Sprintf("unknown key `%s`", word(f.key)), strictyaml.Suggest(f.key, "known keys", jsonKeys))
		case twice:
			wrong(fmt.Sprintf("duplicate key `%s`", f.key), "remove one of them")
		}
		values[f.key] = f.value
	}
	for _, key := range []string{"method", "url"} {
		var value string
		switch err := json.Unmarshal(orNull(values[key]), &value); {
		case err != nil:
			wrong(fmt.Sprintf("`%s` is not a text", key), jsonExample)
		case value == "" && known: // else its key may be the unknown one
			wrong(fmt.Sprintf("`%s` is missing", key), jsonExample)
		}
	}
	var body string
	if err := json.Unmarshal(orNull(values["body"]), &body); err != nil {
		wrong("`body` is not a text", "write it in base64, such as \"SGVsbG8=\"; in jq: `@base64`")
	} else if _, err := base64.StdEncoding.DecodeString(body); err != nil {
		wrong("`body` is not base64", "write \"SGVsbG8=\" for `Hello`; in jq: `@base64`")
	}
	var header map[string][]string
	if err := json.Unmarshal(orNull(values["header"]), &header); err != nil {
		wrong("`header` is not a map of lists", `write lists of texts, such as {"Content-Type": ["text/plain"]}`)
	} else if n := len(fields(orNull(values["header"]))); n > len(header) {
		wrong("`header` has a name twice", "remove one of them")
	}
	return true, ok
}

// orNull returns a value, or null for a missing one.
func orNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	return value
}

// field is one entry of an object.
type field struct {
	key   string
	value json.RawMessage
}

// fields returns the entries of valid JSON, in order, with repetitions; none if it is not an
// object.
func fields(object json.RawMessage) (all []field) {
	d := json.NewDecoder(strings.NewReader(string(object)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		name, isText := key.(string)
		if err != nil || !isText {
			return all
		}
		all = append(all, field{name, value})
	}
	return all
}
