package analysis

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// Each output has Under after the name of a contender: it says which of two versions that is.
func TestUnderSaysWhatTheProfileSets(t *testing.T) {
	of := func(variant string) bench.Selection { return bench.Selection{Contender: "a", Variant: variant} }
	set := []bench.Settings{
		{Selection: of("half"), Limits: bench.Limits{CPUs: .5}},
		{Selection: of("both"), Limits: bench.Limits{CPUs: .5}, Env: map[string]string{"GOGC": "50", "A": "1"}},
		{Selection: of("before"), Dir: "/home/u/a-before"},
		{Selection: of("v1"), Image: "a:v1"},
		{Selection: of("hostile"), Image: "a\x1b[1m:v1"},
	}
	for _, c := range []struct{ name, among, want string }{
		{"", "before", ""}, {"before", "", "with folder a-before"}, {"v1", "", "with image a:v1"},
		{"half", "", "under 0.5 CPUs"}, {"", "half", "under 1 CPU"},
		{"both", "", "under 0.5 CPUs, with A=1, GOGC=50"}, {"both", "half", "with A=1, GOGC=50"},
		{"hostile", "", "with image a␛[1m:v1"},
	} {
		run := bench.Run{ID: "r", Profile: bench.Profile{Limits: bench.Limits{CPUs: 1}, Settings: set,
			Contenders: []bench.Selection{of(c.name), of(c.among)}}}
		trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Variant: c.name}}
		if got := Of(run, []bench.TrialResult{trial}).Contenders[0].Under(); got != c.want {
			t.Errorf("%s among %s: %q, want %q", c.name, c.among, got, c.want)
		}
	}
}

// Contenders with different limits and without a ratio: an excluded one is the reason, not the
// number of rounds.
func TestReasonsForNoRatio(t *testing.T) {
	half := bench.Selection{Contender: "a", Variant: "half"}
	run := bench.Run{ID: "r", Profile: bench.Profile{Limits: bench.Limits{CPUs: 1}, Contenders: []bench.Selection{{Contender: "a"}, half},
		Settings: []bench.Settings{{Selection: half, Limits: bench.Limits{CPUs: .5}}}}}
	trials := []bench.TrialResult{{Trial: bench.Trial{Contender: "a"}}, {Trial: bench.Trial{Contender: "a", Variant: "half"}}}
	for excluded, want := range map[bool]string{
		false: "a:half under 0.5 CPUs, a under 1 CPU: not compared, since that takes 6 rounds of both without errors.",
		true:  "a:half under 0.5 CPUs, a under 1 CPU: not compared, since a:half is excluded.",
	} {
		of := Of(run, trials)
		for i := range of.Contenders {
			if c := &of.Contenders[i]; c.Label == "a:half" && excluded {
				c.Excluded = &bench.Exclusion{}
			}
		}
		if said := of.LimitRatios(nil); len(said) != 1 || said[0] != want {
			t.Errorf("%q, want %q", said, want)
		}
	}
}
