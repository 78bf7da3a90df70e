package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"locbench/internal/bench"
	compared "locbench/internal/compare"
	"locbench/internal/units"
)

// Differences are what differs between two runs, the gravest first: what 'locbench compare' finds,
// and what else a reader may ask.
func Differences(a, b bench.Run) []compared.Difference {
	out := ours(compared.Differences(a, b))
	if added(a.Profile.Store) != added(b.Profile.Store) { // has a line of its own
		out = slices.DeleteFunc(out, func(d compared.Difference) bool { return d.What == "rest of the profile" })
	}
	for _, d := range []compared.Difference{
		difference("latency added by the store", added(a.Profile.Store), added(b.Profile.Store), compared.Breaks),
		difference("price of a vCPU-hour", price(a.Profile), price(b.Profile), compared.Sways),
		difference("profile", a.Profile.Name, b.Profile.Name, compared.Tells),
		difference("rounds", number(a.Profile.Rounds), number(b.Profile.Rounds), compared.Tells),
		difference("checks", checks(a.Profile.Checks), checks(b.Profile.Checks), compared.Tells),
		difference("state", string(a.State), string(b.State), compared.Tells),
	} {
		if d.Old != d.New {
			out = append(out, d)
		}
	}
	return gravestFirst(out)
}

func difference(what, old, fresh string, w compared.Weight) compared.Difference {
	return compared.Difference{What: what, Old: old, New: fresh, Weight: w}
}

// ours are the differences of package compare; without the hash of the profile, which says nothing
// besides them.
func ours(all []compared.Difference) []compared.Difference {
	return slices.DeleteFunc(all, func(d compared.Difference) bool { return d.What == "hash of the profile" })
}

// gravestFirst sorts by weight, whose names are in that order.
func gravestFirst(all []compared.Difference) []compared.Difference {
	slices.SortStableFunc(all, func(x, y compared.Difference) int { return cmp.Compare(x.Weight, y.Weight) })
	return all
}

func price(p bench.Profile) string {
	if p.PriceVCPUHr <= 0 {
		return ""
	}
	return fmt.Sprintf("$%g", p.PriceVCPUHr)
}

func checks(c bench.CheckSpec) string {
	return strings.Join(append(append([]string(nil), c.Lifecycle...), c.Suites...), " ")
}

func added(s bench.StoreSpec) string {
	if s.Latency == 0 {
		return ""
	}
	text := units.Duration(s.Latency)
	if s.P99 > 0 {
		text += ", p99 " + units.Duration(s.P99)
	}
	return text
}

func number(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}
