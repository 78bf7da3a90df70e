package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var null = json.RawMessage("null")

func rawInt(n int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(n, 10)) }

func rawNumber(x float64) json.RawMessage {
	raw, err := json.Marshal(x)
	if err != nil { // infinite, or no number
		return null
	}
	return raw
}

func rawMS(d time.Duration) json.RawMessage { return rawNumber(float64(d) / 1e6) }

func rawString(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // text always encodes
	return bytes.TrimSpace(b.Bytes())
}

// textOf is the text under which a JSON value is kept: a string as it is, unless it reads like
// another value; anything else as JSON.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && !bytes.Equal(raw, null) && !json.Valid([]byte(s)) && s != "" {
		return s
	}
	return string(raw)
}

// rawOf is the JSON value that textOf has kept.
func rawOf(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return rawString(text)
}

// encode writes the file with one line for each value of checks and stats.
func (f harnessFile) encode() []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"checks\": {")
	for i, c := range f.Checks {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    %s: %s", rawString(c.label), c.value)
	}
	b.WriteString("\n  },\n  \"stats\": [")
	keys := harnessKeys()
	for i, s := range f.Stats {
		if i > 0 {
			b.WriteByte(',')
		}
		var parts []string
		for k, raw := range s {
			if raw != nil {
				parts = append(parts, fmt.Sprintf("%q: %s", keys[k], raw))
			}
		}
		fmt.Fprintf(&b, "\n    {%s}", strings.Join(parts, ", "))
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes()
}
