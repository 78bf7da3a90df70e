package main

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/secret"
)

const root = "../../.."

// unused is a row of the glossary: phrases that are not used, what is written instead, and the
// longer phrases in which they are fine.
type unused struct {
	literals      []string // in lower case: a text without any is not searched, which takes long
	phrases, fine *regexp.Regexp
	instead       string
}

func phrases(cell string) *regexp.Regexp {
	all := strings.Split(cell, ", ")
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for i := range all {
		all[i] = regexp.QuoteMeta(strings.TrimSpace(all[i]))
	}
	return regexp.MustCompile(`(?i)(^|[^\pL\pN_])(` + strings.Join(all, "|") + `)([^\pL\pN_]|$)`)
}

func vocabulary(t *testing.T) (all []unused) {
	data, err := os.ReadFile(root + "/docs/glossary.md")
	testenv.OK(t, err)
	_, table, _ := strings.Cut(string(data), "## Words that are not used")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || strings.HasPrefix(cells[0], "--") || strings.TrimSpace(cells[0]) == "not" {
			continue
		}
		not := strings.TrimSpace(cells[0])
		u := unused{literals: strings.Split(strings.ToLower(not), ", "), phrases: phrases(not), instead: strings.TrimSpace(cells[1])}
		if fine := strings.TrimSpace(cells[2]); fine != "" {
			u.fine = phrases(fine)
		}
		all = append(all, u)
	}
	percent := regexp.MustCompile(`(\d)([ \x{a0}]%)([^\pL\pN.+#(-]|$)`)
	return append(all, unused{literals: []string{"%"}, phrases: percent, instead: "95%, without a space"})
}

func (u unused) in(text string) []string {
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(u.literals, func(literal string) bool { return strings.Contains(lower, literal) }) {
		return nil
	}
	if u.fine != nil {
		text = u.fine.ReplaceAllString(text, "$1…$3")
	}
	if m := u.phrases.FindStringSubmatch(text); m != nil {
		return m[2:3]
	}
	return nil
}

// exceptions are texts that stay: the element of HTML, the path of a package, and the cases below.
var exceptions = []struct{ file, text string }{
	{"internal/show/report/page_charts.go", "figure"},
	{"cmd/locbench/needs_test.go", "internal/figures"},
	{"internal/testenv/words/words_test.go", ""},
}

func excepted(s Sentence) bool {
	for _, e := range exceptions {
		if e.file == s.File && strings.Contains(s.Text, e.text) {
			return true
		}
	}
	return false
}

var read = sync.OnceValues(func() ([]Sentence, error) { return sentences(root) })

// TestWords: a word that the glossary does not use is in no literal, template, document or comment.
func TestWords(t *testing.T) {
	all, err := read()
	testenv.OK(t, err)
	words := vocabulary(t)
	testenv.Need(t, len(all) >= 10_000 && len(words) >= 30, "%d sentences, %d rows of words", len(all), len(words))
	only := os.Getenv("WORDS_IN") // a path prefix, for work on one folder
	for _, s := range all {
		if excepted(s) || !strings.HasPrefix(s.File, only) {
			continue
		}
		for _, u := range words {
			for _, found := range u.in(s.Text) {
				t.Errorf("%s:%d: %q; write %s: %.200s", s.File, s.Line, found, u.instead, s.Text)
			}
		}
	}
}

// TestGlossary: the rules of the table match what they are to match, and each term stands once.
func TestGlossary(t *testing.T) {
	for text, want := range map[string]bool{
		"it told us": true, "nobody's": true, "Somebody": true, "foretold": false, "there is no index": false, "it is no index": true,
		"no such file": false, "there is no such key": true, "95 % of": true, "95% of": false, "x % y": false, "fingerprints": false,
		"answer_ns": false, "the answer": true, "as it\u00a0is": false, "due to rain": false, "when due": true,
	} {
		found := slices.ContainsFunc(vocabulary(t), func(u unused) bool { return len(u.in(text)) > 0 })
		testenv.Check(t, found == want, "%q: found %t", text, found)
	}
	data, err := os.ReadFile(root + "/docs/glossary.md")
	testenv.OK(t, err)
	terms := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\*\*([^*]+)\.\*\*`).FindAllStringSubmatch(string(data), -1) {
		testenv.Check(t, !terms[m[1]], "%s stands twice", m[1])
		terms[m[1]] = true
	}
	testenv.Check(t, len(terms) >= 50, "%d terms", len(terms))
}

// The mask does not change what locbench itself says: no message, help text, hint or example.
func TestMaskKeepsSentences(t *testing.T) {
	all, err := read()
	testenv.OK(t, err)
	for _, s := range all {
		if !s.User {
			continue
		}
		text := strings.ReplaceAll(s.Text, "{%s}", "{token}")
		testenv.Equal(t, (secret.Masker{}).Text(text), text, s.File, s.Line)
	}
}
