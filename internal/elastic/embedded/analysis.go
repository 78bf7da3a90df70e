package embedded

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	segmenter "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
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

func (a *analyzer) tokens(text string) []token {
	stream := segmenter.NewUnicodeTokenizer().Tokenize([]byte(text))
	out := make([]token, 0, len(stream))
	for _, t := range stream {
		term, start := string(t.Term), t.Start
		for utf8.RuneCountInString(term) > maxTokenRunes {
			cut := 0
			for range maxTokenRunes {
				_, n := utf8.DecodeRuneInString(term[cut:])
				cut += n
			}
			start += cut
			out = append(out, token{a.normalize(term[:cut]), start})
			term = term[cut:]
		}
		out = append(out, token{a.normalize(term), t.End})
	}
	return out
}

func (a *analyzer) normalize(term string) string {
	if a.lower {
		term = strings.Map(unicode.ToLower, term)
	}
	if a.fold && strings.ContainsFunc(term, func(r rune) bool { return r >= utf8.RuneSelf }) {
		term = string(asciifolding.New().Filter([]byte(term)))
	}
	return term
}

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
