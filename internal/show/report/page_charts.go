package report

const howToRead = "Each contender has one color, shape and dash in all charts. Thin lines: rounds. Thick line: median. " +
	"Band: 95% CI of the median (six or more rounds). Hollow points, shaded: warm-up. Gap: not measured."

const howToChoose = " Click a name to show or hide a contender in all charts. " +
	"Hover, or use ← and → in a focused chart, to see the values of a step."

// charts writes the places of the charts, which the script fills, and their values as tables.
func (p *pageWriter) charts(d document) {
	p.put("<section id=\"charts\">\n<h2>Charts</h2>\n<p class=\"note\">{}{}{}</p>\n",
		howToRead, when(d.Cut, " †: stopped early, not in the median."), howToChoose)
	p.put(`<div class="tools" id="legend" role="group" aria-label="Contenders shown" hidden>`)
	for _, c := range d.Contenders {
		p.put(`<button type="button" class="pick" aria-pressed="true" data-contender="{}">{}</button>`, c.Index, c.Label)
	}
	p.put(`<span class="all"><button type="button" data-all="true">all</button>` +
		`<button type="button" data-all="false">none</button></span></div>` + "\n<div class=\"charts\">\n")
	for _, ch := range d.Charts {
		p.chart(ch)
	}
	for _, ch := range d.Chosen {
		p.put(`<figure id="chart-{}" class="full">`+"\n"+
			`<figcaption><h3>{}</h3><p class="note">{}</p></figcaption>`+"\n", ch.ID, ch.Title, ch.Note)
		p.put(`<div class="chart" id="plot-{}" role="img" aria-label="Chart: {}. Values in the table below."></div>`+"\n",
			ch.ID, ch.Title)
		p.put(`<details><summary>Values<span class="hidden">: {}</span></summary>`+
			`<div class="wide values-of" tabindex="0" role="region" aria-label="Values: {}"></div></details>`+
			"\n</figure>\n", ch.Title, ch.Title)
	}
	p.put("</div>\n</section>")
}

func (p *pageWriter) chart(ch chart) {
	p.put(`<figure id="chart-{}"`, ch.ID)
	marks := ch.Marks()
	if len(marks) > 0 {
		p.put(` class="full"`)
	}
	p.put(">\n<figcaption><h3>{}", ch.Title)
	if ch.Log {
		p.put(" <small>logarithmic</small>")
	}
	p.put("</h3>")
	p.optional(`<p class="note">{}</p>`, ch.Note)
	p.put("</figcaption>\n")
	if ch.Empty {
		p.put(`<p class="empty">Not measured.</p>` + "\n</figure>\n")
		return
	}
	p.put(`<div class="chart" id="plot-{}" role="img" aria-label="Chart: {}. Values in the table below."`, ch.ID, ch.Title)
	if ch.Steps() {
		p.put(` tabindex="0"`)
	}
	p.put("></div>\n")
	for i, m := range marks {
		if i == 0 {
			p.put(`<p class="note marks">Bottleneck: `)
		}
		p.put("{}<strong>{}</strong> {}", when(i > 0, ", "), m.Letter, m.Words)
	}
	if len(marks) > 0 {
		p.put(".</p>\n")
	}
	p.values(ch)
	p.put("\n</figure>\n")
}

// values writes the table below a chart.
func (p *pageWriter) values(ch chart) {
	p.put(`<details><summary>Values<span class="hidden">: {}</span></summary>`+
		`<div class="wide" tabindex="0" role="region" aria-label="Values: {}"><table class="values">`+"\n"+
		`<thead><tr><th scope="col">Step</th>`, ch.Title, ch.Title)
	p.every(`<th scope="col">{}</th>`, ch.Middles)
	for _, c := range ch.Columns {
		p.put(`<th scope="col">`)
		p.swatch(c.Color())
		p.put("{}</th>", c.Name())
	}
	p.put("</tr></thead>\n<tbody>")
	for _, row := range ch.Rows {
		p.put("<tr")
		if row.WarmUp {
			p.put(` class="warm"`)
		}
		p.put(`><th scope="row">{}</th>`, row.Title)
		p.every("<td>{}</td>", row.Middle)
		p.every("<td>{}</td>", row.Cells)
		p.put("</tr>\n")
	}
	p.put("</tbody></table></div></details>")
}

// firstChart writes the place of a chart of the first screen.
func (p *pageWriter) firstChart(ch firstChart) {
	p.put(`<figure><figcaption><h2>{}</h2><small>{}</small></figcaption>`+
		`<div class="plot" id="first-{}" role="img" aria-label="{}, {}. Values in the sections below."></div></figure>`,
		ch.Title, ch.Caption, ch.ID, ch.Title, ch.Caption)
}
