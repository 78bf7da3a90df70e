package embedded

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// analyzer cuts text into terms as Elasticsearch's standard tokenizer with these filters does.
type analyzer struct {
	lower, fold bool
	why         string // what it wants that is not supported; "" if it works
}

// token is a term and where its text ends in the input, in bytes.
type token struct {
	term string
	end  int
}

// customAnalyzer makes one from its settings, which are JSON texts.
func customAnalyzer(settings map[string]string) *analyzer {
	a := &analyzer{}
	for key, raw := range settings {
		switch value := strings.Trim(raw, `"`); key {
		case "type", "tokenizer":
			if key == "type" && value == "standard" {
				a.lower = true
			} else if value != map[string]string{"type": "custom", "tokenizer": "standard"}[key] {
				a.why = key + " " + shorten(value)
			}
		case "filter":
			list, err := stringOrList("filter", json.RawMessage(raw))
			if err != nil {
				a.why = "malformed filter"
			}
			for _, name := range list {
				switch name {
				case "lowercase":
					a.lower = true
				case "asciifolding":
					a.fold = true
				default:
					a.why = "filter " + shorten(name)
				}
			}
			// "ẞ" folds to "SS": in the other order capitals would be left.
			if slices.Equal(list, []string{"asciifolding", "lowercase"}) {
				a.why = "asciifolding before lowercase"
			}
		default:
			a.why = "the option " + shorten(key)
		}
	}
	return a
}

// maxTokenRunes is where the standard tokenizer cuts a longer token.
const maxTokenRunes = 255

func (a *analyzer) tokens(text string) (out []token) {
	for segments := words.FromBytes([]byte(text)); segments.Next(); {
		word, end := segments.Value(), segments.Start()
		if !isWord(word) {
			continue
		}
		for len(word) > 0 {
			n := len(word)
			if n > maxTokenRunes {
				n = 0
				for i := 0; i < maxTokenRunes && n < len(word); i++ {
					_, size := utf8.DecodeRune(word[n:])
					n += size
				}
			}
			end += n
			out = append(out, token{a.normalize(string(word[:n])), end})
			word = word[n:]
		}
	}
	return out
}

// isWord tells a word or number from what stands between them.
func isWord(segment []byte) bool {
	for i := 0; i < len(segment); {
		r, n := utf8.DecodeRune(segment[i:])
		if unicode.In(r, unicode.L, unicode.N, unicode.Other_Alphabetic) {
			return true
		}
		i += n
	}
	return words.BleveNumeric(segment) || words.BleveIdeographic(segment)
}

func (a *analyzer) normalize(term string) string {
	if a.lower {
		term = strings.Map(unicode.ToLower, term)
	}
	if !a.fold || !strings.ContainsFunc(term, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return term
	}
	var out strings.Builder
	table := folding()
	for _, r := range term {
		if ascii, ok := table[r]; ok {
			out.WriteString(ascii)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// foldingTable is that of Lucene's ASCIIFoldingFilter: on each line a text and the characters that
// become it.
//
//go:embed folding.txt
var foldingTable string

var folding = sync.OnceValue(func() map[rune]string {
	table := map[rune]string{}
	for line := range strings.Lines(foldingTable) {
		text, from, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		for _, r := range from {
			table[r] = text
		}
	}
	return table
})

// Suffixes of the fields that a search_as_you_type field brings along.
var shingleSuffix = [...]string{1: "", 2: "._2gram", 3: "._3gram", 4: "._4gram"}

// shingle joins each n tokens that follow one another, as _2gram and _3gram do; 1 changes nothing.
func shingle(tokens []token, n int) []token {
	if n <= 1 {
		return tokens
	}
	if len(tokens) < n {
		return nil
	}
	out := make([]token, 0, len(tokens)-n+1)
	for i := range len(tokens) - n + 1 {
		term := tokens[i].term
		for _, t := range tokens[i+1 : i+n] {
			term += " " + t.term
		}
		out = append(out, token{term, tokens[i+n-1].end})
	}
	return out
}
