package conclusion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// stepsOf returns the measured steps of a contender, by the index of the step.
func stepsOf(c analysis.Contender) map[int]stats.Step {
	all := map[int]stats.Step{}
	for _, s := range c.Steps {
		if !s.Step.WarmUp && s.Rounds > 0 {
			all[s.Index] = s
		}
	}
	return all
}

// columns returns the indices of the steps that send one request each, in order.
func (d *draft) columns() (indices []int) {
	for i, s := range d.Run.Run.Profile.Steps {
		if !s.WarmUp && s.Request != "" {
			indices = append(indices, i)
		}
	}
	return indices
}

// best is the contender with the best value in a step.
type best struct {
	contender   analysis.Contender
	significant bool // better than each of the others
}

// bestAt returns the best contender of a step; tests is the number of such questions.
func (d *draft) bestAt(index int, m measure.Measure, tests int) (b best, ok bool) {
	ranked := d.ranked()
	values := make([][]float64, len(ranked))
	top := 0.
	for i, c := range ranked {
		step, has := stepsOf(c)[index]
		if !has || step.Excluded {
			continue
		}
		r := m.Over(step)
		if m.ID == measure.Throughput && r.Value == 0 { // it cannot be the best one
			values[i] = r.Rounds
			continue
		}
		if r.Known && (!ok || r.Value > top == m.Higher && r.Value != top) {
			b.contender, top, ok = c, r.Value, true
		}
		values[i] = r.Rounds
	}
	i, leads := leader(values, m.Higher, tests)
	b.significant = leads && ranked[i].Label == b.contender.Label
	return b, ok
}

// leader returns which sample is significantly better than each of the others; tests is the number
// of such questions.
func leader(values [][]float64, higher bool, tests int) (i int, ok bool) {
	t := stats.Rule{Alpha: stats.DefaultAlpha / float64(tests)}.Tiers(values, higher, false, nil).Tiers
	if len(t) < 2 || len(t[0]) != 1 {
		return 0, false
	}
	return t[0][0], true
}

// requests says which contender had the highest throughput of each request.
func (d *draft) requests() (string, Tone) {
	columns := d.columns()
	wins, order, tested := map[string][]string{}, []string(nil), true
	for _, i := range columns {
		b, ok := d.bestAt(i, measure.Get(measure.Throughput), len(columns))
		if !ok {
			continue
		}
		name := label(b.contender)
		if wins[name] == nil {
			order = append(order, name)
		}
		wins[name] = append(wins[name], cut(d.Run.Run.Profile.Steps[i].Request))
		tested = tested && b.significant
	}
	tone, prefix := Neutral, "So far: "
	if tested {
		tone, prefix = Good, ""
	}
	switch len(order) {
	case 0:
		return "No results: no throughput was measured.", Bad
	case 1:
		if n := len(wins[order[0]]); n < len(columns) {
			return fmt.Sprintf("%s%s has the highest throughput at %d of %s; nothing succeeded at the others.", prefix, order[0], n,
				units.Plural(len(columns), "request")), tone
		}
		return fmt.Sprintf("%s%s has the highest throughput at each of %s.", prefix, order[0], units.Plural(len(columns), "request")), tone
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(wins[b]) - len(wins[a]) })
	var parts []string
	for _, name := range order {
		parts = append(parts, name+" ("+strings.Join(wins[name], ", ")+")")
	}
	text := "Highest throughput: "
	if prefix != "" {
		text = prefix + "highest throughput: "
	}
	return text + strings.Join(parts, ", ") + ".", tone
}

// arrivalStep returns the index of the first measured step with arrivals.
func (d *draft) arrivalStep() int {
	return slices.IndexFunc(d.Run.Run.Profile.Steps, func(s bench.Step) bool { return s.Arrivals != nil && !s.WarmUp })
}

