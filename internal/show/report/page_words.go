package report

import (
	"strings"

	"github.com/locbench/locbench/internal/text/table"
)

// summary writes the sentences that the results support.
func (p *pageWriter) summary(parts []summaryPart) {
	if len(parts) == 0 {
		return
	}
	p.put("<section id=\"summary\">\n<h2>Summary</h2>\n")
	for _, part := range parts {
		if part.Folded {
			p.put(`<details class="folded"><summary><h3>{}</h3> ({})</summary>`+"\n", part.Title, len(part.Sentences))
		} else {
			p.put("<h3>{}</h3>\n", part.Title)
		}
		p.put(`<ul class="said {}">`, part.Class)
		p.every("<li>{}</li>\n", part.Sentences)
		p.put("</ul>\n")
		if part.Folded {
			p.put("</details>\n")
		}
	}
	p.put(`<p class="note">Written by fixed rules from the results. A contender leads only with six or more rounds, ` +
		"a significant test and a CI without 1.</p>\n</section>\n")
}

// procedures writes the tables before the charts, or those after them.
func (p *pageWriter) procedures(d document, late bool) {
	for _, one := range d.Procedures {
		if one.Late == late {
			p.put("<section id=\"{}\">\n<h2>{}</h2>\n", one.ID, one.Title)
			p.table(one.Table, "results")
			p.put("</section>\n")
		}
	}
}

func (p *pageWriter) thresholds(t table.Table) {
	if len(t.Rows) > 0 {
		p.put("\n<section id=\"thresholds\">\n<h2>Thresholds</h2>\n")
		p.table(t, "totals")
		p.put("</section>\n")
	}
}

func (p *pageWriter) failures(all []failure) {
	if len(all) == 0 {
		return
	}
	p.put("\n<section id=\"failures\">\n<h2>Failures</h2>\n")
	for _, f := range all {
		p.put("<article class=\"failure\">\n<h3>")
		p.swatch(f.Color)
		p.put("{} <span class=\"state\">{}</span></h3>\n", f.Trial, f.State)
		p.every("<p>{}</p>\n", f.What)
		if len(f.LastLog) > 0 {
			p.put("<p class=\"note\">Its log:</p>\n<pre tabindex=\"0\">")
			p.every("{}\n", f.LastLog)
			p.put("</pre>")
		}
		p.put("\n</article>\n")
	}
	p.put("</section>\n")
}

func (p *pageWriter) manualChanges(d document) {
	if len(d.ManualChanges) == 0 {
		return
	}
	p.put("\n<section id=\"manual-changes\">\n<h2>Manual changes</h2>\n" +
		"<p class=\"note\">Actions taken by hand during the run.</p>\n<ul>")
	for _, m := range d.ManualChanges {
		p.put("<li>{}: {}", m.When, m.What)
		p.where(m.Place())
		p.put("</li>\n")
	}
	if d.MoreChanges > 0 {
		p.put("<li>{} more</li>\n", d.MoreChanges)
	}
	p.put("</ul>\n</section>\n")
}

func (p *pageWriter) warnings(all []warning) {
	if len(all) == 0 {
		return
	}
	p.put("\n<section id=\"warnings\">\n<h2>Warnings</h2>\n<ul>")
	for _, w := range all {
		p.put("<li>{}", w.Text)
		p.where(w.Place())
		p.put("</li>\n")
	}
	p.put("</ul>\n</section>\n")
}

// shown reports whether there is anything to reproduce the run with.
func (r reproduction) shown() bool { return r.Command != "" || r.Profile != "" }

func (p *pageWriter) reproduce(r reproduction) {
	if !r.shown() {
		return
	}
	p.put("<section id=\"reproduce\">\n<h2>Reproduce</h2>\n")
	p.optional("<p>Run with</p>\n<pre tabindex=\"0\">{}</pre>\n", r.Command)
	if r.Profile != "" {
		p.put("<p>The profile below holds everything but the machine. Save it as <code>{}</code>. ", r.File)
		p.optional("Set <code>{}</code> in the environment. ", r.Env)
		p.put("Then run</p>\n<pre tabindex=\"0\">{}</pre>\n", r.Again)
		p.put(`<details><summary>{}</summary><pre tabindex="0" class="yaml">{}</pre></details>`+"\n", r.File, r.Profile)
	}
	p.put("</section>\n")
}

func (p *pageWriter) checks(d document) {
	p.put("<section id=\"checks\">\n<h2>Checks</h2>\n")
	if !d.Checks.Any() {
		p.put("<p>No checks.</p>\n</section>\n")
		return
	}
	p.table(d.Checks.Totals, "totals")
	p.failedChecks(d.Checks.Failed)
	p.put("\n<h3>All checks</h3>\n")
	p.put(`<p class="note">Framed cells differ from the most frequent outcome in their row ({} of {} rows); `+
		"without a most frequent one, all cells are framed.</p>\n", d.Checks.Differs, d.Checks.Count)
	p.put(`<p><label><input type="checkbox" id="only"> only rows that differ</label></p>` + "\n" +
		`<div class="wide tall" tabindex="0"><table class="checks">` + "\n" +
		`<thead><tr><th scope="col" rowspan="2">Check</th>`)
	for _, c := range d.Contenders {
		p.put(`<th scope="colgroup" colspan="{}">`, c.Rounds())
		p.swatch(c.Color())
		p.put("{}</th>", c.Label)
	}
	p.put("</tr>\n<tr>")
	for _, c := range d.Columns {
		p.put(`<th scope="col">#{}</th>`, c.Round)
	}
	p.put("</tr></thead>\n")
	for _, group := range d.Checks.Groups {
		p.put(`<tbody><tr class="group"><th scope="rowgroup" colspan="{}">{}</th></tr>`+"\n", d.Span(), group.Name)
		for _, row := range group.Rows {
			p.put("<tr")
			if !row.Differs {
				p.put(` class="same"`)
			}
			p.put(`><th scope="row">{}</th>`, row.Name)
			for _, c := range row.Cells {
				p.put(`<td class="{}">{}</td>`, c.Class(), c.Shown())
			}
			p.put("</tr>\n")
		}
		p.put("</tbody>")
	}
	p.put("</table></div>\n\n</section>\n")
}

func (p *pageWriter) failedChecks(all []checkFailure) {
	if len(all) == 0 {
		return
	}
	p.put("<h3>Failed checks</h3>\n<ul class=\"failures\">")
	for _, f := range all {
		p.put(`<li><strong>{}: {}</strong> <span class="where">({})</span>`, f.Group, f.Name, strings.Join(f.Trials, ", "))
		p.optional("<br><code>{}</code>", f.Request)
		p.optional("<br>{}", f.Detail)
		p.put("</li>\n")
	}
	p.put("</ul>")
}
