package plain

import (
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
)

// stepLine returns a line of the table that grows while a trial runs. A narrow line, for terminals
// of 80 columns, leaves out columns that the final table has.
func stepLine(narrow bool, name string, text func(measure.Shown) string) string {
	width := 26
	if narrow {
		width = 22
	}
	line := fmt.Sprintf("%-*s", width, name)
	for _, col := range measure.View(measure.TextLive) {
		if !narrow || col.Drop == 0 {
			line += fmt.Sprintf(" %*s", liveWidth(col), text(col))
		}
	}
	return line
}

// liveWidth returns the width of a column before its values are known.
func liveWidth(col measure.Shown) int {
	if col.Unit == measure.PerSecond {
		return 9
	}
	return max(8, fit.Width(col.Head)+1)
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
