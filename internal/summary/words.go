package summary

import (
	"cmp"
	"fmt"
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

// boundWords are who or what bound a step.
func boundWords(b verdict.Bound) string {
	switch b {
	case verdict.Memory:
		return "its memory limit"
	case verdict.Quota:
		return "its CPU quota"
	case verdict.Client:
		return "the client, locbench itself"
	case verdict.Store:
		return "the store"
	case verdict.Machine:
		return "the machine's CPUs"
	case verdict.Rate:
		return "nothing but the rate that was asked"
	case verdict.Connections:
		return "the number of connections"
	case verdict.Contender:
		return "itself, with CPUs left idle"
	case verdict.Errors:
		return "its errors"
	}
	return string(b)
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
	type kind struct {
		name string
		n    int64
	}
	var all []kind
	for k, n := range errors {
		if n > 0 {
			all = append(all, kind{safe.Line(string(k), 40), n})
		}
	}
	slices.SortFunc(all, func(a, b kind) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name)) })
	var words []string
	for _, k := range all {
		words = append(words, k.name+" "+units.Count(k.n))
	}
	if len(words) > maxNames {
		words = append(words[:maxNames], "…")
	}
	return strings.Join(words, ", ")
}
