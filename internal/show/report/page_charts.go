package report

const howToRead = "Each contender has one color, shape and dash in all charts. Thick line: all rounds. Thin lines: rounds. " +
	"Band: 95% CI of the median (six or more rounds). Gap: not measured. " +
	"Click a name to show or hide a contender in all charts."

// charts writes the places of the charts, which the script draws.
func (p *pageWriter) charts(d document) {
	p.put("<section id=\"charts\">\n<h2>Charts</h2>\n")
	if len(d.Charts) == 0 {
		p.put("<p>Too few results for a chart.</p>\n</section>\n")
		return
	}
	if len(d.Contenders) > 0 {
		p.put("<p class=\"note\">{}</p>\n", howToRead)
		p.put(`<div class="tools" id="legend" role="group" aria-label="Contenders shown" hidden>`)
		for _, c := range d.Contenders {
			p.put(`<button type="button" class="pick" aria-pressed="true" data-contender="{}">{}</button>`, c.Index, c.Label)
		}
		p.put(`<span class="all"><button type="button" data-all="true">all</button>` +
			`<button type="button" data-all="false">none</button></span></div>` + "\n")
	}
	p.put("<div class=\"charts\">\n")
	for _, ch := range d.Charts {
		p.chart(ch)
	}
	p.put("</div>\n</section>\n")
}

// chart writes the place of a chart and the table of its values.
func (p *pageWriter) chart(ch chart) {
	if ch.First {
		p.put(`<figure><figcaption><h2>{}</h2><small>{}</small></figcaption>`, ch.Title, ch.note)
		p.put(`<div class="plot" id="plot-{}" role="img" aria-label="{}, {}. Values in the sections below."></div></figure>`,
			ch.ID, ch.Title, ch.note)
		return
	}
	p.put(`<figure id="chart-{}"><figcaption><h3>{}`, ch.ID, ch.Title)
	if ch.y == "log" {
		p.put(" <small>logarithmic</small>")
	}
	p.put("</h3>")
	p.optional(`<p class="note">{}</p>`, ch.note)
	p.put("</figcaption>\n"+`<div class="chart" id="plot-{}" role="img" aria-label="Chart: {}. CSV has its values."></div>`+"\n", ch.ID, ch.Title)
	if len(ch.values.Rows) > 0 {
		p.put(`<details><summary>Values<span class="hidden">: {}</span></summary>`, ch.Title)
		p.table(ch.values, "values")
		p.put("</details>\n")
	}
	p.put("</figure>\n")
}
