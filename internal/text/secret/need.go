package secret

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// need adds the secrets of a need by the names and places that its form has. A password that is
// part of another text there, such as the name of the image, is masked in its place only.
func (f *finder) need(n bench.NeedSpec) {
	var own finder
	var public []string
	add := func(key, text, masked string) {
		if needSecret(key, text) {
			own.secret(text)
		} else {
			public = append(public, masked)
		}
		own.text(text)
	}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case string:
			add(key, v, Masker{}.Text(v))
		case []any:
			argv := texts(v)
			for i, masked := range (Masker{}).Args(argv) {
				if _, ok := v[i].(string); ok {
					add("", argv[i], masked)
				} else {
					walk("", v[i])
				}
			}
			own.args(argv)
		case map[string]any:
			for key, item := range v {
				walk(key, item)
			}
		}
	}
	walk("", decoded(n.Of.JSON()))
	own.text(n.URL)
	for _, value := range own.values {
		partOf := func(text string) bool { return text != value && strings.Contains(text, value) }
		if strings.Contains(n.URL, value) || !slices.ContainsFunc(public, partOf) {
			f.add(value)
		}
	}
}

// texts returns the texts of a list, "" in place of what is none.
func texts(list []any) []string {
	all := make([]string, len(list))
	for i, item := range list {
		all[i], _ = item.(string)
	}
	return all
}

// needSecret is isSecret for a key of a need: that of a file only says where the secret is.
func needSecret(key, value string) bool {
	return isSecret(key, value) && !strings.HasSuffix(strings.ToUpper(key), "_FILE")
}

// keptKeys are those of a need whose text is a name, as kept is for fields.
var keptKeys = []string{"image", "like", "dir"}

// form returns a copy of a need's form without secrets.
func (m Masker) form(raw bench.NeedForm) bench.NeedForm {
	masked := false
	text := func(key, s string) string {
		out := s
		switch {
		case needSecret(key, s):
			out = around(s)
		case !slices.Contains(keptKeys, key):
			out = m.Text(s)
		}
		masked = masked || out != s
		return out
	}
	var walk func(key string, v any) any
	walk = func(key string, v any) any {
		switch v := v.(type) {
		case string:
			return text(key, v)
		case []any:
			for i, out := range m.Args(texts(v)) {
				if s, ok := v[i].(string); ok {
					v[i], masked = out, masked || out != s
				} else {
					v[i] = walk("", v[i])
				}
			}
		case map[string]any:
			for key, item := range v {
				v[key] = walk(key, item)
			}
		}
		return v
	}
	of := walk("", decoded(raw.JSON()))
	out, err := json.Marshal(of)
	if !masked || err != nil { // other forms keep their text, of which a run has the hash
		return raw
	}
	return bench.FormFrom(out)
}

// decoded returns the form of a need; nil if it has none. Numbers stay exact.
func decoded(of json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(of))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}
