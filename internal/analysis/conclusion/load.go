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

// valuedAt is the value of a contender for the question of a run.
type valuedAt struct {
	analysis.Contender
	value float64
}

// placed returns the contenders with a value, the best first, and whether that one is significantly better than
// each of the others; tests is the number of such questions. of returns a value with those of the rounds.
func (d *draft) placed(higher bool, tests int, of func(analysis.Contender) (float64, []float64, bool)) (all []valuedAt, leads bool) {
	ranked := d.ranked()
	values := make([][]float64, len(ranked))
	for i, c := range ranked {
		value, rounds, ok := of(c)
		if values[i] = rounds; ok {
			all = append(all, valuedAt{c, value})
		}
	}
	slices.SortStableFunc(all, func(a, b valuedAt) int {
		if higher {
			a, b = b, a
		}
		return cmp.Compare(a.value, b.value)
	})
	t := stats.Rule{Alpha: stats.DefaultAlpha / float64(tests)}.Tiers(values, higher, false, nil).Tiers
	return all, len(all) > 0 && len(t) > 1 && len(t[0]) == 1 && ranked[t[0][0]].Label == all[0].Label
}

// at returns a measure of a step, for placed.
func at(index int, id measure.ID) func(analysis.Contender) (float64, []float64, bool) {
	m := measure.Get(id)
	return func(c analysis.Contender) (float64, []float64, bool) {
		step, ran := stepsOf(c)[index]
		if !ran || step.Excluded {
			return 0, nil, false
		}
		r := m.Over(step)
		return r.Value, r.Rounds, r.Known && (id != measure.Throughput || r.Value > 0) // without a success it cannot be the best
	}
}

// soFar begins a sentence about a contender that leads, or that is only observed to.
func soFar(leads bool) (prefix string, tone Tone) {
	if leads {
		return "", Good
	}
	return "So far: ", Neutral
}

// requests says which contender had the highest throughput of each request.
func (d *draft) requests() (string, Tone) {
	columns := d.columns()
	wins, order, tested := map[string][]string{}, []string(nil), true
	for _, i := range columns {
		all, leads := d.placed(true, len(columns), at(i, measure.Throughput))
		if len(all) == 0 {
			continue
		}
		name := label(all[0].Contender)
		if wins[name] == nil {
			order = append(order, name)
		}
		wins[name] = append(wins[name], cut(d.Run.Run.Profile.Steps[i].Request))
		tested = tested && leads
	}
	prefix, tone := soFar(tested)
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
	index := d.arrivalStep()
	all, leads := d.placed(false, 1, at(index, measure.P99))
	if len(all) == 0 {
		return "No results: no request was answered.", Bad
	}
	prefix, tone := soFar(leads)
	best, worst := all[0], all[len(all)-1]
	reached := fmt.Sprintf("%s, %s failed", measure.Nanoseconds.Text(best.value), units.Count(stepsOf(best.Contender)[index].FailedTotal()))
	if len(d.all) == 1 {
		return label(best.Contender) + " has a p99 of " + reached + ".", tone
	}
	text := prefix + label(best.Contender) + " has the lowest p99: " + reached
	if len(all) > 1 {
		text += fmt.Sprintf(". %s has %s", label(worst.Contender), measure.Nanoseconds.Text(worst.value))
	}
	return text + ".", tone
}

// timed returns the times of one of the first requests, for placed and in tables: the median of the rounds, in ns.
func timed(one func(bench.FirstRequests) bench.RequestPhases) func(analysis.Contender) (float64, []float64, bool) {
	return func(c analysis.Contender) (median float64, rounds []float64, ok bool) {
		for _, t := range c.Results {
			if f := t.FirstRequests; f != nil {
				if r := one(*f); r.Err == "" && r.Total > 0 {
					rounds = append(rounds, float64(r.Total))
				}
			}
		}
		median, ok = stats.Median(rounds)
		return median, rounds, ok
	}
}

func veryFirst(f bench.FirstRequests) bench.RequestPhases { return f.First }

// first compares the first requests, and the medians under load.
func (d *draft) first() (string, Tone) {
	all, leads := d.placed(false, 1, timed(veryFirst))
	var parts []string
	for _, a := range all[:min(len(all), 4)] {
		parts = append(parts, label(a.Contender)+" "+measure.Nanoseconds.Text(a.value))
	}
	if len(parts) == 0 {
		return "No results: no first request was answered.", Bad
	}
	text := "First request: " + strings.Join(parts, ", ") + "."
	if len(d.ranked()) == 2 && len(all) == 2 {
		if from, name, ok := overtakes(all[0].Contender, all[1].Contender); ok {
			text += fmt.Sprintf(" From second %d on, %s is faster.", from, name)
		}
	}
	_, tone := soFar(leads)
	return text, tone
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
