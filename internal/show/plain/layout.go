package plain

import (
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
)

// wideRow is the least width of a terminal, in columns, that holds the whole row of a step. A
// narrower one leaves out columns that the final table has.
const wideRow = 102

// stepLine returns a line of the table that grows while a trial runs, so its widths are fixed.
func stepLine(narrow bool, name string, text func(measure.Shown) string) string {
	width := 26
	if narrow {
		width = 22
	}
	line := fmt.Sprintf("%-*s", width, name)
	for _, col := range measure.View(measure.TextLive) {
		width := max(8, fit.Width(col.Head)+1)
		if col.Unit == measure.PerSecond {
			width = 9
		}
		if !narrow || col.Drop == 0 {
			line += fmt.Sprintf(" %*s", width, text(col))
		}
	}
	return line
}

func stepHeader(narrow bool) string {
	return stepLine(narrow, "step", func(col measure.Shown) string { return col.Head })
}

func stepRow(r bench.StepResult, narrow bool) string {
	return stepLine(narrow, safe.Line(r.Step.Title(), 40), func(col measure.Shown) string {
		if t, ok := r.Throttling(); ok && col.ID == measure.Throttled {
			if t.Periods == 0 {
				return "0"
			}
			return fmt.Sprintf("%d/%d", t.Throttled, t.Periods)
		}
		v, ok := col.Of(r)
		return col.Text(measure.Result{Known: ok, Value: v})
	})
}
