package conclusion

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// Runs that differ in one caveat each.
func TestCaveats(t *testing.T) {
	each := func(change func(*bench.TrialResult)) []bench.TrialResult {
		trials := slices.Concat(rounds("a", 6, 9000, 9e4), rounds("bb", 6, 4000, 9e4))
		for i := range trials {
			change(&trials[i])
		}
		return trials
	}
	same := func(*bench.TrialResult) {}
	warned := func(texts ...string) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) {
			for _, text := range texts {
				t.Steps[0].Warnings = append(t.Steps[0].Warnings, bench.Warning{Text: text})
			}
		}
	}
	limits := func(l bench.Limits, note string) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) {
			t.Instance = &bench.InstanceInfo{Limits: l, LimitsNote: note}
			t.Steps[0].Warnings = nil
		}
	}
	rates := func(all ...float64) (trials []bench.TrialResult) {
		for i, rate := range all {
			trials = append(trials, benchtest.Trial("a", i+1, benchtest.Step(int64(10*rate))))
		}
		return trials
	}
	plain := func(reason bench.PlainReason) func(*bench.Run) {
		return func(r *bench.Run) { r.Plain = &bench.Plain{Reason: reason, Text: "why"} }
	}
	none := func(*bench.Run) {}
	needs := func(r *bench.Run) { r.Needs = []bench.NeedInfo{{Name: "db"}} }
	store := func(s *bench.StepResult) { // uses its only CPU
		s.Load.Wall = benchtest.Length
		s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: benchtest.Start(), Source: "/proc", CPUs: 1}}}
		s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{
			"db": {At: benchtest.Start().Add(benchtest.Length), Source: "/proc", CPU: benchtest.Length, CPUs: 1}}}
	}
	alike := func(n int) (all [][]bench.TrialResult) {
		for i := range n {
			all = append(all, rounds(strings.Repeat("x", i+1), 1, 9000, 9e4, benchtest.Of(benchtest.Closed(1))))
		}
		return all
	}
	var b strings.Builder
	for _, row := range []struct {
		name   string
		trials []bench.TrialResult
		change func(*bench.Run)
	}{
		{"no caveat", each(same), none},
		{"incomplete, and one failed", slices.Concat(rounds("a", 6, 9000, 9e4), killed(rounds("c", 6, 3900, 2e5))),
			func(r *bench.Run) { r.Trials[0].State = bench.TrialAborted }},
		{"failed checks accepted", each(same), func(r *bench.Run) { r.AcceptFailedChecks = true }},
		{"limits not enforced", each(limits(bench.Limits{CPUs: 1.5}, "no cgroup")), none},
		{"no limits to enforce", each(limits(bench.Limits{}, "")), none},
		{"warnings of the run", each(same), func(r *bench.Run) {
			for i := range maxWarnings + 2 {
				r.Warnings = append(r.Warnings, bench.Warning{Text: fmt.Sprint("warning ", i)})
			}
		}},
		{"busy before", each(same), func(r *bench.Run) { r.Machine.CPUs, r.Machine.Load1 = 2, "3.5" }},
		{"busy before, and warned of", each(same), func(r *bench.Run) {
			r.Machine.CPUs, r.Machine.Load1 = 2, "3.5"
			r.Warnings = bench.Warnings{{Kind: bench.WarnMachineState, Text: "load 3.5"}}
		}},
		{"bound by the machine", each(func(t *bench.TrialResult) { t.Instance = &bench.InstanceInfo{PID: 1}; busy(&t.Steps[0]) }), none},
		{"bound by the machine, alone", rounds("a", 6, 9000, 9e4, busy), none},
		{"bound by a need", slices.Concat(rounds("a", 6, 9000, 9e4, store), rounds("bb", 6, 9000, 9e4, store)), needs},
		{"bound by a need, one of them", slices.Concat(rounds("a", 6, 9000, 9e4, store), rounds("bb", 6, 9000, 9e4)), needs},
		{"bound by a need, for its own requests", each(func(t *bench.TrialResult) { store(&t.Steps[0]) }), needs},
		{"bound by a need, alone", rounds("a", 6, 9000, 9e4, store), needs},
		{"few connections of seven", slices.Concat(alike(7)...), none},
		{"few connections of eight", slices.Concat(alike(8)...), none},
		{"few connections", each(func(t *bench.TrialResult) { t.Steps[0].Step = benchtest.Closed(1) }), none},
		{"an outlier", rates(1000, 1001, 1003, 200, 1002, 999), none},
		{"a drift", rates(1000, 990, 980, 970, 960, 950), none},
		{"two kinds of rounds", rates(1000, 2010, 1020, 2000, 1990, 1010, 2020, 1000), none},
		{"changed by hand", each(func(t *bench.TrialResult) {
			t.ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: bench.ControlPause}}}
		}), none},
		{"not interleaved", each(same), plain(bench.PlainContenders)},
		{"not interleaved, by choice", each(same), plain(bench.PlainChosen)},
		{"a warning at the same step", each(warned("x")), none},
		{"more kinds of warnings than are named", each(warned("a", "b", "c", "d", "e", "f", "g", "h")), none},
		{"a warning at many steps", []bench.TrialResult{benchtest.Trial("a", 1, func() (all []bench.StepResult) {
			for i := range maxNames + 1 {
				all = append(all, benchtest.Step(1000, benchtest.Of(benchtest.Closed(2<<i)), func(s *bench.StepResult) { s.Warnings = bench.Warnings{{Text: "x"}} }))
			}
			return all
		}()...)}, none},
		{"a warning at other steps of five", func() (all []bench.TrialResult) {
			for i := range 5 {
				all = append(all, benchtest.Trial(string(rune('a'+i)), 1, benchtest.Step(1000, benchtest.Of(benchtest.Closed(2<<i)),
					func(s *bench.StepResult) { s.Warnings = bench.Warnings{{Text: "x"}} })))
			}
			return all
		}(), none},
	} {
		run := benchtest.Run(row.trials...)
		row.change(&run)
		fmt.Fprintf(&b, "%s\n", row.name)
		for _, c := range Of(analysis.Of(run, row.trials), nil).Caveats {
			fmt.Fprintf(&b, "  %s\n", c.Text)
		}
	}
	testenv.Golden(t, "testdata/caveats.txt", b.String())
}

