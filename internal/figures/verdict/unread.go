package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// unread returns the warning that bodies to compare were not looked at: about the kind of request
// with the highest share of them, or about the step if it has one kind.
func unread(l bench.Load) bench.Warnings {
	kinds := l.Requests
	if len(kinds) == 0 {
		kinds = []bench.RequestLoad{{Outcomes: l.Outcomes}}
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(r bench.RequestLoad) bool {
		return unreadShare(r) < notLookedAt && r.Unread[bench.UnreadBroken] == 0
	})
	if len(kinds) == 0 {
		return nil
	}
	slices.SortStableFunc(kinds, func(a, b bench.RequestLoad) int {
		return cmp.Or(cmp.Compare(unreadShare(b), unreadShare(a)), cmp.Compare(b.UnreadTotal(), a.UnreadTotal()))
	})
	r := kinds[0]
	n, broken := r.UnreadTotal(), r.Unread[bench.UnreadBroken]
	text := fmt.Sprintf("%s of %s bodies to compare were not looked at, and are neither right nor wrong: %s",
		units.Count(n), units.Count(n+r.Checked), reasons(r))
	if r.Name != "" {
		text = fmt.Sprintf("%q: ", r.Name) + text
	}
	if broken > 0 {
		text += ". Clients cannot read a broken body either: fix the contender"
	}
	if len(kinds) > 1 {
		text += fmt.Sprintf(" (and %s of requests)", units.Plural(len(kinds)-1, "other kind"))
	}
	return bench.Warnings{found(bench.WarnNotLookedAt, values{
		"not_looked_at": float64(n), "compared": float64(r.Checked), "broken": float64(broken), "kinds": float64(len(kinds)),
	}, "%s", text)}
}

// reasons returns why bodies were not looked at, the most frequent reason first.
func reasons(r bench.RequestLoad) (text string) {
	kinds := slices.SortedFunc(maps.Keys(r.Unread), func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(r.Unread[b], r.Unread[a]), cmp.Compare(a, b))
	})
	for i, kind := range kinds {
		if i > 0 {
			text += ", "
		}
		if len(kinds) > 1 {
			text += units.Count(r.Unread[kind]) + " × "
		}
		text += cmp.Or(r.Examples[kind], kind.Words())
	}
	return text
}

// unreadShare returns the share of the bodies to compare that were not looked at.
func unreadShare(r bench.RequestLoad) float64 {
	n := r.UnreadTotal()
	return float64(n) / float64(max(1, n+r.Checked))
}
