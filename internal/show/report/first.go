package report

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench/units"
)

// maxShown is how many problems and caveats the first screen has; the sections below have all.
const maxShown = 3

// denseFrom is the number of rows above which a table has small rows.
const denseFrom = 6

// conclusion writes the first screen: verdict, four facts in fixed places, what failed, one table, two
// charts, and the worst caveats.
func (p *pageWriter) conclusion(r conclusion.Conclusion, all []chart) {
	tone := map[conclusion.Tone]string{conclusion.Neutral: "open", conclusion.Good: "good", conclusion.Bad: "bad"}[r.Tone]
	p.put(`<section id="conclusion" class="conclusion {}">`+"\n<p>{}</p>\n", tone, r.Verdict)
	p.every("<p class=\"why\">{}</p>\n", r.Why[:min(len(r.Why), maxShown-1)])
	p.put("<dl>")
	p.put("<div><dt>Confidence</dt><dd>{}</dd></div><div><dt>Cost</dt><dd>{}</dd></div>", r.Confidence, r.Cost)
	if r.Failed {
		p.put(`<div><dt class="failed">Failures</dt><dd>{}</dd></div>`, r.Failures)
	} else {
		p.put("<div><dt>Failures</dt><dd>{}</dd></div>", r.Failures)
	}
	p.put("<div class=\"next\"><dt>Next step</dt><dd tabindex=\"0\">{}", r.Next)
	p.optional(": <code>{}</code>", r.Command)
	p.put("</dd></div></dl>\n</section>\n")
	class := "pair"
	if r.Tone == conclusion.Bad || slices.ContainsFunc(r.Problems, func(one conclusion.Problem) bool { return one.Cause != "" }) {
		p.problems(r.Problems)
		r.Problems, class = nil, "pair low"
	}
	dense := len(r.Table.Rows) > denseFrom
	if dense { // the charts are next to a long table
		class = "side"
		p.put(`<div class="columns">`)
	}
	if len(r.Table.Rows) > 0 {
		p.put(`<div class="wide" tabindex="0">`)
		p.WriteString(r.Table.HTML(strings.TrimSuffix("first "+when(dense, "dense"), " "))) // escaped
		p.put("</div>\n")
	}
	if len(all) > 0 {
		p.put(`<div class="{}">`, class)
		for _, ch := range all {
			p.chart(ch)
		}
		p.put("</div>\n")
	}
	if dense {
		p.put("</div>\n")
	}
	p.caveats(r)
	p.put(`<p class="below"><strong>Next step</strong> {}`, r.Next) // of a narrow page
	p.optional(": <code>{}</code>", r.Command)
	p.put("</p>\n")
}

// problems writes a card for each of the worst problems.
func (p *pageWriter) problems(all []conclusion.Problem) {
	if len(all) == 0 {
		return
	}
	p.put(`<div class="problems">`)
	for _, one := range all[:min(len(all), maxShown)] {
		class, mark, verb := "failed", "✗", "Excluded: it "
		if one.Warning {
			class, mark, verb = "notice", "⚠", ""
		}
		p.put(`<article class="{}"><h2>{} {}</h2><p>{}{}</p>`, class, mark, one.Contender, verb, one.What)
		p.optional("<p><b>Likely cause</b> {}</p>", one.Cause)
		p.optional(`<p tabindex="0"><b>Remedy</b> {}</p>`, one.Remedy)
		p.put("</article>")
	}
	p.put("</div>\n")
}

// caveats writes the worst caveats in a line, and where the others are.
func (p *pageWriter) caveats(r conclusion.Conclusion) {
	if len(r.Problems)+len(r.Caveats)+len(r.Table.Footnotes) == 0 {
		return
	}
	p.put(`<ul class="worst">`)
	failed := slices.DeleteFunc(slices.Clone(r.Problems), func(one conclusion.Problem) bool { return one.Warning })
	for _, one := range failed[:min(len(failed), maxShown)] {
		p.put(`<li><b class="failed">✗ {}</b> is excluded: it {}</li>`, one.Contender, one.What)
	}
	for _, s := range r.Caveats[:min(len(r.Caveats), maxShown-1)] {
		p.put(`<li>⚠ {}</li>`, s.Text)
	}
	for _, note := range r.Table.Footnotes {
		p.put(`<li class="note">{}</li>`, note)
	}
	if more := len(r.Caveats) - maxShown + 1; more > 0 {
		p.put(`<li><a href="#warnings">{}</a></li>`, units.Plural(more, "more warning"))
	}
	p.put("</ul>\n")
}