// leads matches a verdict that names one leader.
var leads = regexp.MustCompile(`^(.*) has the highest throughput: `)

// supported fails if the samples do not support the verdict. It tests a leader again, with Holm's
// correction over all pairs, independently of the product code.
func supported(t *testing.T, a *analysis.Run) (leader string) {
	t.Helper()
	r := Of(a, nil)
	all := words(r)
	if !utf8.ValidString(all) || len(all) > 100_000 || regexp.MustCompile(`%!|\bNaN\b|[+−-]Inf\b`).MatchString(all) ||
		strings.ContainsAny(all, "\x1b\x00\u2028\u202e\u00ad") {
		t.Errorf("%d bytes: %q", len(all), all)
	}
	m := leads.FindStringSubmatch(r.Verdict)
	if m == nil {
		return ""
	}
	s := a.Standing(measure.Throughput, stats.Rule{})
	var p []stats.Weighted
	var behind []int // pairs with the leader
	for i := range s.Members {
		for k := range i {
			test := testenv.Must(stats.MannWhitney(s.Member(i).Value.Values, s.Member(k).Value.Values))(t)
			if nameOf(s, i) == m[1] || nameOf(s, k) == m[1] {
				behind = append(behind, len(p))
			}
			p = append(p, stats.Weighted{P: test.P})
		}
		testenv.Check(t, len(s.Member(i).Value.Values) >= stats.MinInterval, "a leader of %d rounds", len(s.Member(i).Value.Values))
	}
	adjusted := stats.Holm(p)
	testenv.Check(t, len(behind) > 0, "%s leads no other contender: %s", m[1], r.Verdict)
	for _, i := range behind {
		testenv.Check(t, adjusted[i] <= stats.DefaultAlpha, "%s: p %g after Holm", r.Verdict, adjusted[i])
	}
	return m[1]
}

// At most 5% of runs of equal contenders may have a leader, and each leader is supported.
func TestNoLeaderAmongEquals(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	wrong := 0
	for range 200 {
		var trials []bench.TrialResult
		for k := range 3 {
			for i := range 6 {
				trials = append(trials, benchtest.Trial(fmt.Sprint("contender-", k), i+1, benchtest.Step(int64(1000*math.Exp(.1*rng.NormFloat64())))))
			}
		}
		if supported(t, analysis.Of(benchtest.Run(trials...), trials)) != "" {
			wrong++
		}
	}
	testenv.Check(t, wrong <= 10, "%d of 200 runs of equals have a leader", wrong) // the seed is fixed, so the count is too
}

// FuzzOf makes runs out of bytes: rounds, throughputs, errors, deaths, warnings and names.
func FuzzOf(f *testing.F) {
	f.Add([]byte("\x03\x06abcdefghijklmnopqrstuvwxyz0123456789"), "a")
	f.Add([]byte("\x01\x06\x00\xf0\xf1\xf2\xf3\xf4\xf5\x00\x10\x11\x12\x13\x14\x15"), "a")
	const hostile = "</script>|[x](javascript:y)`*_\x1b[31m\u202e\u2028\x00\n# has the highest throughput: %s%d"
	f.Add([]byte("\x02\x06\x01\x00\xff\xff\x03\x00\xff\xff\x04\x00"), hostile)
	f.Add([]byte("\x00\x00\x09\x50"), hostile)
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		next := func() int {
			if len(data) == 0 {
				return 7
			}
			v := data[0]
			data = data[1:]
			return int(v)
		}
		if strings.Contains(name, "%!") || strings.Contains(name, "Inf") || strings.Contains(name, "NaN") || leads.MatchString(name) {
			t.Skip("a name that looks like a mistake")
		}
		contenders, n := next()%8+1, next()%9+1
		var trials []bench.TrialResult
		for k := range contenders {
			kind := next()
			for i := range n {
				trial := benchtest.Trial(fmt.Sprint(k, name), i+1, benchtest.Step(int64(40*next())))
				trial.Failure = name
				switch s := &trial.Steps[0]; kind % 10 {
				case 1:
					benchtest.Errors(bench.ErrorKind(name), int64(kind))(s)
				case 2:
					s.Load.Saturation = .99
				case 3:
					trial.State = bench.TrialFailed
				case 4:
					s.Step = benchtest.Open(1000)
				case 5:
					trial.Instance = &bench.InstanceInfo{Limits: bench.Limits{CPUs: 1}, LimitsNote: name}
				case 6:
					s.Aborted = name
				case 7:
					s.Load.Succeeded = -s.Load.Succeeded
				case 9:
					trial.Checks = []bench.CheckResult{{Name: name, Detail: name, Status: bench.CheckFailed}}
				case 8:
					s.Warnings = bench.Warnings{{Text: name}}
				}
				trials = append(trials, trial)
			}
		}
		supported(t, analysis.Of(benchtest.Run(trials...), trials))
	})
}

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
