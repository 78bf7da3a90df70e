package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/table"
)

// procedure is the table of a kind of run, such as the matrix of delay-matrix or the arrivals of
// burst. The steps of a run decide which tables it has, not its name.
type procedure struct {
	ID, Title string
	Late      bool // the page shows it after the charts
	Table     table.Table
}

// procedures returns the procedures of a run; most runs have none.
func procedures(l layout) (all []procedure) {
	if p, ok := failedRequests(l); ok {
		all = append(all, p)
	}
	if p, ok := statuses(l); ok {
		all = append(all, p)
	}
	if p, ok := sessions(l); ok {
		all = append(all, p)
	}
	if p, ok := bounds(l); ok {
		all = append(all, p)
	}
	if p, ok := matrix(l); ok {
		all = append(all, p)
	}
	for i, r := range l.rows {
		if r.step.Arrivals != nil {
			all = append(all, arrivals(l, i))
		}
	}
	if p, ok := breakdown(l); ok {
		all = append(all, p)
	}
	return append(all, coldAndWarm(l)...)
}

// failedRequests returns the kinds of failures by kind of request, with the first text of each.
func failedRequests(l layout) (procedure, bool) {
	p := procedure{ID: "failed-requests", Title: "Failed requests"}
	p.Table.Columns = columns("Contender", "Request", "Failure", "Share", "Count", "First")
	for _, c := range l.contenders {
		for _, f := range c.of.Failures() {
			p.Table.Rows = append(p.Table.Rows, c.row(
				table.Cell{Text: cleanName(f.Request), Small: withText(cleanName(f.Session))},
				table.Cell{Text: cleanName(f.Kind.Words())}, table.Cell{Text: units.Share(f.Share)}, table.Cell{Text: units.Count(f.Count)},
				shownIf(f.First != "", cleanText(f.First)),
			))
		}
	}
	p.Table.Footnotes = []string{"All steps and rounds. Share: of all requests of this kind; of unexpected bodies, of the compared ones. " +
		"First: the first such response or connection error."}
	return p, len(p.Table.Rows) > 0
}

// statuses returns the responses of each step by status, where a contender sent several or rejected
// requests.
func statuses(l layout) (procedure, bool) {
	p := procedure{ID: "statuses", Title: "Responses by status"}
	p.Table.Columns = columns("Contender", "Step", "Responses", "Rejected", "Rejected share")
	for _, c := range l.contenders {
		for _, s := range c.of.Steps {
			if s.StatusWords() == "" {
				continue
			}
			rejected := s.Rejected.Total()
			p.Table.Rows = append(p.Table.Rows, c.row(
				table.Cell{Text: cleanName(s.Step.Title())}, table.Cell{Text: s.Statuses.String()}, shownIf(rejected > 0, s.Rejected.String()),
				shownIf(rejected > 0, units.Share(float64(rejected)/float64(s.Ended()))),
			))
		}
	}
	p.Table.Footnotes = []string{"All rounds, with lead-in and drain. Rejected: responses with an expected status that does " +
		"not count as throughput: neither successes nor errors, and in no latency."}
	return p, len(p.Table.Rows) > 0
}

