package compare

import (
	"fmt"
	"slices"
	"strings"

	compared "github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
)

// Differences returns what differs between two runs, the most serious first: what 'locbench
// compare' finds, and what else a reader may ask.
func Differences(a, b bench.Run) []compared.Difference {
	out := ours(compared.Differences(a, b))
	for _, d := range []compared.Difference{
		difference("price of a vCPU-hour", price(a.Profile), price(b.Profile), compared.Relevant),
		difference("profile", a.Profile.Name, b.Profile.Name, compared.Informational),
		difference("rounds", number(a.Profile.Rounds), number(b.Profile.Rounds), compared.Informational),
		difference("checks", checks(a.Profile.Checks), checks(b.Profile.Checks), compared.Informational),
		difference("state", string(a.State), string(b.State), compared.Informational),
	} {
		if d.Old != d.New {
			out = append(out, d)
		}
	}
	return compared.ByWeight(out)
}

func difference(what compared.Fact, old, fresh string, w compared.Weight) compared.Difference {
	return compared.Difference{What: what, Old: old, New: fresh, Weight: w}
}

// ours returns the differences without the hash of the profile, which the others explain.
func ours(all []compared.Difference) []compared.Difference {
	return slices.DeleteFunc(all, func(d compared.Difference) bool { return d.What == compared.ProfileHashed })
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

func number(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}
