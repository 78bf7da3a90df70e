package conclusion

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Section is a table of a run, with its title.
type Section struct {
	ID, Title string
	Table     table.Table
	Wide      bool // it has a column for each contender
}

// sections returns the sections of what did not go as planned, which all outputs have.
func (d *draft) sections() []Section {
	thresholds, title := d.thresholds()
	return filled(
		Section{"failed-requests", "Failed requests", d.failedRequests(), false},
		Section{"sessions", "Sessions", d.sessions(), false},
		Section{"statuses", "Responses by status", d.statuses(), false},
		Section{"thresholds", title, thresholds, false})
}

// filled returns the sections that have rows.
func filled(all ...Section) []Section {
	return slices.DeleteFunc(all, func(s Section) bool { return len(s.Table.Rows) == 0 })
}

// Sections returns all sections of a run with its conclusion, in the order of outputs with room for them.
func Sections(a *analysis.Run, r Conclusion, floor *compare.Floor) []Section {
	d := &draft{Run: a, floor: floor, all: a.Ordered()}
	return slices.Concat(filled(Section{"requests", "Requests of the mix", d.mix(), false}), r.Sections, filled(
		Section{"bottlenecks", "Bottleneck per step", d.bottlenecks(), true},
		Section{"phases", "First requests by phase", d.firstRequests(), false},
		Section{"results", "All results", d.results(r.Leaders), true}))
}

// Columns returns columns of the titles between bars. The first is of names; "<" ends the others that are
// aligned to the left, "<<" those whose text wraps, and each ">" lets a narrow output leave a column out earlier.
func Columns(titles string) (all []table.Column) {
	for title := range strings.SplitSeq(titles, "|") {
		all = append(all, table.Column{Title: strings.TrimRight(title, "<>"), Left: strings.Contains(title, "<") || all == nil,
			Wrap: strings.Contains(title, "<<"), Drop: strings.Count(title, ">")})
	}
	return all
}

// Row returns a row of texts and of cells.
func Row(cells ...any) (r table.Row) {
	for _, c := range cells {
		switch c := c.(type) {
		case table.Cell:
			r.Cells = append(r.Cells, c)
		default:
			r.Cells = append(r.Cells, text(fmt.Sprint(c)))
		}
	}
	return r
}

// TableOf returns a table with a row for each item of each contender, after its label.
func TableOf[T any](all []analysis.Contender, titles, note string, items func(analysis.Contender) []T, cells func(T) []any) table.Table {
	t := table.Table{Columns: Columns("Contender|" + titles)}
	if note != "" {
		t.Footnotes = []string{note}
	}
	for i, c := range all {
		for _, item := range items(c) {
			row := Row(append([]any{label(c)}, cells(item)...)...)
			row.Mark = i + 1
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// maxText bounds a longer text from outside, in bytes; long a name in a section.
const maxText = 2000

func long(name string) string { return safe.Line(name, 120) }

// failedRequests returns the kinds of failures by kind of request, with the first text of each.
func (d *draft) failedRequests() table.Table {
	return TableOf(d.all, "Request<>>>|Failure<|Share>>|Count>>>>|First<<>",
		"All steps and rounds. Share: of all requests of this kind; of unexpected bodies, of the compared ones. "+
			"First: the first such response or connection error.",
		analysis.Contender.Failures, func(f analysis.Failure) []any {
			request := table.Cell{Text: cmp.Or(long(f.Request), "all")}
			if f.Session != "" {
				request.Small = []string{long(f.Session)}
			}
			return []any{request, long(f.Kind.Words()), units.Share(f.Share), units.Count(f.Count), cmp.Or(safe.Line(f.First, maxText), units.Missing)}
		})
}

// sessions returns how many sessions of each contender completed, and where the others failed.
func (d *draft) sessions() table.Table {
	return TableOf(d.all, "Session<|Started>>|Completed>|Rejected>>>|Failed|At<<",
		"All steps and rounds. A session ends with its first failed or rejected request; "+
			"the rest were cut off at the end of a step.",
		analysis.Contender.Sessions, func(s bench.SessionLoad) []any {
			failed, at := int64(0), []string(nil)
			for _, request := range slices.Sorted(maps.Keys(s.Failed)) {
				failed += s.Failed[request]
				at = append(at, long(request)+": "+units.Count(s.Failed[request]))
			}
			return []any{long(s.Name), units.Count(s.Begun), units.Count(s.Completed), units.Count(s.Rejected), units.Count(failed),
				cmp.Or(strings.Join(at, ", "), units.Missing)}
		})
}

// statuses returns the responses of each step by status, where a contender sent several or rejected
// requests.
func (d *draft) statuses() table.Table {
	return TableOf(d.all, "Step<|Responses<|Rejected|Rejected share",
		"All rounds, with lead-in and drain. Rejected: responses with an expected status that does "+
			"not count as throughput: neither successes nor errors, and in no latency.",
		func(c analysis.Contender) []stats.Step {
			return slices.DeleteFunc(slices.Clone(c.Steps), func(s stats.Step) bool { return s.StatusWords() == "" })
		},
		func(s stats.Step) []any {
			rejected, share := units.Missing, units.Missing
			if n := s.Rejected.Total(); n > 0 {
				rejected, share = s.Rejected.String(), units.Share(float64(n)/float64(s.Ended()))
			}
			return []any{long(s.Step.Title()), s.Statuses.String(), rejected, share}
		})
}

// maxThresholds is how many rows are shown; missed thresholds come first.
const maxThresholds = 500

// thresholds returns a row for each step that missed a threshold, and one for all steps that met it; those
// of the profile if none was checked. The title says how many were missed.
func (d *draft) thresholds() (t table.Table, title string) {
	met, order := map[string]int{}, []string(nil)
	t.Columns = Columns("Threshold|Outcome<|Trial<>>|Step<>|Value<<")
	checked, missed := 0, 0
	for _, c := range d.all {
		for _, trial := range c.Results {
			for _, s := range trial.Steps {
				for _, r := range s.Thresholds {
					name := long(r.Condition)
					if _, known := met[name]; !known {
						met[name], order = 0, append(order, name)
					}
					if checked++; r.Passed {
						met[name]++
						continue
					}
					missed++
					outcome := table.Cell{Text: "missed", Tone: table.Bad}
					if r.Stopped == bench.ScopeTrial || r.Stopped == bench.ScopeRun {
						outcome.Text += ", stopped the " + string(r.Stopped)
					}
					t.Rows = append(t.Rows, Row(name, outcome, long(trial.Trial.String()), long(s.Step.Title()), safe.Line(r.Text, maxText)))
				}
			}
		}
	}
	for _, name := range order {
		if met[name] > 0 {
			t.Rows = append(t.Rows, Row(name, "met in "+units.Plural(met[name], "step"), units.Missing, units.Missing, units.Missing))
		}
	}
	if checked == 0 {
		for _, p := range d.Run.Run.Profile.Thresholds {
			t.Rows = append(t.Rows, Row(long(p.Condition), "not checked", units.Missing, units.Missing, units.Missing))
		}
	}
	t.Footnotes = []string{"Warm-ups and interrupted steps are not checked."}
	if more := len(t.Rows) - maxThresholds; more > 0 {
		t.Rows = t.Rows[:maxThresholds]
		t.Footnotes[0] += fmt.Sprintf(" %d more rows not shown.", more)
	}
	if checked == 0 {
		return t, "Thresholds: not checked"
	}
	return t, fmt.Sprintf("Thresholds: %d of %d missed", missed, checked)
}
