package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// maxSummary is how many bytes summary.md has at most: comments of pull requests hold 65,536 letters,
// and others add to it.
const maxSummary = 60_000

// Markdown writes summary.md, which a pull request can show: the verdict, the table, cost and
// failures, and the worst caveat; everything else is folded. report.html has the charts and every
// step. What does not fit is left out, and said.
func Markdown(w io.Writer, a *analysis.Run, opts Options) error {
	d := newDocument(a, newLayout(a), opts)
	type named struct {
		template, title string
		data            any
	}
	all := []named{{"beginning", "", d}, {"folded", "", d}, {"Failures", "Failures", d}}
	for _, s := range d.Sections {
		all = append(all, named{"section", s.Title, s})
	}
	for _, name := range []string{"Checks", "Warnings", "Environment", "Repeat"} {
		all = append(all, named{name, name, d})
	}
	var parts []*part
	for _, one := range all {
		var b strings.Builder
		if err := summary().ExecuteTemplate(&b, one.template, one.data); err != nil {
			return fmt.Errorf("write summary: %w", err)
		}
		p := &part{title: one.title, text: safe.Text(b.String())}
		if p.title != "" && p.text != "" {
			p.text = "\n## " + safe.Text(table.Escape(p.title)) + "\n\n" + p.text
		}
		parts = append(parts, p)
	}
	left := fit(slices.Delete(slices.Clone(parts), 1, 2), maxSummary-len(parts[1].text))
	text := ""
	for _, p := range parts {
		text += p.text
	}
	if _, err := io.WriteString(w, text+"\n</details>\n"+left); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// summary is summary.tmpl, parsed once. Its md makes text plain in Markdown; see table.Escape.
var summary = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).Funcs(template.FuncMap{"md": table.Escape, "fence": fence}).
		Parse(string(embedded("summary.tmpl"))))
})

// part is a part of summary.md; the first ones have no title.
type part struct{ title, text string }

// forEnd is how many bytes the end of the file needs at most, with what was left out.
const forEnd = 4000

// fit shortens parts to a number of bytes, and returns what it left out. Parts keep their order, and
// get up to half of the room that is left by importance: logs and tables of thousands of lines leave
// some for warnings and for how to repeat the run.
func fit(parts []*part, most int) (left string) {
	size := 0
	for _, p := range parts {
		size += len(p.text)
	}
	if size+len("\n</details>\n") <= most {
		return ""
	}
	room := most - forEnd
	rank := map[string]int{"": -4, "Failures": -3, "Warnings": -2, "Repeat": -1, "Environment": 1} // the others: 0
	ranked := slices.Clone(parts)
	slices.SortStableFunc(ranked, func(a, b *part) int { return cmp.Compare(rank[a.title], rank[b.title]) })
	var texts []string
	for _, p := range ranked {
		share := room
		if p.title != "" {
			share /= 2
		}
		if len(p.text) > share {
			all := strings.Count(p.text, "\n")
			p.text = firstLines(p.text, share)
			texts = append(texts, fmt.Sprintf("%s (%s of %s)", cmp.Or(table.Escape(p.title), "the beginning"), units.Count(int64(all-strings.Count(p.text, "\n"))),
				units.Plural(all, "line")))
		}
		room -= len(p.text)
	}
	left = safe.Text(strings.Join(texts, ", "))
	if len(left) > forEnd/2 {
		left = strings.ToValidUTF8(left[:forEnd/2], "") + " …"
	}
	return "\nLeft out here, most important first, as this file has " + units.Count(maxSummary) + " bytes at most: " + left +
		". report.html has all of it.\n"
}

// firstLines returns the first whole lines of text, with the end of a code fence that they open.
func firstLines(text string, most int) string {
	kept, end := 0, ""
	for line := range strings.Lines(text) {
		fenced := end
		if ticks := len(line) - len(strings.TrimLeft(line, "`")); ticks >= 3 {
			switch mark := line[:ticks] + "\n"; {
			case end == "":
				fenced = mark
			case line == end:
				fenced = ""
			}
		}
		if kept+len(line)+len(fenced) > most {
			break
		}
		kept, end = kept+len(line), fenced
	}
	return text[:kept] + end
}

// fence returns a code fence that no line of the text can close.
func fence(text string) string {
	longest := 0
	for ticks := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(ticks))
	}
	return strings.Repeat("`", max(3, longest+1))
}
