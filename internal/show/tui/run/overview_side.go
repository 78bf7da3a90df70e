package run

import (
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// side is the second column of a wide terminal.
func (o *Overview) side(w int) []ui.Block {
	t := o.theme
	r := &Result{tab: tab{StateMsg: o.StateMsg, theme: t, size: ui.Size{Width: w, Class: ui.Compact}}, end: o.soFar.of(o.State, soFar)}
	blank := ui.Text(20, "")
	steps := &o.steps
	var blocks []ui.Block
	if len(r.end.Table.Rows) > 0 {
		lines := append([]string{t.Rule(t.Title.S("standings"), t.Faint.S("so far"), w)}, r.table().Lines(w, t.Tone)...)
		blocks = append(blocks, ui.Text(11, lines...), blank)
	}
	if step := steps.steps()[steps.newest()]; steps.decode(step) {
		count := units.Plural(step.Result.Load.Succeeded, "success")
		head := t.Rule(t.Title.S("latency of "+numbered(step)), t.Faint.S(count), w)
		blocks = append(blocks, ui.Block{Priority: 12, Least: chart.LeastHistogram + 1, Most: 14, Draw: func(w, h int) string {
			return strings.Join(append([]string{head}, steps.spread.Draw(t, w, h-1)...), "\n")
		}}, blank)
	}
	if all := r.charts(); len(all) > 0 {
		blocks = append(blocks, ui.Block{Priority: 13, Least: 8, Most: 18, Draw: func(w, h int) string {
			return strings.Join(all[0].Draw(t, w, h), "\n")
		}}, blank)
	}
	return append(blocks, o.lastLines("last events", 14, o.events(w)))
}
