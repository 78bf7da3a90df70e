package embedded

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

// sizes are the fields of a name by the number of words in a term: search_as_you_type adds _2gram
// and _3gram to the field of single words.
const sizes = 3

// terms are the terms of a text by number of words less one: with diacritics, and without.
type terms [2][sizes][]string

// termsOf returns the terms of a text, and whether the text ends with its last word: that may be
// the beginning of a longer one.
func termsOf(text string) (all *terms, open bool) {
	words, open := split(text)
	all = &terms{0: {words}, 1: {folded(words)}}
	for i := range all {
		words := all[i][0]
		for n := 1; n < sizes; n++ {
			for first := 0; first+n < len(words); first++ {
				all[i][n] = append(all[i][n], strings.Join(words[first:first+n+1], " "))
			}
		}
	}
	return all, open
}

// split cuts a text into words, in lower case, nearly as Elasticsearch's standard tokenizer does:
// scripts without spaces between words are not cut. open says that the text ends with a word.
func split(text string) (words []string, open bool) {
	runes := []rune(strings.ToLower(text))
	from := -1 // of the word
	for i, r := range runes {
		inside := unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Cf, unicode.Other_Alphabetic) && r != zeroSpace ||
			r == '_' || from >= 0 && i+1 < len(runes) && joins(runes[i-1], r, runes[i+1])
		switch {
		case inside && from < 0:
			from = i
		case !inside && from >= 0:
			words, from = append(words, string(runes[from:i])), -1
		}
	}
	if from >= 0 {
		words = append(words, string(runes[from:]))
	}
	return words, from >= 0
}

const zeroSpace = '\u200b' // the zero-width space

// joins reports whether a sign between two letters, or two digits, does not end the word.
func joins(before, sign, after rune) bool {
	return strings.ContainsRune(".'’:·", sign) && (unicode.IsLetter(before) && unicode.IsLetter(after) ||
		unicode.IsDigit(before) && unicode.IsDigit(after))
}

// folded returns words without diacritics.
func folded(words []string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = word
		if strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) {
			out[i] = folding().Replace(word)
		}
	}
	return out
}

// foldingTable is Lucene's ASCIIFoldingFilter: per line a text and the characters that become it.
//
//go:embed folding.txt
var foldingTable string

var folding = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for line := range strings.Lines(foldingTable) {
		text, from, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		for _, r := range from {
			pairs = append(pairs, string(r), text)
		}
	}
	return strings.NewReplacer(pairs...)
})
