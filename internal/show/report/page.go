package report

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/table"
)

// markup is HTML of this package's source. A text constant converts to it, a value of a run does
// not compile.
type markup string

// pageWriter is HTML in the making.
type pageWriter struct{ bytes.Buffer }

// put writes HTML. Each {} in it, in text or within the quotes of an attribute, becomes the next
// value, escaped.
func (p *pageWriter) put(m markup, values ...any) {
	rest := string(m)
	for _, v := range values {
		before, after, _ := strings.Cut(rest, "{}")
		p.WriteString(before)
		p.WriteString(html.EscapeString(fmt.Sprint(v)))
		rest = after
	}
	p.WriteString(rest)
}

// optional writes HTML with one value unless that is empty.
func (p *pageWriter) optional(m markup, value string) {
	if value != "" {
		p.put(m, value)
	}
}

// every writes HTML with one value for each of them.
func (p *pageWriter) every(m markup, values []string) {
	for _, v := range values {
		p.put(m, v)
	}
}

func (p *pageWriter) document(d document) {
	p.head(d)
	p.put("<main>\n")
	p.conclusion(d.Conclusion, d.First)
	p.put("<p class=\"sub\">{} · started {}", units.Plural(d.Trials, "trial"), d.When)
	p.optional(" · run {}", d.State)
	p.optional(" · <code>{}</code>", d.Folder)
	p.put("</p>\n\n")
	for _, s := range d.Sections {
		p.put("<section id=\"{}\">\n<h2>{}</h2>\n", s.ID, s.Title)
		wide := s.ID == "results" || s.ID == "bottlenecks" // a column for each contender
		p.table(s.Table, "results"+when(s.ID == "results" && len(d.Contenders) > denseFrom, " many")+when(!wide, " cards"))
		p.put("</section>\n")
	}
	p.failures(d)
	p.warnings(d.Warnings)
	p.charts(d)
	if !d.Apart {
		p.checks(d.Checks)
	}
	p.put("<section id=\"environment\">\n<h2>Environment</h2>\n" +
		`<p class="note">What the results depend on. Compare results only if these match.</p>` + "\n")
	for _, group := range d.Environment {
		if len(group.Facts) > 0 {
			p.put(`<details class="folded"><summary><h3>{}</h3></summary>`+"\n", group.Name)
			p.facts(group.Facts)
			p.put("</details>\n")
		}
	}
	p.put("</section>\n")
	p.reproduce(d.Reproduce)
	p.put("<section id=\"definitions\">\n<h2>Definitions</h2>\n")
	p.facts(d.Definitions)
	p.put("</section>\n</main>\n<footer>\n<p>Made by locbench")
	p.optional(" {}", d.Version)
	p.put(". Self-contained: it loads nothing. Embeds Apache ECharts {} (Apache License 2.0).</p>\n", libraryVersion)
	p.put(`<details><summary>License texts</summary><pre tabindex="0">{}</pre></details>`+"\n</footer>\n", licenses())
	p.put(`<noscript><p class="loud">Charts need JavaScript; the tables of the measures over the steps show the same values.</p></noscript>` + "\n")
}

func (p *pageWriter) head(d document) {
	p.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"+
		`<meta http-equiv="Content-Security-Policy" content="{}">`+"\n"+
		`<meta name="viewport" content="width=device-width, initial-scale=1">`+"\n"+
		`<meta name="referrer" content="no-referrer">`+"\n"+
		`<meta name="color-scheme" content="light dark">`+"\n"+
		"<title>{} · locbench</title>\n<style>", d.Policy, d.Title)
	p.Write(joined(styles)) // files of this package
	p.put("</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n<p class=\"sub\">{}</p>\n<nav>", d.Title, d.Conclusion.About)
	link := func(shown bool, id, title string) {
		if shown {
			p.put(`<a href="#{}">{}</a> `, id, title)
		}
	}
	for _, s := range d.Sections {
		link(s.ID == "probes", s.ID, "Probes")
		link(s.ID == "results", s.ID, "Results")
	}
	link(len(d.Failures)+len(d.MoreProblems) > 0, "failures", "Failures")
	link(len(d.Warnings) > 0, "warnings", "Warnings")
	link(true, "charts", "Charts")
	link(!d.Apart, "checks", "Checks")
	link(d.Reproduce.shown(), "reproduce", "Repeat")
	p.put(`<a href="#definitions">Definitions</a></nav>` + "\n</header>\n")
}

func (p *pageWriter) where(place string) { p.optional(` <span class="where">({})</span>`, place) }

func (p *pageWriter) facts(facts []fact) {
	p.put("<dl>")
	for _, f := range facts {
		p.put("<div><dt>{}</dt><dd>{}</dd></div>\n", f.Name, f.Value)
	}
	p.put("</dl>\n")
}

// table writes a table, and its notes folded.
func (p *pageWriter) table(t table.Table, class string) {
	p.put(`<div class="wide" tabindex="0">`)
	p.WriteString(t.HTML(class)) // escaped
	p.put("</div>\n")
	if len(t.Footnotes) > 0 {
		p.put(`<details class="folded"><summary>Notes</summary>` + "\n")
		p.every("<p class=\"note\">{}</p>\n", t.Footnotes)
		p.put("</details>\n")
	}
}
