package report

import (
	"bytes"
	"slices"
	"strconv"

	"locbench/internal/stats"
	"locbench/internal/summary"
)

// markdownHeadline writes the headline as two small tables, so that a pull request can show them: under load, and of the whole life.
// notes are those of the page's table.
func markdownHeadline(b *bytes.Buffer, l layout, sums []stats.Contender, figures summary.Figures, notes []string) {
	b.WriteString("\n## Headline\n\n")
	if len(sums) == 0 {
		b.WriteString("No leg has run.\n")
		return
	}
	load := headline{Columns: []string{"Tier", "Peak", "95 % interval", "At", "p99 there", "p50 at half", "p99 at half", "Errors"}}
	life := headline{Columns: []string{"Start-up", "Time to peak", "Memory", "CPU per request", "$ per 10⁹", "of it start-up", "warm-up", "steady", "Checks", "Legs"}}
	idle := slices.ContainsFunc(sums, func(s stats.Contender) bool { return s.Idle.Known() })
	if idle {
		life.Columns = slices.Insert(life.Columns, 4, "while idle")
	}
	tiers, _ := tiersOf(figures)
	for i, s := range sums {
		label := l.contenders[i].Label
		p50, p99 := halfCells(s)
		load.Rows = append(load.Rows, headlineRow{Label: label, Cells: bare(
			tierCell(tiers[s.Label]), peakCell(s, nil), intervalCell(s), atCell(s), peakLatency(s), p50, p99, errorsCell(s))})
		life.Rows = append(life.Rows, headlineRow{Label: label, Cells: bare(
			durationCell(s.StartUp), durationCell(s.PeakTime), memoryCell(s), cpuCell(s), costCell(s), partCell(s, func(c stats.Cost) float64 { return c.StartUp }),
			partCell(s, func(c stats.Cost) float64 { return c.WarmUp }), partCell(s, func(c stats.Cost) float64 { return c.Steady }), checksCell(s), legsCell(s))})
		if row := &life.Rows[i]; idle && s.Idle.Known() {
			row.Cells = slices.Insert(row.Cells, 4, cell{Main: idleWords(s)})
		} else if idle {
			row.Cells = slices.Insert(row.Cells, 4, cell{Main: missing})
		}
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
func bare(cells ...cell) []cell {
	for i := range cells {
		cells[i].Small = nil
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
	return cell{Main: strconv.Itoa(len(peak.Throughput.Values)) + " of " + plural(stats.MinInterval, "round")}
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

func peakLatency(s stats.Contender) cell {
	peak, ok := s.PeakStep()
	if !ok || peak.Latency.Count == 0 {
		return cell{Main: missing}
	}
	return cell{Main: duration(peak.Latency.P99)}
}

// partCell is a part of the cost, in dollars.
func partCell(s stats.Contender, part func(stats.Cost) float64) cell {
	if s.Cost == nil {
		return cell{Main: missing}
	}
	return cell{Main: dollars(part(*s.Cost))}
}
