package embedded

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// analyzer cuts text into terms as Elasticsearch's standard tokenizer does, in lower case, and
// without diacritics where it folds.
type analyzer struct{ fold bool }

// token is a term and the offset, in bytes, at which its text ends in the input.
type token struct {
	term string
	end  int
}

// customAnalyzer makes an analyzer from its settings; nil if they need something unsupported.
func customAnalyzer(settings json.RawMessage) *analyzer {
	var all struct {
		Type, Tokenizer string
		Filter          texts
	}
	d := json.NewDecoder(bytes.NewReader(settings))
	d.DisallowUnknownFields()
	if d.Decode(&all) != nil {
		return nil
	}
	switch filters := strings.Join(all.Filter, " "); {
	case all.Type == "standard" && all.Tokenizer+filters == "":
		return &analyzer{}
	case cmp.Or(all.Type, "custom") != "custom" || all.Tokenizer != "standard":
	case filters == "lowercase", filters == "lowercase asciifolding":
		return &analyzer{fold: len(all.Filter) == 2}
	}
	return nil
}

// analyzed is a text and whether it is folded.
type analyzed struct {
	text string
	fold bool
}

// tokens returns the tokens of a text. It looks them up in known first and adds them to it.
func (a *analyzer) tokens(text string, known map[analyzed][]token) []token {
	plain, ok := known[analyzed{text, false}]
	if !ok {
		plain = tokenize(text)
		known[analyzed{text, false}] = plain
	}
	if !a.fold {
		return plain
	}
	folded, ok := known[analyzed{text, true}]
	if !ok {
		folded = slices.Clone(plain)
		for i := range folded {
			folded[i].term = foldASCII(folded[i].term)
		}
		known[analyzed{text, true}] = folded
	}
	return folded
}

// maxTokenRunes is the length at which the standard tokenizer splits a token.
const maxTokenRunes = 255

func tokenize(text string) (out []token) {
	for segments := words.FromBytes([]byte(text)); segments.Next(); {
		word, end := segments.Value(), segments.Start()
		if !isWord(word) {
			continue
		}
		for len(word) > 0 {
			n := 0
			for i := 0; i < maxTokenRunes && n < len(word); i++ {
				_, size := utf8.DecodeRune(word[n:])
				n += size
			}
			end += n
			out = append(out, token{strings.Map(unicode.ToLower, string(word[:n])), end})
			word = word[n:]
		}
	}
	return out
}

// isWord reports whether a segment is a word or number, not the text between them.
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

func foldASCII(term string) string {
	if !strings.ContainsFunc(term, func(r rune) bool { return r >= utf8.RuneSelf }) {
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

// foldingTable is Lucene's ASCIIFoldingFilter: per line a text and the characters that become it.
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

// Suffixes of the fields that a search_as_you_type field adds.
var shingleSuffix = [...]string{1: "", 2: "._2gram", 3: "._3gram"}

// shingle joins every n consecutive tokens, as _2gram and _3gram do; 1 changes nothing.
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
