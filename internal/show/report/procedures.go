package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// errorRate returns the error rate, after a "~" if it is an estimate.
func errorRate(a bench.Outcomes) string {
	return when(a.ErrorRateIsEstimate(), "~") + units.Share(a.ErrorRate())
}

// breakdown returns the results of each request of a mix, contenders side by side at one step.
func breakdown(l layout) table.Table {
	var order []string // of requests
	var step stats.Step
	t := conclusion.TableOf(l.all, "Request<|At|Successes|Errors|p50|p90|p99|Max",
		"All rounds. Several contenders: at the step at which p99 is compared; one: at its peak (or the step with most "+
			"requests if too many failed). Other steps: see the JSON files.",
		func(c analysis.Contender) (all []bench.RequestLoad) {
			var ok bool
			if step, ok = c.MixStep(); ok {
				all = c.Requests(step)
			}
			return all
		},
		func(r bench.RequestLoad) []any {
			order = append(order, cleanName(r.Name))
			latency := func(d time.Duration) string { return shownIf(r.Latency.Count != 0, units.Duration(d)) }
			return []any{cleanName(r.Name), newRow(step.Step, 0).Title, units.Count(r.Succeeded),
				table.Cell{Text: errorRate(r.Outcomes), Small: errorKinds(r.Failed)},
				latency(r.Latency.P50), latency(r.Latency.P90), latency(r.Latency.P99), latency(r.Latency.Max)}
		})
	slices.SortStableFunc(t.Rows, func(a, b table.Row) int {
		return slices.Index(order, a.Cells[1].Text) - slices.Index(order, b.Cells[1].Text)
	})
	return t
}

// oneRequestSteps returns the rows of measured steps that each send one request of the mix; nil if
// they do not send at least two different ones.
func oneRequestSteps(l layout) (steps []int) {
	names := map[string]bool{}
	for i, r := range l.rows {
		if r.step.Request != "" && !r.WarmUp {
			steps = append(steps, i)
			names[r.step.Request] = true
		}
	}
	if len(names) < 2 {
		return nil
	}
	return steps
}

// phases returns the phases of the first request of each trial, and of typical later ones.
func phases(l layout) table.Table {
	t := table.Table{Columns: conclusion.Columns("Trial|Request|name|connect|TLS|sent|first byte|last byte|total"),
		Footnotes: []string{"Timed one at a time, when the contender is ready and before any check: the first " +
			"request, the next ones on its connection, then each on a new connection. Sent: request written; first byte, " +
			"last byte: time since the phase before. A phase that did not occur is " + missing + "."}}
	for _, c := range l.columns {
		f := c.trial.FirstRequests
		if f == nil {
			continue
		}
		add := func(name, how string, r bench.RequestPhases) {
			row := conclusion.Row(c.Name(), table.Cell{Text: name, Small: []string{how}})
			for _, d := range []time.Duration{r.Name, r.Connect, r.TLS, r.Send, r.FirstByte, r.Receive, r.Total} {
				row.Cells = append(row.Cells, table.Cell{Text: shownIf(d != 0, units.Duration(d))})
			}
			t.Rows = append(t.Rows, row)
		}
		add("first", cmp.Or(cleanText(f.First.Err), "cold"), f.First)
		add("later", medianOf(f.Kept), f.Typical())
		add("new connection", medianOf(f.New), f.TypicalNew())
	}
	return t
}

// medianOf says how a typical request was chosen: "median of 9, 1 failed".
func medianOf(all []bench.RequestPhases) string {
	failed := 0
	for _, r := range all {
		if r.Err != "" {
			failed++
		}
	}
	how := when(failed < len(all), "median of "+units.Count(int64(len(all)-failed)))
	return strings.Join(known(how, when(failed > 0, units.Count(int64(failed))+" failed")), ", ")
}

// errorKinds returns "timeout 12", "5xx 3", the most frequent first.
func errorKinds(failed map[bench.ErrorKind]int64) []string {
	kinds := slices.DeleteFunc(slices.Collect(maps.Keys(failed)),
		func(k bench.ErrorKind) bool { return failed[k] == 0 })
	slices.SortFunc(kinds, func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(failed[b], failed[a]), cmp.Compare(a, b))
	})
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = cleanName(k.Words()) + " " + units.Count(failed[k])
	}
	return words
}
