package table

import (
	"regexp"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
)

// Markdown returns the table in GitHub's Markdown. A table without rows is empty.
func (t Table) Markdown() string {
	if len(t.Rows) == 0 {
		return ""
	}
	var b strings.Builder
	rule := "\n|"
	for i, c := range t.Columns {
		b.WriteString("| " + Escape(c.Title) + " ")
		if rule += "---"; !c.Left && i > 0 {
			rule += ":"
		}
		rule += "|"
	}
	b.WriteString("|" + rule + "\n")
	for _, row := range t.Rows {
		for i := range t.Columns {
			c := row.cell(i)
			text := Escape(c.Text)
			if len(c.Small) > 0 {
				text += " (" + Escape(strings.Join(c.Small, ", ")) + ")"
			}
			if c.Tone == Strong && text != "" {
				text = "**" + text + "**"
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// Escape makes text plain in a table cell, a list item or a paragraph of Markdown: it forms no
// emphasis, link, code, formula or HTML, it begins no block, its addresses do not become links, its
// at signs mention no users, and its numbers no issues.
func Escape(s string) string {
	s = special.Replace(issue.ReplaceAllString(strings.TrimSpace(s), "${1}"+string(safe.ZeroWidth)+"${2}"))
	s = webAddress.ReplaceAllString(s, "${1}&#46;")
	return numberStart.ReplaceAllString(blockStart.ReplaceAllString(s, `\$0`), `$1\$2`)
}

var (
	special = strings.NewReplacer(
		`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `|`, `\|`, `~`, `\~`, `$`, `\$`,
		`<`, `&lt;`, `>`, `&gt;`, `&`, `&amp;`, "\u00a0", ` `,
		`://`, `&#58;//`, "@", "@"+string(safe.ZeroWidth), "\n", " ", "\r", " ",
	)
	issue       = regexp.MustCompile(`(?i)(#|\bGH-)([0-9])`)
	webAddress  = regexp.MustCompile(`(?i)\b(www)\.`)
	blockStart  = regexp.MustCompile(`^[-+#=]`) // starts a list, a heading or a rule
	numberStart = regexp.MustCompile(`^([0-9]+)([.)](?:\s|$))`)
)
