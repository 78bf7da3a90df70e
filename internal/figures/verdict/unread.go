package verdict

import (
	"fmt"
	"maps"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// unread returns the warning that bodies to compare were not looked at: about the kind of request
// with the highest share of them, or else about the whole step.
func unread(l bench.Load) bench.Warnings {
	of := bench.RequestLoad{Checked: l.Checked, Unread: l.Unread, Examples: l.Examples}
	share, where := unreadShare(of), ""
	for _, r := range l.Requests {
		if own := unreadShare(r); own > share {
			share, where, of = own, fmt.Sprintf("%q: ", r.Name), r
		}
	}
	n, broken := bench.Load{Unread: of.Unread}.UnreadTotal(), of.Unread[bench.UnreadBroken]
	if n == 0 || share < notLookedAt && broken == 0 {
		return nil
	}
	kinds := slices.SortedFunc(maps.Keys(of.Unread), func(a, b bench.ErrorKind) int {
		return int(of.Unread[b] - of.Unread[a])
	})
	why := ""
	for _, kind := range kinds {
		if len(kinds) > 1 {
			why += units.Count(of.Unread[kind]) + " × "
		}
		why += of.Examples[kind] + ", "
	}
	text := fmt.Sprintf("%s%s of %s bodies to compare were not looked at, and are neither right nor wrong: %s",
		where, units.Count(n), units.Count(n+of.Checked), why[:len(why)-2])
	if broken > 0 {
		text += ". Clients cannot read a broken body either: fix the contender"
	}
	return bench.Warnings{found(bench.WarnNotLookedAt, values{
		"not_looked_at": float64(n), "compared": float64(of.Checked), "broken": float64(broken),
	}, "%s", text)}
}

// unreadShare returns the share of the bodies to compare that were not looked at.
func unreadShare(r bench.RequestLoad) float64 {
	n := bench.Load{Unread: r.Unread}.UnreadTotal()
	return float64(n) / float64(max(1, n+r.Checked))
}
