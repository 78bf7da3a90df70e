package safe

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/locbench/locbench/internal/testenv"
)

// hostile holds one of each kind of character that must not reach a terminal.
const hostile = "\x1b[31m\x07\x7f\u009b1m\u0085\u202e\u2066\u200e\u061c\u2028\U000e0001"

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "",
		"a\tb\nc\r\n":       "a\tb\nc\r\n",
		"done\rFAKE":        "done␍FAKE",
		"\x1b[31mred\x7f":   "␛[31mred␡",
		"\u009b31m a\u202e": "\ufffd31m a\ufffd",
		"\x9b":              "\ufffd",
		"Łódź – Köln":       "Łódź – Köln",
	} {
		testenv.Equal(t, Text(in), want, in)
	}
}

func TestJSON(t *testing.T) {
	data := testenv.Must(json.Marshal(map[string]string{"text": hostile + "Köln \U0001f600"}))(t)
	got := JSON(data)
	for _, r := range string(got) {
		testenv.Check(t, !unicode.IsControl(r) && !unsafe(r), "%s holds %U", got, r)
	}
	var back map[string]string
	if err := json.Unmarshal(got, &back); err != nil || back["text"] != hostile+"Köln \U0001f600" {
		t.Errorf("%q, %v", back, err)
	}
	plain := []byte(`{"a":"Köln"}`)
	testenv.Check(t, bytes.Equal(JSON(plain), plain), "%s", JSON(plain))
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
	text := "a secret of Köln " + hostile + "\n"
	for _, c := range []byte(text) { // one at a time: characters stay whole, and all come
		if n, err := w.Write([]byte{c}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	testenv.Equal(t, b.String(), Text(text))
	b.Reset()
	if n, err := w.Write([]byte(text)); n != len(text) || err != nil || b.String() != strings.Replace(Text(text), "secret", "***", 1) {
		t.Errorf("%d, %v: %q", n, err, b.String())
	}
	testenv.Equal(t, w.Unwrap() == &b, true, "unwrapped is the writer")
}
