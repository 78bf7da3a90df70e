package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/safe"
	"locbench/internal/stats"
	"locbench/internal/units"
	"locbench/internal/verdict"
)

// StepWords names a step by what it does.
func StepWords(s bench.Step) string { return safe.Line(s.Words(), 140) }

func boundWords(b verdict.Bound) string {
	return cmp.Or(map[verdict.Bound]string{
		verdict.Memory: "its memory limit", verdict.Quota: "its CPU quota", verdict.Client: "the client, locbench itself",
		verdict.Store: "the store", verdict.Machine: "the machine's CPUs", verdict.Errors: "its errors",
		verdict.Rate: "nothing but the rate that was asked", verdict.Connections: "the number of connections",
		verdict.Contender: "itself, with CPUs left idle",
	}[b], string(b))
}

// maxNames is how many names a sentence lists.
const maxNames = 6

// list is "a, b and c"; of many the first, and how many more.
func list(names []string) string {
	if n := len(names) - maxNames; n > 1 {
		return strings.Join(names[:maxNames], ", ") + " and " + units.Count(int64(n)) + " more"
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// spread is the interval of a median, or why there is none.
func spread(u measure.Unit, v stats.Value) string {
	switch {
	case v.Interval != nil:
		return fmt.Sprintf("95 %% interval %s to %s, %s", u.Text(v.Interval.Low), u.Text(v.Interval.High), units.Plural(len(v.Values), "round"))
	case len(v.Values) > 1:
		return fmt.Sprintf("%s, %s to %s, too few for an interval", units.Plural(len(v.Values), "round"), u.Text(slices.Min(v.Values)), u.Text(slices.Max(v.Values)))
	}
	return "1 round, no interval"
}

// kinds are errors by kind, the most frequent first.
func kinds(errors map[bench.ErrorKind]int64) string {
	all := slices.DeleteFunc(slices.Collect(maps.Keys(errors)), func(k bench.ErrorKind) bool { return errors[k] <= 0 })
	slices.SortFunc(all, func(a, b bench.ErrorKind) int { return cmp.Or(cmp.Compare(errors[b], errors[a]), cmp.Compare(a, b)) })
	var words []string
	for _, k := range all {
		words = append(words, safe.Line(string(k), 40)+" "+units.Count(errors[k]))
	}
	if len(words) > maxNames {
		words = append(words[:maxNames], "…")
	}
	return strings.Join(words, ", ")
}
