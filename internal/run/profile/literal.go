package profile

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// bracedWord matches braces around a word, as other tools write a variable, in a text without
// places. The text {user} was written as {{user}}.
var bracedWord = regexp.MustCompile(`(\$?)(\{\{ *|\{ *)` +
	`([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+)?(?::[a-z]+)?)( *\}\}| *\})`)

// LiteralBraces returns a warning for each braces around the name of a variable that are a text,
// such as {{user}} and { user }: what is sent, and what to write. In a path they are mistakes.
func LiteralBraces(p bench.Profile) (warnings []string) {
	known := map[string]bool{}
	for _, v := range p.Variables {
		known[v.Name] = true
	}
	for _, r := range p.Every() {
		for _, s := range r.Save {
			known[s.Name] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range p.Every() {
		look := func(of, where, is string, words []braced) {
			for _, word := range words {
				if again := of + where + word.written; !seen[again] {
					seen[again] = true
					warnings = append(warnings, fmt.Sprintf("request %q: `%s` in %s is %s `%s`; "+
						"for the value of the variable write `{%s}`", r.Name, word.written, where, is, word.text, word.name))
				}
			}
		}
		body := cmp.Or(string(r.Encoding), "body")
		look(r.Name, "`"+body+"`", "sent as", literal(r.Body, r.Encoding == bench.FormBody, known))
		for _, f := range r.Multipart {
			look(r.Name, "`multipart`", "sent as", literal(f.Value+"\n"+f.FileName, false, known))
		}
		for _, name := range slices.Sorted(maps.Keys(r.Header)) { // that of all requests is one cause
			look("", "header "+name, "sent as", literal(r.Header[name], false, known))
		}
		for _, text := range r.ExpectedTexts() {
			look(r.Name, "`expect`", "the text", literal(text, false, known))
		}
	}
	return warnings
}

// braced is braces around a word.
type braced struct{ written, text, name string }

// literal returns the braces around known words in the texts of a template.
func literal(template string, escaped bool, known map[string]bool) (all []braced) {
	for _, part := range bench.Parts(template) {
		if part.Name != "" {
			continue
		}
		text := part.Text
		if plain, err := url.QueryUnescape(text); escaped && err == nil {
			text = plain
		}
		for _, m := range bracedWord.FindAllStringSubmatch(text, -1) {
			name, _ := values.Column(bench.Parts("{" + m[3] + "}")[0].Name)
			if !known[name] || m[1] != "" || (len(m[2]) > 1 && m[2][1] == '{') != (len(m[4]) > 1 && m[4][len(m[4])-2] == '}') {
				continue
			}
			word := braced{written: m[0], text: m[0], name: m[3]}
			if m[0] == "{"+m[3]+"}" {
				word.written = "{" + m[0] + "}"
			}
			all = append(all, word)
		}
	}
	return all
}
