package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// failedRequests returns the kinds of failures by kind of request, with the first text of each.
func failedRequests(l layout) table.Table {
	t := table.Table{Columns: columns("Contender", "Request", "Failure", "Share", "Count", "First")}
	t.Columns[1].Left, t.Columns[5].Left = true, true
	for _, c := range l.contenders {
		for _, f := range c.of.Failures() {
			t.Rows = append(t.Rows, c.row(
				table.Cell{Text: cleanName(f.Request), Small: withText(cleanName(f.Session))},
				table.Cell{Text: cleanName(f.Kind.Words())}, table.Cell{Text: units.Share(f.Share)}, table.Cell{Text: units.Count(f.Count)},
				shownIf(f.First != "", cleanText(f.First)),
			))
		}
	}
	t.Footnotes = []string{"All steps and rounds. Share: of all requests of this kind; of unexpected bodies, of the compared ones. " +
		"First: the first such response or connection error."}
	return t
}

// statuses returns the responses of each step by status, where a contender sent several or rejected
// requests.
func statuses(l layout) table.Table {
	t := table.Table{Columns: columns("Contender", "Step", "Responses", "Rejected", "Rejected share")}
	t.Columns[2].Left = true
	for _, c := range l.contenders {
		for _, s := range c.of.Steps {
			if s.StatusWords() == "" {
				continue
			}
			rejected := s.Rejected.Total()
			t.Rows = append(t.Rows, c.row(
				table.Cell{Text: cleanName(s.Step.Title())}, table.Cell{Text: s.Statuses.String()}, shownIf(rejected > 0, s.Rejected.String()),
				shownIf(rejected > 0, units.Share(float64(rejected)/float64(s.Ended()))),
			))
		}
	}
	t.Footnotes = []string{"All rounds, with lead-in and drain. Rejected: responses with an expected status that does " +
		"not count as throughput: neither successes nor errors, and in no latency."}
	return t
}

