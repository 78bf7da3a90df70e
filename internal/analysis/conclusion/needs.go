package conclusion

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// costWithNeeds returns what the needs of contenders cost in addition: "; with needs, by CPU time
// used, not by their limits: go $1.20 + db $3.10 = $4.30"; "" without needs. With one that was not
// measured, such as an external one, there is no sum.
func (d *draft) costWithNeeds(known []analysis.Contender) string {
	var all []string
	for _, c := range known {
		costs := map[string]float64{}
		for _, name := range needsOf(c) {
			costs[name] = c.NeedCosts[name].Median
		}
		text := WithNeeds(c.Cost.Total, costs, d.unmeasured(c))
		if text == "" {
			continue
		}
		if len(d.all) > 1 {
			text = label(c) + " " + text
		}
		if all = append(all, text); len(all) == 4 {
			break
		}
	}
	switch {
	case len(all) == 0:
		return ""
	case !slices.ContainsFunc(known, func(c analysis.Contender) bool { return len(c.NeedCosts) > 0 }):
		return "; needs not measured"
	}
	return "; " + NeedsByTime + strings.Join(all, ", ")
}

// NeedsByTime is what costs with needs begin with.
const NeedsByTime = "with needs, by CPU time used, not by their limits: "

// WithNeeds returns a cost with those of needs and their sum: "$1.20 + db $3.10 = $4.30"; "" without
// needs. With one that was not measured there is no sum.
func WithNeeds(own float64, costs map[string]float64, unmeasured []string) string {
	if len(costs)+len(unmeasured) == 0 {
		return ""
	}
	text := units.Dollars(own)
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		own += costs[name]
		text += " + " + safe.Line(name, 60) + " " + units.Dollars(costs[name])
	}
	for _, name := range unmeasured {
		text += " + " + safe.Line(name, 60) + ", not measured"
	}
	if len(unmeasured) > 0 {
		return text
	}
	return text + " = " + units.Dollars(own)
}

// unmeasured returns the needs of a contender that did not run in locbench's hands and have no cost.
func (d *draft) unmeasured(c analysis.Contender) (names []string) {
	for _, n := range d.Run.Run.Profile.Needs {
		named := func(sel bench.Selection) bool { return sel.String() == c.Label }
		gets := len(n.For) == 0 || slices.ContainsFunc(n.For, named)
		if gets && n.From.Traits().ByURL && !c.NeedCosts[n.Name].Known() {
			names = append(names, n.Name)
		}
	}
	return names
}

// needsOf returns the needs of a contender that have a cost, sorted.
func needsOf(c analysis.Contender) (names []string) {
	for _, name := range measure.Needs(c.Steps) {
		if c.NeedCosts[name].Known() {
			names = append(names, name)
		}
	}
	return names
}

// limitedByNeed returns the caveat that a need limited contenders at their peaks: their order is
// then that of their use of it. One that differs from all others in what it requests from the need is
// limited by that, not by the need.
func (d *draft) limitedByNeed(need string) (text string, ok bool) {
	names := slices.DeleteFunc(d.boundBy(verdict.Bound(need)), d.standing(measure.CPUOfNeed(need).ID).Alone)
	if len(names) == 0 || len(d.all) < 2 {
		return "", false
	}
	name := safe.Line(need, maxWords)
	if len(names) == 1 {
		return fmt.Sprintf("A faster %s may change the order: it limited %s at peak.", name, names[0]), true
	}
	text = fmt.Sprintf("%d of %s were limited by %s at peak (%s): their order says little about them",
		len(names), units.Plural(len(d.all), "contender"), name, analysis.List(names))
	if used := d.cpuOfNeed(need); used != "" {
		text += ". CPU time of " + name + " per request: " + used
	}
	return text + ".", true
}

// cpuOfNeed returns the CPU time of a need per request of each contender at its peak, the least
// first.
func (d *draft) cpuOfNeed(need string) string {
	type used struct {
		name string
		of   measure.Result
	}
	var all []used
	m := measure.CPUOfNeed(need)
	for _, c := range d.all {
		if peak, ok := peakOf(c); ok {
			if r := m.Over(peak); r.Known {
				all = append(all, used{label(c), r})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(a.of.Value, b.of.Value) })
	var texts []string
	for _, u := range all[:min(len(all), maxNames)] {
		texts = append(texts, u.name+" "+m.Unit.Text(u.of.Value))
	}
	return strings.Join(texts, ", ")
}
