package analysis

import (
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// Each output has Under after the name of a contender: it says which of two versions that is.
func TestContender_Under(t *testing.T) {
	of := func(variant string) bench.Selection { return bench.Selection{Contender: "a", Variant: variant} }
	set := []bench.Settings{
		{Selection: of("half"), Limits: bench.Limits{CPUs: .5}},
		{Selection: of("both"), Limits: bench.Limits{CPUs: .5}, Env: map[string]string{"GOGC": "50", "A": "1"}},
		{Selection: of("before"), Dir: "/home/u/a-before"},
		{Selection: of("v1"), Image: "a:v1"},
		{Selection: of("hostile"), Image: "a\x1b[1m:v1"},
	}
	for _, c := range []struct{ name, among, want string }{
		{"", "before", ""}, {"before", "", "with folder ../a-before"}, {"v1", "", "with image a:v1"},
		{"half", "", "under 0.5 CPUs"}, {"", "half", "under 1 CPU"},
		{"both", "", "under 0.5 CPUs, with A=1, GOGC=50"}, {"both", "half", "with A=1, GOGC=50"},
		{"hostile", "", "with image a␛[1m:v1"},
	} {
		run := bench.Run{ID: "r", ProfileFile: "/home/u/a/bench.yaml", Profile: bench.Profile{Limits: bench.Limits{CPUs: 1}, Settings: set,
			Contenders: []bench.Selection{of(c.name), of(c.among)}}}
		trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Variant: c.name}}
		got := Of(run, []bench.TrialResult{trial}).Contenders[0].Under()
		testenv.Check(t, got == c.want, "%s among %s: %q, want %q", c.name, c.among, got, c.want)
	}
}

// What differs only in what is masked is said to, at most.
func TestContender_Under_Masked(t *testing.T) {
	of := func(variant string) bench.Selection { return bench.Selection{Contender: "a", Variant: variant} }
	for theirs, want := range map[string]string{
		"postgres://***@h/db":   "with URL=postgres://***@h/db (differs at most in what is masked)",
		"postgres://***@h/test": "with URL=postgres://***@h/db",
		"":                      "with URL=postgres://***@h/db",
	} {
		run := bench.Run{ID: "r", Profile: bench.Profile{Contenders: []bench.Selection{of(""), of("b")},
			Settings: []bench.Settings{{Selection: of("b"), Env: map[string]string{"URL": "postgres://***@h/db"}}}}}
		trial := func(variant, url string) bench.TrialResult {
			return bench.TrialResult{Trial: bench.Trial{Contender: "a", Variant: variant}, Service: bench.Service{Env: map[string]string{"URL": url}}}
		}
		all := Of(run, []bench.TrialResult{trial("", theirs), trial("b", "postgres://***@h/db")}).Contenders
		i := slices.IndexFunc(all, func(c Contender) bool { return c.Label == "a:b" })
		got := all[i].Under()
		testenv.Check(t, got == want, "next to %q: %q, want %q", theirs, got, want)
	}
}

func TestRun_LimitRatios(t *testing.T) {
	half := func(n int, change ...func(*bench.TrialResult)) []bench.TrialResult {
		return rounds("a", n, .5, append(change, variant("half"))...)
	}
	of := func(all ...[]bench.TrialResult) *Run { return Of(limited(), slices.Concat(all...)) }
	more := rounds("a", 6, 1, variant("more"))
	const who, why = "a:half under 0.5 CPUs, a under 1 CPU: ", "not compared, since "
	for _, c := range []struct {
		name string
		run  *Run
		want string
	}{
		{"no contender", of(), ""},
		{"the same limits", of(rounds("a", 6, 1), more), ""},
		{"six rounds", of(rounds("a", 6, 1), half(6), more),
			who + "×0.50 the throughput (95% CI ×0.49 to ×0.51), ×2.00 the CPU per request (95% CI ×1.97 to ×2.03)."},
		{"the smaller is faster", of(rounds("a", 6, .25), half(6)),
			who + "×2.00 the throughput (95% CI ×1.97 to ×2.03), ×0.50 the CPU per request (95% CI ×0.49 to ×0.51)."},
		{"interleaved", of(rounds("a", 6, 1, interleaved), half(6, interleaved)),
			who + "×0.50 the throughput (95% CI ×0.50 to ×0.50), ×2.00 the CPU per request (95% CI ×2.00 to ×2.00)."},
		{"five rounds", of(rounds("a", 6, 1), half(5)), who + why + "that takes 6 rounds of both without errors."},
		{"excluded", of(rounds("a", 6, 1), half(6, errorsInAll)), who + why + "a:half is excluded."},
		{"both are excluded", of(rounds("a", 6, 1, errorsInAll), half(6, errorsInAll)), who + why + "a is excluded."},
	} {
		var standings []Standing
		for _, m := range measure.Tested() {
			standings = append(standings, c.run.Standing(m.ID, stats.Rule{}))
		}
		got := strings.Join(c.run.LimitRatios(standings), "\n")
		testenv.Check(t, got == c.want && c.run.LimitsDiffer() == (c.want != ""),
			"%s: differ %v\n%s, want\n%s", c.name, c.run.LimitsDiffer(), got, c.want)
	}
}