// withText returns a list of the text; nil for "".
func withText(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// sessions returns how many sessions of each contender completed, and where the others failed.
func sessions(l layout) (procedure, bool) {
	p := procedure{ID: "sessions", Title: "Sessions"}
	p.Table.Columns = columns("Contender", "Session", "Started", "Completed", "Rejected", "Failed", "At")
	for _, c := range l.contenders {
		for _, s := range c.of.Sessions() {
			failed, at := int64(0), []string(nil)
			for _, request := range slices.Sorted(maps.Keys(s.Failed)) {
				failed += s.Failed[request]
				at = append(at, cleanName(request)+": "+units.Count(s.Failed[request]))
			}
			p.Table.Rows = append(p.Table.Rows, c.row(
				table.Cell{Text: cleanName(s.Name)}, table.Cell{Text: units.Count(s.Begun)}, table.Cell{Text: units.Count(s.Completed)}, table.Cell{Text: units.Count(s.Rejected)},
				table.Cell{Text: units.Count(failed)},
				shownIf(len(at) > 0, strings.Join(at, ", ")),
			))
		}
	}
	p.Table.Footnotes = []string{"All steps and rounds. A session ends with its first failed or rejected request; " +
		"the rest were cut off at the end of a step."}
	return p, len(p.Table.Rows) > 0
}

func bounds(l layout) (procedure, bool) {
	p := procedure{ID: "bottlenecks", Title: "Bottleneck per step", Late: true}
	p.Table.Columns = columns("Step")
	for _, c := range l.contenders {
		p.Table.Columns = append(p.Table.Columns, table.Column{Title: c.Label})
	}
	any := false
	for i, r := range l.rows {
		row := table.Row{Cells: []table.Cell{{Text: r.Title}}}
		for _, c := range l.contenders {
			s := c.bound(l.indices[i])
			one := table.Cell{Text: missing}
			if s.Bound != "" {
				any = true
				agree := when(s.Agree < s.Rounds, fmt.Sprintf(" (%d of %d rounds)", s.Agree, s.Rounds))
				one = table.Cell{Text: string(s.Bound) + agree, Small: []string{s.Words()}}
			}
			row.Cells = append(row.Cells, one)
		}
		p.Table.Rows = append(p.Table.Rows, row)
	}
	p.Table.Footnotes = []string{"From counters at the start and end of each step and the trial's other steps; values " +
		"of the last round with this bottleneck. “connections”: more of them give more throughput. “contender”: " +
		"idle CPUs, yet no more throughput. “unclear”: no rule applies."}
	return p, any
}

// errorRate returns the error rate, after a "~" if it is an estimate.
func errorRate(l bench.Load) string {
	return when(l.ErrorRateIsEstimate(), "~") + units.Share(l.ErrorRate())
}

// breakdown returns the results of each request of a mix, in each contender's peak step.
func breakdown(l layout) (procedure, bool) {
	p := procedure{ID: "requests", Title: "Requests of the mix"}
	p.Table.Columns = columns("Contender", "Request", "At", "Successes", "Errors", "p50", "p90", "p99", "Max")
	for _, c := range l.contenders {
		step, ok := c.of.BusiestStep()
		if !ok {
			continue
		}
		for _, r := range requestLoads(c, step.Index) {
			latency := func(d time.Duration) table.Cell { return shownIf(r.Latency.Count != 0, units.Duration(d)) }
			errors := bench.Load{Succeeded: r.Succeeded, Failed: r.Failed, Checked: r.Checked}
			p.Table.Rows = append(p.Table.Rows, c.row(
				table.Cell{Text: cleanName(r.Name)}, table.Cell{Text: newRow(step.Step, 0).Title}, table.Cell{Text: units.Count(r.Succeeded)},
				table.Cell{Text: errorRate(errors), Small: errorKinds(r.Failed)},
				latency(r.Latency.P50), latency(r.Latency.P90), latency(r.Latency.P99), latency(r.Latency.Max),
			))
		}
	}
	p.Table.Footnotes = []string{"All rounds, at the peak step (or the step with most requests if too many failed). " +
		"Other steps: see the JSON files."}
	return p, len(p.Table.Rows) > 0
}

// requestLoads returns each kind of request in a step, over all rounds of a contender.
func requestLoads(c contender, index int) (all []bench.RequestLoad) {
	var latencies [][]bench.Latencies
	for _, trial := range c.of.Results {
		for _, s := range trial.Steps {
			if s.Index != index || s.Aborted != "" {
				continue
			}
			for _, r := range s.Load.Requests {
				i := slices.IndexFunc(all, func(x bench.RequestLoad) bool { return x.Name == r.Name })
				if i < 0 {
					i = len(all)
					all = append(all, bench.RequestLoad{Name: r.Name, Failed: map[bench.ErrorKind]int64{}})
					latencies = append(latencies, nil)
				}
				all[i].Succeeded += r.Succeeded
				all[i].Checked += r.Checked
				for kind, n := range r.Failed {
					all[i].Failed[kind] += n
				}
				latencies[i] = append(latencies[i], r.Latency)
			}
		}
	}
	for i := range all {
		// With an unreadable histogram the row has no latencies, like the row of a step.
		h, _ := hdr.Merge(latencies[i]...)
		all[i].Latency = h.Quantiles()
	}
	return all
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

// matrix returns the throughput by contender and request, with the requests in flight below it.
func matrix(l layout) (procedure, bool) {
	steps := oneRequestSteps(l)
	if steps == nil {
		return procedure{}, false
	}
	p := procedure{ID: "matrix", Title: "Throughput by request"}
	p.Table.Columns = columns("Contender")
	connections := l.rows[steps[0]].step.Connections
	same := !slices.ContainsFunc(steps, func(i int) bool { // all steps have the same load
		return l.rows[i].step.Connections != connections || l.rows[i].step.Open()
	})
	for _, i := range steps {
		title := l.rows[i].Title
		if same {
			title = cleanName(l.rows[i].step.Request)
		}
		p.Table.Columns = append(p.Table.Columns, table.Column{Title: title})
	}
	p.Title += when(same, ", "+units.Plural(connections, "connection"))
	for _, c := range l.contenders {
		row := c.row()
		for _, i := range steps {
			row.Cells = append(row.Cells, matrixCell(c, l.indices[i]))
		}
		p.Table.Rows = append(p.Table.Rows, row)
	}
	p.Table.Footnotes = []string{"Successes/s, median of the rounds; below it requests in flight (Little's law: " +
		"throughput × mean latency). If all connections are in flight, their number is the bottleneck, not the " +
		"contender: at most connections / delay."}
	return p, true
}

func matrixCell(c contender, index int) table.Cell {
	var inFlight []float64
	for _, trial := range c.of.Results {
		for _, s := range trial.Steps {
			if s.Index == index && s.Load.InFlight > 0 {
				inFlight = append(inFlight, s.Load.InFlight)
			}
		}
	}
	step, ok := stepAt(c.of.Contender, index)
	if !ok || !step.Throughput.Known() {
		return table.Cell{Text: missing}
	}
	small := spread(step.Throughput, units.Number)
	if m, ok := stats.Median(inFlight); ok {
		small = append(small, units.Number(m)+" in flight")
	}
	if n := step.FailedTotal(); n > 0 {
		small = append(small, when(step.ErrorRateIsEstimate(), "~")+units.Share(step.ErrorRate())+" errors")
	}
	return valued(step.Throughput.Median, units.Number(step.Throughput.Median)+"/s", small...)
}

// bound returns the bottleneck of a step; none with too many unexpected bodies: what limited these
// says nothing.
func (c contender) bound(index int) verdict.Summary {
	if s, ok := stepAt(c.of.Contender, index); ok && s.Excluded && s.Failed[bench.ErrWrong] > 0 {
		return verdict.Summary{}
	}
	return c.of.Bounds[index]
}

// stepAt returns the step with the given index.
func stepAt(s stats.Contender, index int) (stats.Step, bool) {
	i := slices.IndexFunc(s.Steps, func(x stats.Step) bool { return x.Index == index })
	if i < 0 {
		return stats.Step{}, false
	}
	return s.Steps[i], true
}

// arrivals returns the table of a step with arrivals, with the columns of the published comparison.
func arrivals(l layout, row int) procedure {
	a := l.rows[row].step.Arrivals
	p := procedure{ID: fmt.Sprintf("arrivals-%d", row+1), Title: l.rows[row].Title}
	p.Table.Columns = columns("Contender", "OK", "Failed", "Min", "Mean", "SD", "p50", "p75", "p95", "p99", "Max",
		"Requests/s", "Start-up", "Build", "Image")
	for _, c := range l.contenders {
		r := c.row()
		step, ok := stepAt(c.of.Contender, l.indices[row])
		if !ok {
			r.Cells = append(r.Cells, slices.Repeat([]table.Cell{{Text: missing}}, len(p.Table.Columns)-4)...)
		} else {
			r.Cells = append(r.Cells, table.Cell{Text: units.Count(step.Succeeded)},
				table.Cell{Text: units.Count(step.FailedTotal()), Small: errorKinds(step.Failed)})
			q := step.Latency
			for _, d := range []time.Duration{
				q.Min, q.Mean, q.SD, q.P50, q.P75, q.P95, q.P99, q.Max,
			} {
				r.Cells = append(r.Cells, shownIf(step.Latency.Count > 0, units.Duration(d)))
			}
			rate := table.Cell{Text: missing}
			if step.Throughput.Known() {
				rate = valued(step.Throughput.Median, units.Number(step.Throughput.Median)+"/s",
					spread(step.Throughput, units.Number)...)
			}
			r.Cells = append(r.Cells, rate)
		}
		r.Cells = append(r.Cells, durationCell(c.of.StartUp), buildCell(c), imageCell(c))
		p.Table.Rows = append(p.Table.Rows, r)
	}
	p.Table.Footnotes = []string{fmt.Sprintf("%s, %s each, in sequence. Counts and latencies: all rounds; latency of "+
		"successes, from the scheduled time. Requests/s: successes / time from first arrival to last response. "+
		"Build: only if one was needed.", l.rows[row].Title, units.Plural(a.Requests, "request"))}
	return p
}

func buildCell(c contender) table.Cell {
	for _, trial := range c.of.Results {
		if a := trial.Artifact; a.BuildTime > 0 && !a.BuildCached {
			return table.Cell{Text: units.Duration(a.BuildTime)}
		}
	}
	return table.Cell{Text: missing}
}

func imageCell(c contender) table.Cell {
	for _, trial := range c.of.Results {
		switch a := trial.Artifact; {
		case a.ImageSize > 0:
			return table.Cell{Text: units.Bytes(a.ImageSize)}
		case a.BinarySize > 0:
			return table.Cell{Text: units.Bytes(a.BinarySize), Small: []string{"binary only"}}
		}
	}
	return table.Cell{Text: missing}
}