// arrivals says who had the lowest p99 when users arrived, and who the highest.
func (d *draft) arrivals() (string, Tone) {
	index, m := d.arrivalStep(), measure.Get(measure.P99)
	b, ok := d.bestAt(index, m, 1)
	if !ok {
		return "No results: no request was answered.", Bad
	}
	step := stepsOf(b.contender)[index]
	tone, prefix := Neutral, "So far: "
	if b.significant {
		tone, prefix = Good, ""
	}
	reached := fmt.Sprintf("%s, %s failed", m.Unit.Text(m.Over(step).Value), units.Count(step.FailedTotal()))
	if len(d.all) == 1 {
		return label(b.contender) + " has a p99 of " + reached + ".", tone
	}
	text := prefix + label(b.contender) + " has the lowest p99: " + reached
	worst, value := "", 0.
	for _, c := range d.ranked() {
		if s, ok := stepsOf(c)[index]; ok && m.Over(s).Value > value {
			worst, value = label(c), m.Over(s).Value
		}
	}
	if worst != label(b.contender) {
		text += fmt.Sprintf(". %s has %s", worst, m.Unit.Text(value))
	}
	return text + ".", tone
}

// totals returns the time of one of the first requests in each round, in ns.
func totals(c analysis.Contender, one func(bench.FirstRequests) bench.RequestPhases) (all []float64) {
	for _, t := range c.Results {
		if f := t.FirstRequests; f != nil {
			if r := one(*f); r.Err == "" && r.Total > 0 {
				all = append(all, float64(r.Total))
			}
		}
	}
	return all
}

// total returns the median of these times.
func total(c analysis.Contender, one func(bench.FirstRequests) bench.RequestPhases) (median time.Duration, ok bool) {
	v, ok := stats.Median(totals(c, one))
	return time.Duration(v), ok
}

func veryFirst(f bench.FirstRequests) bench.RequestPhases { return f.First }

// first compares the first requests, and the medians under load.
func (d *draft) first() (string, Tone) {
	ranked := d.ranked()
	slices.SortStableFunc(ranked, func(a, b analysis.Contender) int {
		x, _ := total(a, veryFirst)
		y, _ := total(b, veryFirst)
		return cmp.Compare(x, y)
	})
	var parts []string
	var values [][]float64
	for _, c := range ranked {
		values = append(values, totals(c, veryFirst))
		if first, ok := total(c, veryFirst); ok && len(parts) < 4 {
			parts = append(parts, label(c)+" "+units.Duration(first))
		}
	}
	if len(parts) == 0 {
		return "No results: no first request was answered.", Bad
	}
	text := "First request: " + strings.Join(parts, ", ") + "."
	if len(ranked) == 2 {
		if from, name, ok := overtakes(ranked[0], ranked[1]); ok {
			text += fmt.Sprintf(" From second %d on, %s is faster.", from, name)
		}
	}
	if _, leads := leader(values, false, 1); leads {
		return text, Good
	}
	return text, Neutral
}

// overtakes returns from which second on b has a lower p50 than a in each window to the end of
// their last step, in the last round of both; ok is false if it never has.
func overtakes(a, b analysis.Contender) (from int, name string, ok bool) {
	x, y := lastWindows(a), lastWindows(b)
	n := min(len(x), len(y))
	for from = n; from > 0 && y[from-1].P50 > 0 && y[from-1].P50 < x[from-1].P50; from-- {
	}
	if from == n || from == 0 {
		return 0, "", false
	}
	return from + 1, label(b), true
}

func lastWindows(c analysis.Contender) []bench.Window {
	for _, t := range slices.Backward(c.Results) {
		for _, s := range slices.Backward(t.Steps) {
			if !s.Step.WarmUp && s.Aborted == "" {
				return slices.DeleteFunc(slices.Clone(s.Load.Windows), func(w bench.Window) bool {
					return w.Length < 500*time.Millisecond
				})
			}
		}
	}
	return nil
}
