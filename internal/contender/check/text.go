package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

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
