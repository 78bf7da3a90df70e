package report

import "strings"

func (p *pageWriter) failures(d document) {
	if len(d.Failures)+len(d.MoreProblems) == 0 {
		return
	}
	p.put("\n<section id=\"failures\">\n<h2>Failures</h2>\n")
	for _, one := range d.MoreProblems {
		p.put("<p>{}</p>\n", sentence(one))
	}
	for _, f := range d.Failures {
		p.put("<article class=\"failure\">\n<h3>{} <span class=\"state\">{}</span></h3>\n", f.Trial, f.State)
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
func (r reproduction) shown() bool { return r.Command != "" || r.Plan != "" }

func (p *pageWriter) reproduce(r reproduction) {
	if !r.shown() {
		return
	}
	p.put("<section id=\"reproduce\">\n<h2>Reproduce</h2>\n")
	p.optional("<p>Run with</p>\n<pre tabindex=\"0\">{}</pre>\n", r.Command)
	p.optional("<p>Set <code>{}</code> in the environment.</p>\n", r.Env)
	p.optional(`<details><summary>The plan, with all defaults filled in</summary><pre tabindex="0" class="plan">{}</pre></details>`+"\n", r.Plan)
	p.put("</section>\n")
}

func (p *pageWriter) checks(all checkResults) {
	p.put("<section id=\"checks\">\n<h2>Checks</h2>\n")
	if len(all.Groups) == 0 {
		p.put("<p>No checks.</p>\n</section>\n")
		return
	}
	p.table(all.Totals, "totals")
	p.failedChecks(all.Failed)
	for _, g := range all.Groups {
		if g.Failed {
			p.put(`<details class="folded" open>`)
		} else {
			p.put(`<details class="folded">`)
		}
		p.put("<summary><h3>{}</h3> ({})</summary>\n", g.Name, g.About)
		p.table(g.Table, "checks")
		p.put("</details>\n")
	}
	p.put("</section>\n")
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
