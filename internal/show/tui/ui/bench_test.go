package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/charmbracelet/x/ansi"
)

// BenchmarkLipGloss draws alternately with this package and with Lip Gloss: times-as-long is the
// ratio of Lip Gloss's time to ours. Titles of boxes and omitted columns, which Lip Gloss lacks,
// are not drawn.
func BenchmarkLipGloss(b *testing.B) {
	l := NewLook(LookOptions{})
	var rows [][]string
	for range 20 {
		rows = append(rows, []string{"rs-axum hyper", l.Good.S("12,345/s"), "1.23 ms", "4.56 ms", l.Bad.S("0.1%"), "99 MiB", "1.98"})
	}
	columns := []Column{{Title: "contender", Left: true}, {Title: "throughput"}, {Title: "p50"}, {Title: "p99"}, {Title: "errors"}, {Title: "memory"}, {Title: "CPUs"}}
	block := l.Table(columns, rows, 98)[1:]
	box := l.Box("", block, 100, 22, false)
	for _, tt := range []struct {
		name         string
		ours, theirs func() []string
	}{
		{"box", func() []string { return l.Box("", block, 100, 22, false) }, func() []string { return lipGlossBox(block, 100, 22) }},
		{"next to", func() []string { return SideBySide(2, box, box) }, func() []string { return lipGlossSideBySide(2, box, box) }},
		{"table", func() []string { return l.Table(columns, rows, 98)[1:] }, func() []string { return lipGlossTable(columns, rows, 98) }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			if ours, theirs := plain(tt.ours()), plain(tt.theirs()); tt.name != "table" && !slices.Equal(ours, theirs) {
				b.Fatalf("ours:\n%s\ntheirs:\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
			}
			var took [2]time.Duration
			for b.Loop() {
				for i, draw := range []func() []string{tt.ours, tt.theirs} {
					started := time.Now()
					draw()
					took[i] += time.Since(started)
				}
			}
			b.ReportMetric(float64(took[0].Microseconds())/float64(b.N), "ours-us")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "times-as-long")
		})
	}
}

func plain(lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, ansi.Strip(line))
	}
	return out
}

func lipGlossBox(lines []string, w, h int) []string {
	style := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).BorderForeground(lipgloss.Color("#545b66")).Width(w).Height(h)
	return strings.Split(style.Render(strings.Join(lines, "\n")), "\n")
}

func lipGlossSideBySide(gap int, blocks ...[]string) []string {
	var parts []string
	for i, block := range blocks {
		if i > 0 {
			parts = append(parts, spaces(gap))
		}
		parts = append(parts, strings.Join(block, "\n"))
	}
	return strings.Split(lipgloss.JoinHorizontal(lipgloss.Top, parts...), "\n")
}

func lipGlossTable(columns []Column, rows [][]string, w int) []string {
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.Title)
	}
	right := lipgloss.NewStyle().Align(lipgloss.Right).PaddingLeft(2)
	t := table.New().Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderHeader(false).Headers(titles...).Rows(rows...).Width(w).
		StyleFunc(func(_, col int) lipgloss.Style {
			if columns[col].Left {
				return lipgloss.NewStyle()
			}
			return right
		})
	return strings.Split(t.String(), "\n")
}
