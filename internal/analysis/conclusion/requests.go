package conclusion

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// mix returns the results of each request of a mix, contenders side by side at one step.
func (d *draft) mix() table.Table {
	var order []string // of requests
	var step stats.Step
	t := TableOf(d.all, "Request<|At|Successes|Errors|p50|p90|p99|Max",
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
			order = append(order, long(r.Name))
			latency := func(d time.Duration) string { return shownIf(r.Latency.Count != 0, units.Duration(d)) }
			errors := table.Cell{Text: units.Share(r.ErrorRate()), Small: errorKinds(r.Failed)}
			if r.ErrorRateIsEstimate() {
				errors.Text = "~" + errors.Text
			}
			return []any{long(r.Name), long(step.Step.Words()), units.Count(r.Succeeded), errors,
				latency(r.Latency.P50), latency(r.Latency.P90), latency(r.Latency.P99), latency(r.Latency.Max)}
		})
	slices.SortStableFunc(t.Rows, func(a, b table.Row) int {
		return slices.Index(order, a.Cells[1].Text) - slices.Index(order, b.Cells[1].Text)
	})
	return t
}

// firstRequests returns the phases of the first request of each trial, and of typical later ones.
func (d *draft) firstRequests() table.Table {
	t := table.Table{Columns: Columns("Trial|Request|name|connect|TLS|sent|first byte|last byte|total"),
		Footnotes: []string{"Timed one at a time, when the contender is ready and before any check: the first " +
			"request, the next ones on its connection, then each on a new connection. Sent: request written; first byte, " +
			"last byte: time since the phase before. A phase that did not occur is " + units.Missing + "."}}
	for _, c := range d.all {
		for _, trial := range c.Results {
			f := trial.FirstRequests
			if f == nil {
				continue
			}
			add := func(name, how string, r bench.RequestPhases) {
				row := Row(long(trial.Trial.String()), table.Cell{Text: name, Small: []string{how}})
				for _, d := range []time.Duration{r.Name, r.Connect, r.TLS, r.Send, r.FirstByte, r.Receive, r.Total} {
					row.Cells = append(row.Cells, text(shownIf(d != 0, units.Duration(d))))
				}
				t.Rows = append(t.Rows, row)
			}
			add("first", cmp.Or(safe.Line(f.First.Err, maxText), "cold"), f.First)
			add("later", medianOf(f.Kept), f.Typical())
			add("new connection", medianOf(f.New), f.TypicalNew())
		}
	}
	return t
}

// medianOf says how a typical request was chosen: "median of 9, 1 failed".
func medianOf(all []bench.RequestPhases) string {
	failed, how := 0, []string(nil)
	for _, r := range all {
		if r.Err != "" {
			failed++
		}
	}
	if n := len(all) - failed; n > 0 {
		how = append(how, "median of "+units.Count(int64(n)))
	}
	if failed > 0 {
		how = append(how, units.Count(int64(failed))+" failed")
	}
	return strings.Join(how, ", ")
}

// errorKinds returns "timeout 12", "5xx 3", the most frequent first.
func errorKinds(failed map[bench.ErrorKind]int64) (words []string) {
	for _, k := range slices.SortedFunc(maps.Keys(failed), func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(failed[b], failed[a]), cmp.Compare(a, b))
	}) {
		if failed[k] != 0 {
			words = append(words, long(k.Words())+" "+units.Count(failed[k]))
		}
	}
	return words
}
