package run

import (
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// standings are the contenders so far, as the end of the run shows them.
type standings struct {
	at  progress
	end *ending
}

// progress is what the results so far depend on, as counts: while it stays the same they do too.
type progress struct{ trials, steps, checks, failed, starts, states int }

func progressOf(s *fold.State) (p progress) {
	for _, t := range s.Trials {
		_, failed, _ := t.Checks()
		p.steps += len(t.Result.Steps)
		p.checks += min(1, len(t.Result.Checks))
		p.failed += failed
		p.states += len(t.Result.State)
		if t.Result.StartUp != nil {
			p.starts++
		}
		if t.Result.State == bench.TrialComplete {
			p.trials++
		}
	}
	return p
}

// side is the second column of a wide terminal.
func (o *Overview) side(w int) []ui.Block {
	t := o.theme
	if at := progressOf(o.state); o.soFar.end == nil || o.soFar.at != at {
		of := analysis.SoFar(o.state.Run, o.state.Results())
		o.soFar = standings{at, &ending{Conclusion: conclusion.Of(of, nil), of: of}}
	}
	r := &Result{state: o.state, end: o.soFar.end, theme: t, size: ui.Size{Width: w, Class: ui.Compact}}
	blank := ui.Text(20, "")
	var blocks []ui.Block
	if len(r.end.Table.Rows) > 0 {
		lines := append([]string{t.Rule(t.Title.S("standings"), t.Faint.S("so far"), w)}, r.table().Lines(w, t.Tone)...)
		blocks = append(blocks, ui.Text(11, lines...), blank)
	}
	if all := r.charts(); len(all) > 0 {
		blocks = append(blocks, ui.Block{Priority: 13, Least: 8, Most: 18, Draw: func(w, h int) string {
			return strings.Join(all[0].Draw(t, w, h), "\n")
		}}, blank)
	}
	return append(blocks, o.lastLines("last events", 14, o.events(w)))
}
