package capacity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/table"
)

// table has a row for each of the limits.
func (s searched) table() table.Table {
	usual := "replicas at " + units.Count(conclusion.UsualRate) + "/s"
	t := table.Table{Columns: []table.Column{{Title: "limits", Left: true}, {Title: "sustained req/s"}, {Title: "fails at", Drop: 1},
		{Title: "p50", Drop: 4}, {Title: "p99"}, {Title: "CPU/req", Drop: 3}, {Title: "memory", Drop: 3}, {Title: "probes", Drop: 5}, {Title: usual, Drop: 2},
		{Title: "$ a month"}}}
	most := 0.
	for _, p := range s.Points {
		cost, _ := s.Monthly(p, conclusion.UsualRate)
		most = max(most, cost)
	}
	for i, p := range s.Points {
		o, ok := p.Confirming()
		bytes, _ := p.Memory()
		cost, priced := s.Monthly(p, conclusion.UsualRate)
		row := t.Add(s.Name(p), units.Missing, known(p.Result.Above > 0, units.Number(p.Result.Above)), known(ok, units.Duration(o.P50)),
			known(ok, units.Duration(o.P99)), known(o.CPUEach > 0, units.Duration(o.CPUEach)), known(bytes > 0, units.Bytes(bytes)), strconv.Itoa(p.Result.Probes), units.Missing,
			known(priced, units.Dollars(cost)))
		row.Mark = 1 // one contender, one color
		sustained, month := &row.Cells[1], &row.Cells[len(row.Cells)-1]
		switch {
		case p.Result.Rate > 0:
			sustained.Text = strings.Replace(rate(p), "at least", "≥", 1)
		case p.Result.State == None:
			*sustained = table.Cell{Text: "✗ none", Tone: table.Bad}
		}
		if priced {
			share := cost / most
			month.Share = &share
			row.Cells[len(row.Cells)-2].Text = units.Count(int64(instances(p, conclusion.UsualRate)))
		}
		if len(s.Points) > 1 && &s.Points[i] == s.best {
			sustained.Tone, month.Tone = table.Strong, table.Strong
		}
	}
	if s.best == nil || !s.priced() {
		t = t.Without(usual).Without("$ a month")
	}
	t.Footnotes = []string{fmt.Sprintf("Sustained: the highest rate that met %s in %d of %s of %s. Fails at: the next higher rate tried. "+
		"p50, p99, CPU: the median of these probes; latency from the scheduled time.",
		s.slo(), s.Need, units.Plural(s.Of, "probe"), units.Length(s.Length))}
	if slices.ContainsFunc(s.Points, func(p Point) bool { bytes, _ := p.Memory(); return bytes > 0 }) {
		t.Footnotes[0] += " Memory: the highest use in them."
		return t
	}
	return t.Without("memory")
}

// known returns text if it is known, or a dash.
func known(is bool, text string) string {
	if is {
		return text
	}
	return units.Missing
}
