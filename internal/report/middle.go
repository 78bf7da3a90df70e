package report

import (
	"math"

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

// newMiddle takes the median of the rounds that finished a step, or what the measure has for all of
// them together.
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
			mid.words[i] += " (" + m.format(in.Low) + " to " + m.format(in.High) + ")"
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
	several := false
	for _, c := range l.contenders {
		names = append(names, c.Label+" "+what)
		several = several || len(c.legs) > 1
	}
	if !several {
		return nil
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
type mark struct{ Letter, Words string }

// letters are those of the bounds, in the order in which verdicts are looked for.
func letters() []struct {
	bound verdict.Bound
	mark
} {
	return []struct {
		bound verdict.Bound
		mark
	}{
		{verdict.Errors, mark{"E", "most answers were errors"}},
		{verdict.Memory, mark{"M", "memory limit"}},
		{verdict.Quota, mark{"Q", "CPU quota"}},
		{verdict.Client, mark{"L", "the load generator"}},
		{verdict.Store, mark{"S", "store"}},
		{verdict.Machine, mark{"H", "the host's CPUs"}},
		{verdict.Rate, mark{"R", "the rate that was asked"}},
		{verdict.Connections, mark{"N", "number of connections: more would bring more"}},
		{verdict.Contender, mark{"C", "the contender itself"}},
		{verdict.Unclear, mark{"?", "unclear"}},
	}
}

// letter is the mark of a bound; "" where there is none.
func letter(b verdict.Bound) string {
	for _, l := range letters() {
		if l.bound == b {
			return l.Letter
		}
	}
	return ""
}

// marksOf are those that occur.
func marksOf(all []middle) (found []mark) {
	for _, l := range letters() {
	search:
		for _, m := range all {
			for _, b := range m.bounds {
				if b.Bound == l.bound {
					found = append(found, l.mark)
					break search
				}
			}
		}
	}
	return found
}
