package report

import (
	"regexp"
	"strings"
)

// escape makes text plain in Markdown, in a table cell, a list item or a paragraph: no emphasis,
// link, code, formula or HTML comes about, no block begins with it, no address in it becomes a
// link, and nobody is called by an at sign.
func escape(s string) string {
	s = strings.NewReplacer(
		`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `|`, `\|`, `~`, `\~`, `$`, `\$`,
		`<`, `&lt;`, `>`, `&gt;`, `&`, `&amp;`, nbsp, ` `, `://`, `&#58;//`, "@", "@\u200b", "\n", " ", "\r", " ",
	).Replace(strings.TrimSpace(s))
	s = webAddress.ReplaceAllString(s, "${1}&#46;")
	return numberStart.ReplaceAllString(blockStart.ReplaceAllString(s, `\$0`), `$1\$2`)
}

var (
	webAddress  = regexp.MustCompile(`(?i)\b(www)\.`)
	blockStart  = regexp.MustCompile(`^[-+#=]`) // of a list, a heading, a rule
	numberStart = regexp.MustCompile(`^([0-9]+)([.)](?:\s|$))`)
)
