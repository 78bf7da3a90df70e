package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/figures/stats"
)

// Limits that the profile of a run sets for one contender are the subject, not a reason to refuse.
func TestLimitsOfTheProfileAreTheSubject(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	slower := usual()
	slower.peak /= 2
	half := bench.Selection{Contender: "a", Variant: "half"}
	one := run()
	one.ID = "r"
	one.Profile.Contenders = []bench.Selection{{Contender: "a"}, half}
	old, fresh := trials(rng, "a", 6, usual()), trials(rng, "a", 6, slower)
	for i := range fresh {
		limited := *fresh[i].Instance
		limited.Limits.CPUs = .5
		fresh[i].Instance, fresh[i].Trial.Variant = &limited, "half"
	}
	sides := func(r bench.Run) Result {
		return compared(t, raw{Run: r, Trials: old}, raw{Run: r, Trials: fresh}, Options{})
	}
	if c := sides(one).Contenders[0]; c.Comparable || !strings.Contains(c.Rows[0].NotComparable, "limits in use") {
		t.Errorf("limits that the profile does not set: %+v", c.Rows[0])
	}
	one.Profile.Settings = []bench.Settings{{Selection: half, Limits: bench.Limits{CPUs: .5}}}
	r := sides(one)
	if c := r.Contenders[0]; !c.Comparable || c.Rows[0].Verdict != stats.Worse || c.Differences[0].Weight != Subject {
		t.Errorf("limits of the profile: %+v %+v", c.Differences, c.Rows[0])
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "a:half under 0.5 CPUs, a under 1.5 CPUs:") {
		t.Errorf("%v\n%s", err, text.String())
	}
	other := one
	other.ID, other.Profile.Limits.CPUs = "s", .5
	r = compared(t, raw{Run: one, Trials: old}, raw{Run: other, Trials: fresh}, Options{})
	text.Reset()
	if err := r.Text(&text); err != nil || r.Contenders[0].Comparable || !strings.Contains(text.String(), "capacity --limits") {
		t.Errorf("two runs: %v\n%s", err, text.String())
	}
}
