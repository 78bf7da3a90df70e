package report

import (
	"math"
	"slices"

	"locbench/internal/stats"
	"locbench/internal/verdict"
)

// middle is the line of a contender over all its rounds, and the band around it.
type middle struct {
	contender contender
	points    []*point
	bands     []*stats.Interval // 95 %, of the median of the rounds; nil below six rounds
	words     []string
	bounds    []verdict.Summary // what bound the step; zero where nothing is known
}

// newMiddle is the median of the rounds that finished a step; of quantiles that of all together.
func newMiddle(l layout, n int, m plotted) middle {
	c, sum := l.contenders[n], l.sum(n)
	mid := middle{contender: c, points: make([]*point, len(l.rows)), bands: make([]*stats.Interval, len(l.rows)),
		words: make([]string, len(l.rows)), bounds: make([]verdict.Summary, len(l.rows))}
	for i, r := range l.rows {
		mid.words[i] = missing
		var values []float64
		for _, col := range l.columns {
			if col.Contender != n || col.steps[i] == nil || col.steps[i].Aborted != "" {
				continue
			}
			if v, _, ok := m.value(*col.steps[i]); ok && finite(v) {
				values = append(values, v)
			}
		}
		v, ok := stats.Median(values)
		if m.Quantile() {
			if s, known := stepAt(sum, l.indices[i]); known && ok {
				v, ok = m.whole(s)
			}
		}
		if !ok || !finite(v) {
			continue
		}
		mid.points[i] = &point{y: v, warmUp: r.WarmUp}
		mid.words[i] = m.format(v)
		if in, ok := stats.MedianInterval(values, 0.95); ok {
			mid.bands[i] = &in
			mid.words[i] += " (" + ends(in, m.format) + ")"
		}
		if !r.WarmUp {
			mid.bounds[i] = l.bounds[n][l.indices[i]]
		}
	}
	return mid
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// middleNames are the columns of the tables; none where no contender has more than one round.
func (l layout) middleNames(whole bool) []string {
	what := "median"
	if whole {
		what = "all rounds"
	}
	var names []string
	if len(l.columns) > len(l.contenders) {
		for _, c := range l.contenders {
			names = append(names, c.Label+" "+what)
		}
	}
	return names
}

func (f *figure) addMiddle(m middle) {
	f.middles = append(f.middles, m)
	if f.Middles == nil {
		return
	}
	for i := range f.Rows {
		f.Rows[i].Middle = append(f.Rows[i].Middle, m.words[i])
	}
}

// mark is a letter in a point and what it says of the step.
type mark struct {
	bound         verdict.Bound
	Letter, Words string
}

// marks are those of all bounds, in the order in which verdicts are looked for.
var marks = []mark{
	{verdict.Errors, "E", "most answers were errors"},
	{verdict.Memory, "M", "memory limit"},
	{verdict.Quota, "Q", "CPU quota"},
	{verdict.Client, "L", "the load generator"},
	{verdict.Store, "S", "store"},
	{verdict.Machine, "H", "the host's CPUs"},
	{verdict.Rate, "R", "the rate that was asked"},
	{verdict.Connections, "N", "number of connections: more would bring more"},
	{verdict.Contender, "C", "the contender itself"},
	{verdict.Unclear, "?", "unclear"},
}

// letter is the mark of a bound; "" where there is none.
func letter(b verdict.Bound) string {
	for _, m := range marks {
		if m.bound == b {
			return m.Letter
		}
	}
	return ""
}

func marksOf(all []middle) []mark {
	found := map[verdict.Bound]bool{}
	for _, m := range all {
		for _, b := range m.bounds {
			found[b.Bound] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(marks), func(m mark) bool { return !found[m.bound] })
}