// withText returns a list of the text; nil for "".
func withText(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// sessions returns how many sessions of each contender completed, and where the others failed.
func sessions(l layout) table.Table {
	t := table.Table{Columns: columns("Contender", "Session", "Started", "Completed", "Rejected", "Failed", "At")}
	for _, c := range l.contenders {
		for _, s := range c.of.Sessions() {
			failed, at := int64(0), []string(nil)
			for _, request := range slices.Sorted(maps.Keys(s.Failed)) {
				failed += s.Failed[request]
				at = append(at, cleanName(request)+": "+units.Count(s.Failed[request]))
			}
			t.Rows = append(t.Rows, c.row(
				table.Cell{Text: cleanName(s.Name)}, table.Cell{Text: units.Count(s.Begun)}, table.Cell{Text: units.Count(s.Completed)}, table.Cell{Text: units.Count(s.Rejected)},
				table.Cell{Text: units.Count(failed)},
				shownIf(len(at) > 0, strings.Join(at, ", ")),
			))
		}
	}
	t.Footnotes = []string{"All steps and rounds. A session ends with its first failed or rejected request; " +
		"the rest were cut off at the end of a step."}
	return t
}

// errorRate returns the error rate, after a "~" if it is an estimate.
func errorRate(l bench.Load) string {
	return when(l.ErrorRateIsEstimate(), "~") + units.Share(l.ErrorRate())
}

// breakdown returns the results of each request of a mix, contenders side by side at one step.
func breakdown(l layout) table.Table {
	t := table.Table{Columns: columns("Contender", "Request", "At", "Successes", "Errors", "p50", "p90", "p99", "Max")}
	t.Columns[1].Left = true
	var order []string // of requests
	for _, c := range l.contenders {
		step, ok := c.of.MixStep()
		if !ok {
			continue
		}
		for _, r := range c.of.Requests(step) {
			latency := func(d time.Duration) table.Cell { return shownIf(r.Latency.Count != 0, units.Duration(d)) }
			errors := bench.Load{Succeeded: r.Succeeded, Failed: r.Failed, Rejected: r.Rejected, Checked: r.Checked}
			t.Rows = append(t.Rows, c.row(
				table.Cell{Text: cleanName(r.Name)}, table.Cell{Text: newRow(step.Step, 0).Title}, table.Cell{Text: units.Count(r.Succeeded)},
				table.Cell{Text: errorRate(errors), Small: errorKinds(r.Failed)},
				latency(r.Latency.P50), latency(r.Latency.P90), latency(r.Latency.P99), latency(r.Latency.Max),
			))
			order = append(order, cleanName(r.Name))
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b table.Row) int {
		return slices.Index(order, a.Cells[1].Text) - slices.Index(order, b.Cells[1].Text)
	})
	t.Footnotes = []string{"All rounds. Several contenders: at the step at which p99 is compared; one: at its peak (or the step with most " +
		"requests if too many failed). Other steps: see the JSON files."}
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
	t := table.Table{Columns: columns("Trial", "Request", "name", "connect", "TLS", "sent", "first byte", "last byte", "total"),
		Footnotes: []string{"Timed one at a time, when the contender is ready and before any check: the first " +
			"request, the next ones on its connection, then each on a new connection. Sent: request written; first byte, " +
			"last byte: time since the phase before. A phase that did not occur is " + missing + "."}}
	for _, c := range l.columns {
		f := c.trial.FirstRequests
		if f == nil {
			continue
		}
		add := func(name, how string, r bench.RequestPhases) {
			row := t.Add(c.Name(), name)
			row.Cells[1].Small = []string{how}
			for _, d := range []time.Duration{r.Name, r.Connect, r.TLS, r.Send, r.FirstByte, r.Receive, r.Total} {
				row.Cells = append(row.Cells, shownIf(d != 0, units.Duration(d)))
			}
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

// spreads returns the spread of latencies and rates in the measured steps, of runs with first requests
// or arrivals.
func spreads(l layout) table.Table {
	t := table.Table{Columns: columns("Contender", "At", "Latency mean", "SD", "Max", "Within 1 SD", "Requests/s mean", "SD", "Max",
		"Within 1 SD", "Bytes/s")}
	first := func(c column) bool { return c.trial.FirstRequests != nil }
	arrivals := func(r row) bool { return r.step.Arrivals != nil }
	if !slices.ContainsFunc(l.columns, first) && !slices.ContainsFunc(l.rows, arrivals) {
		return t
	}
	for _, c := range l.contenders {
		steps := map[int][]bench.Load{}
		var order []bench.StepResult
		for _, trial := range c.of.Results {
			for _, s := range trial.Steps {
				if s.Step.WarmUp || s.Aborted != "" {
					continue
				}
				if steps[s.Index] == nil {
					order = append(order, s)
				}
				steps[s.Index] = append(steps[s.Index], s.Load)
			}
		}
		for _, s := range order {
			t.Rows = append(t.Rows,
				c.row(append([]table.Cell{{Text: newRow(s.Step, 0).Title}}, spreadCells(steps[s.Index])...)...))
		}
	}
	t.Footnotes = []string{"SD: population standard deviation. Latency: all successes. Requests/s: successes per " +
		"full 1 s window; the mean may differ slightly from the throughput. Bytes: bodies of successes. Uncorrected: " +
		"throughput × mean latency = requests in flight."}
	return t
}

func spreadCells(loads []bench.Load) []table.Cell {
	var latencies []bench.Latencies
	for _, l := range loads {
		latencies = append(latencies, l.Latency)
	}
	cells := slices.Repeat([]table.Cell{{Text: missing}}, 9)
	if s, ok, err := stats.LatencySpread(latencies...); ok && err == nil { // an unreadable histogram leaves a gap
		for i, v := range []float64{s.Mean, s.SD, s.Max} {
			cells[i].Text = units.Duration(time.Duration(v))
		}
		cells[3].Text = units.Share(s.Within)
	}
	if s, ok := stats.RateSpread(loads...); ok {
		for i, v := range []float64{s.Mean, s.SD, s.Max} {
			cells[4+i].Text = units.Number(v)
		}
		cells[7].Text = units.Share(s.Within)
		cells[7].Small = []string{"of " + units.Plural(int(s.N), "window")}
	}
	if v := stats.BytesPerSecond(loads...); v > 0 {
		cells[8].Text = units.Bytes(int64(v)) + "/s"
	}
	return cells
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
