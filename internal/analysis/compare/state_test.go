package compare

import (
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// Differences in the state of the machine are named; a state that is not known is not a difference.
func TestStateOfTheMachineIsCompared(t *testing.T) {
	names := func(a, b bench.Run) (all []string) {
		for _, d := range Differences(a, b) {
			all = append(all, d.String())
		}
		return all
	}
	state := func(m bench.Machine, i *bench.Isolation) bench.Run { return bench.Run{Machine: m, Isolated: i} }
	shared := &bench.Isolation{Text: "contender and client share CPUs 0-1"}
	apart := &bench.Isolation{Separate: true, Text: "contender on CPUs 2-3, client on CPUs 0-1"}
	old := state(bench.Machine{}, nil)
	calm := state(bench.Machine{Turbo: "off", SMT: "off", SwapUsed: new(int64)}, shared)
	other := state(bench.Machine{Turbo: "on", SMT: "on", Virtual: "kvm", SwapUsed: new(int64(3 << 30)), OtherContainers: "1: db"}, apart)
	if got := names(old, calm); len(got) != 0 {
		t.Errorf("unknown state: %q", got)
	}
	want := []string{
		"turbo (off → on)", "SMT (off → on)", "virtualisation (none visible → kvm)", "swap in use (none → 3 GiB)", "other containers (none → 1: db)",
		"CPU assignment (none → contender on CPUs 2-3, client on CPUs 0-1)",
	}
	if got := names(calm, other); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	trial := func(sources, framework string) []bench.TrialResult {
		return []bench.TrialResult{{Artifact: bench.Artifact{Sources: sources}, Service: bench.Service{Framework: framework}}}
	}
	got := TrialDifferences(trial("0123456789abcdef", "Ktor"), trial("fedcba9876543210", "http4k"))
	if len(got) != 2 || got[0].String() != "sources (0123456789ab → fedcba987654)" || got[1].String() != "framework (Ktor → http4k)" {
		t.Errorf("%q", got)
	}
	off := func(p bench.Profile) bench.Profile { p.Isolation = bench.IsolationOff; return p }
	if ProfileHash(bench.Profile{Rounds: 1}) == ProfileHash(off(bench.Profile{Rounds: 1})) {
		t.Error("a profile without isolation has the hash of one with it")
	}
}

// Keeping single requests does not make a step another one.
func TestKeptRequestsAreNotADifference(t *testing.T) {
	none, some := bench.Profile{Steps: steps4()}, bench.Profile{Steps: steps4()}
	some.Steps[2].KeepRequests = 1000
	if all := unlike(runFacts(bench.Run{Profile: none}), runFacts(bench.Run{Profile: some})); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	if some.Steps[2].KeepRequests != 1000 {
		t.Error("the profile was changed")
	}
}
