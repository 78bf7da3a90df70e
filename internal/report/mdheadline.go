package report

import (
	"bytes"
	"slices"
	"strconv"

	"locbench/internal/measure"
	"locbench/internal/stats"
	"locbench/internal/summary"
	"locbench/internal/units"
)

// markdownHeadline writes the headline as two small tables, so that a pull request can show them:
// under load, and of the whole life. notes are those of the page's table.
func markdownHeadline(b *bytes.Buffer, l layout, sums []stats.Contender, figures summary.Figures, notes []string) {
	b.WriteString("\n## Headline\n\n")
	if len(sums) == 0 {
		b.WriteString("No leg has run.\n")
		return
	}
	under, whole := shown(measure.MarkdownLoad, sums), shown(measure.MarkdownLife, sums)
	load := headline{Columns: slices.Concat([]string{"Tier", "Peak", "95 % interval", "At"}, titles(under))}
	life := headline{Columns: slices.Concat(titles(whole), []string{"of it start-up", "warm-up", "steady", "Checks", "Legs"})}
	tiers, _ := tiersOf(figures)
	for i, s := range sums {
		label := l.contenders[i].Label
		first := []cell{tierCell(tiers[s.Label]), peakCell(s, nil), intervalCell(s), atCell(s)}
		last := []cell{partCell(s, func(c stats.Cost) float64 { return c.StartUp }), partCell(s, func(c stats.Cost) float64 { return c.WarmUp }),
			partCell(s, func(c stats.Cost) float64 { return c.Steady }), checksCell(s), legsCell(s)}
		load.Rows = append(load.Rows, headlineRow{Label: label, Cells: bare(slices.Concat(first, measureCells(under, s)))})
		life.Rows = append(life.Rows, headlineRow{Label: label, Cells: bare(slices.Concat(measureCells(whole, s), last))})
	}
	markdownTable(b, load)
	b.WriteString("\n")
	markdownTable(b, life)
	folded(b, "What the columns are", func() {
		for i, n := range notes {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(escape(n) + "\n")
		}
	})
}

// bare leaves out what goes with the figures.
func bare(cells []cell) []cell {
	for i := range cells {
		cells[i].Small = nil
	}
	return cells
}

func measureCells(columns []measure.Shown, s stats.Contender) (cells []cell) {
	for _, m := range columns {
		cells = append(cells, measureCell(m.Measure, s))
	}
	return cells
}

// intervalCell is the interval of the peak, or how many of the rounds there are that it takes.
func intervalCell(s stats.Contender) cell {
	peak, ok := s.PeakStep()
	if !ok || !peak.Throughput.Known() {
		return cell{Main: missing}
	}
	if in := peak.Throughput.Interval; in != nil {
		return cell{Main: significant(in.Low) + " to " + significant(in.High)}
	}
	return cell{Main: strconv.Itoa(len(peak.Throughput.Values)) + " of " + units.Plural(stats.MinInterval, "round")}
}

func atCell(s stats.Contender) cell {
	peak, ok := s.PeakStep()
	if !ok {
		return cell{Main: missing}
	}
	at := newRow(peak.Step, 0).Title
	if drift := peak.DriftWords(); drift != "" {
		at += ", " + drift
	}
	return cell{Main: at}
}

// partCell is a part of the cost, in dollars.
func partCell(s stats.Contender, part func(stats.Cost) float64) cell {
	if s.Cost == nil {
		return cell{Main: missing}
	}
	return cell{Main: dollars(part(*s.Cost))}
}
