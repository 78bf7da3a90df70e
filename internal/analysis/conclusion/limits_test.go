package conclusion

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// TestLimits: what is said of limits that runtimes round or do not see, and of none if the results
// do not depend on it.
func TestLimits(t *testing.T) {
	const mib = 1 << 20
	type side struct {
		name, language string
		cpus           float64
		memory, peak   int64 // MiB
	}
	const fraction, heap = "Some runtimes round a fraction of a CPU above 1 up, others down: a and bb. Compare with whole CPUs",
		"a and a:bb use the same memory under 256 MiB and 512 MiB: their runtime has the same heap in both. Set it: "
	for name, c := range map[string]struct {
		used float64 // of the CPUs
		a, b side
		want string
	}{
		"a fraction in two languages":        {.99, side{"a", "Rust", 1.5, 0, 9}, side{"bb", "Java", 1.5, 0, 9}, fraction},
		"other fractions":                    {.99, side{"a", "Rust", 2.5, 0, 9}, side{"bb", "Java", 1.5, 0, 9}, fraction},
		"a fraction in one language":         {.99, side{"a", "Rust", 1.5, 0, 9}, side{"bb", "rust", 1.5, 0, 9}, ""},
		"a fraction of one":                  {.99, side{"a", "Rust", 1.5, 0, 9}, side{"bb", "Java", 2, 0, 9}, ""},
		"whole CPUs":                         {.99, side{"a", "Rust", 2, 0, 9}, side{"bb", "Java", 2, 0, 9}, ""},
		"less than one CPU":                  {.99, side{"a", "Rust", .5, 0, 9}, side{"bb", "Java", .5, 0, 9}, ""},
		"a fraction of which much is unused": {.5, side{"a", "Rust", 1.5, 0, 9}, side{"bb", "Java", 1.5, 0, 9}, ""},
		"equal heaps":                        {.5, side{"a", "Kotlin", 1, 256, 171}, side{"a:bb", "Kotlin", 1, 512, 180}, heap + "-XX:MaxRAMPercentage"},
		"equal heaps of Node":                {.5, side{"a", "TypeScript", 1, 256, 171}, side{"a:bb", "TypeScript", 1, 512, 160}, heap + "--max-old-space-size"},
		"other heaps":                        {.5, side{"a", "Kotlin", 1, 256, 171}, side{"a:bb", "Kotlin", 1, 512, 250}, ""},
		"a language without one":             {.5, side{"a", "Go", 1, 256, 171}, side{"a:bb", "Go", 1, 512, 171}, ""},
		"another service":                    {.5, side{"a", "Java", 1, 256, 171}, side{"bb", "Java", 1, 512, 171}, ""},
		"a larger limit":                     {.5, side{"a", "Java", 1, 256, 171}, side{"a:bb", "Java", 1, 1024, 171}, ""},
		"the same limit":                     {.5, side{"a", "Java", 1, 256, 171}, side{"a:bb", "Java", 1, 256, 171}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var trials []bench.TrialResult
			var p bench.Profile
			for _, s := range []side{c.a, c.b} {
				name, variant, _ := strings.Cut(s.name, ":")
				sel := bench.Selection{Contender: name, Variant: variant}
				limits := bench.Limits{CPUs: s.cpus, Memory: s.memory * mib}
				p.Contenders = append(p.Contenders, sel)
				p.Settings = append(p.Settings, bench.Settings{Selection: sel, Limits: limits})
				for _, trial := range rounds(s.name, 2, 1000, c.used*s.cpus*1e6) {
					trial.Service = bench.Service{Name: sel.Contender, Language: s.language}
					trial.Instance = &bench.InstanceInfo{Limits: limits, LimitsEnforced: true}
					trial.Steps[0].After.Memory = &bench.Memory{Peak: s.peak * mib}
					trials = append(trials, trial)
				}
			}
			run := benchtest.Run(trials...)
			run.Profile.Contenders, run.Profile.Settings = p.Contenders, p.Settings
			var got []string
			for _, c := range Of(analysis.Of(run, trials), nil).Caveats {
				if strings.Contains(c.Text, "docs/runtimes.md") {
					got = append(got, c.Text)
				}
			}
			if c.want == "" {
				testenv.Equal(t, got, nil)
			} else if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
