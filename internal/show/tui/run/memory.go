package run

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// Memory is the memory of each contender over the seconds of its last trial.
type Memory struct{ tab }

func newMemory() page { return &Memory{newTab("Memory")} }

// Update implements ui.Page.
func (m *Memory) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(StateMsg); ok {
		m.StateMsg = msg
	}
	return nil
}

// Keys implements ui.Page.
func (m *Memory) Keys() ui.Keys { return ui.Keys{} }

// last returns the last trial of each contender with a reading, in the order of the profile.
func (m *Memory) last() (all []*fold.Trial) {
	for _, t := range m.State.Trials {
		same := func(other *fold.Trial) bool { return other.Result.Trial.Label() == t.Result.Trial.Label() }
		switch i := slices.IndexFunc(all, same); {
		case len(t.Usage) == 0:
		case i < 0:
			all = append(all, t)
		default:
			all[i] = t
		}
	}
	place := func(t *fold.Trial) int { return ui.MarkOf(m.State.Run, t.Result.Trial.Label(), len(all)) }
	slices.SortStableFunc(all, func(a, b *fold.Trial) int { return place(a) - place(b) })
	return all
}

// View implements ui.Page.
func (m *Memory) View() string {
	c := chart.Chart{Title: " memory over time", Unit: chart.SizeLabel, Binary: true}
	of := table.Table{Columns: []table.Column{{Title: "contender", Left: true}, {Title: "in use"}, {Title: "peak"},
		{Title: "limit", Drop: 1}, {Title: "round", Drop: 2}}}
	a := chart.Axis{Gutter: chart.Gutter}
	for i, t := range m.last() {
		mark := ui.MarkOf(m.State.Run, t.Result.Trial.Label(), i)
		label := ui.Outside(t.Result.Trial.Label(), nameBytes)
		if t.Result.WhyFailed() != nil {
			label += " ✗"
		}
		c.Series = append(c.Series, chart.Series{Name: label, Paint: m.theme.Hue(mark), Mark: mark, Points: memoryUsed.points(t, always)})
		limit, now := float64(t.Limits().Memory), t.Usage[len(t.Usage)-1]
		if rule := (chart.Rule{Y: limit, Name: "limit " + sizeOf(limit), Paint: m.theme.Bad}); limit > 0 && !slices.Contains(c.Rules, rule) {
			c.Rules = append(c.Rules, rule)
		}
		a.To = max(a.To, now.T)
		of.Add(m.theme.Mark(mark)+" "+label, sizeOf(now.Used), sizeOf(now.Peak), sizeOf(limit), units.Count(int64(t.Result.Trial.Round)))
	}
	if len(of.Rows) == 0 {
		return m.stack(ui.Text(1, " The memory of no contender was read yet."))
	}
	draw := func(w, h int) string {
		return strings.Join(append(c.Draw(m.theme, a, w, h-1), a.Draw(m.theme, w)...), "\n")
	}
	rows := strings.Split("  "+strings.Join(of.Lines(m.size.Width-2, m.theme.Tone), "\n  "), "\n")
	return m.stack(ui.Block{Priority: 2, Least: 6, Most: ui.Rest, Draw: draw}, ui.Text(1, rows...))
}
