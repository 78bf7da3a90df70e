package bench

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Limits of a contender go before those of all, each by itself, and a difference has words.
func TestLimitsOfContenders(t *testing.T) {
	all, own := Limits{CPUs: 1, CPUSet: 2, Memory: 3 << 20, PIDs: 4}, Selection{Contender: "b"}
	p := Profile{Limits: all, Contenders: []Selection{{Contender: "a"}, own}}
	testenv.Check(t, p.EqualLimits() && p.Under(own) == "", "without settings: %q", p.Under(own))
	for _, limits := range []Limits{{CPUs: .5}, {CPUSet: 1}, {Memory: 9 << 20}, {PIDs: 9}} {
		p.Settings = []Settings{{Selection: own, Limits: limits}}
		want := all
		switch {
		case limits.CPUs > 0:
			want.CPUs = limits.CPUs
		case limits.CPUSet > 0:
			want.CPUSet = limits.CPUSet
		case limits.Memory > 0:
			want.Memory = limits.Memory
		default:
			want.PIDs = limits.PIDs
		}
		got := p.LimitsOf(own)
		testenv.Check(t, got == want, "%+v: %+v, want %+v", limits, got, want)
		if p.EqualLimits() || p.Under(own) != "under "+limits.Words() || p.LimitsOf(p.Contenders[0]) != all {
			t.Errorf("%+v: %q", limits, p.Under(own))
		}
	}
	p.Settings[0].Limits = Limits{CPUs: 1} // its own, and the same
	testenv.Check(t, p.EqualLimits() && p.Under(own) == "", "the same limits differ: %q", p.Under(own))
}

// Settings with their own name change the variant of the manifest that they are for.
func TestSettingsInManifest(t *testing.T) {
	base := "fast"
	half := Selection{Contender: "a", Variant: "half"}
	testenv.Equal(t, (Settings{Selection: half, Base: &base}).InManifest(), (Selection{"a", "fast"}))
	testenv.Equal(t, (Settings{Selection: half}).InManifest(), half)
}

func TestLimits(t *testing.T) {
	whole := Limits{CPUs: .5, CPUSet: 2, Memory: 512 << 20, PIDs: 100}
	check(t,
		fact{"all", whole, "0.5 CPUs, set of 2, 512 MiB, 100 processes"}, fact{"none", Limits{}.Words(), "no limit"},
		fact{"some", Limits{CPUs: 1, PIDs: 20}.Words(), "1 CPU, 20 processes"},
		fact{"equal", whole.Own(whole), Limits{}}, fact{"different", whole.Own(Limits{CPUs: 1, Memory: 1}), whole})
}
