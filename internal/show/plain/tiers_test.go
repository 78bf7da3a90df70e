package plain

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
)

// rounds returns a run of n rounds: two contenders are alike, one has an outlier, the last has too
// few rounds.
func rounds(n int) (run bench.Run, trials []bench.TrialResult) {
	run = bench.Run{ID: "r", Profile: bench.Profile{Name: "tiny", Rounds: n, PriceVCPUHr: 0.0275}}
	rates := map[string]int64{"rs-actix": 200_000, "rs-axum": 199_000, "go-nethttp": 150_000, "kt-ktor": 90_000, "node-nest": 30_000}
	names := []string{"go-nethttp", "rs-actix", "rs-axum", "kt-ktor", "node-nest"}
	for _, name := range names {
		run.Profile.Contenders = append(run.Profile.Contenders, bench.Selection{Contender: name})
	}
	for round := 1; round <= n; round++ {
		for _, name := range names {
			if name == "node-nest" && round > 3 {
				continue
			}
			rate := rates[name] + int64(7*round%5-2)*200
			if name == "go-nethttp" && round == 4 {
				rate *= 2
			}
			up := 10*time.Millisecond + time.Duration(round*37%11)*100*time.Microsecond
			trials = append(trials, bench.TrialResult{
				Trial: bench.Trial{Contender: name, Round: round}, State: bench.TrialComplete, StartUp: &up,
				Steps: []bench.StepResult{stepResult(0, 8, rate, false)},
			})
		}
	}
	return run, trials
}

func TestTiersInTheTable(t *testing.T) {
	for _, test := range []struct {
		name  string
		n     int
		width int
		floor *compare.Floor
	}{
		{"tiers.txt", 6, 0, nil},
		{"tiers-80.txt", 6, 80, nil},
		{"tiers-few.txt", 5, 0, nil},
		{"tiers-floor.txt", 6, 0, &compare.Floor{Contender: "go-nethttp", Rounds: 6, Made: start, Measures: []compare.MeasureFloor{{Measure: measure.Throughput, Floor: .4}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run, trials := rounds(test.n)
			var b bytes.Buffer
			testenv.OK(t, Table(&b, analysis.Of(run, trials), test.floor, test.width, false))
			_, text, _ := strings.Cut(b.String(), "\ncontender")
			testenv.Golden(t, "testdata/"+test.name, "contender"+text)
		})
	}
}

// Contenders with different limits have ratios, and no tiers; each name has its limit.
func TestLimitsInTheTable(t *testing.T) {
	run, trials := rounds(6)
	run.Profile.Limits = bench.Limits{CPUs: 1}
	run.Profile.Settings = []bench.Settings{{Selection: bench.Selection{Contender: "kt-ktor"}, Limits: bench.Limits{CPUs: .5}}}
	var b bytes.Buffer
	testenv.OK(t, Table(&b, analysis.Of(run, trials), nil, 0, false))
	testenv.Golden(t, "testdata/limits.txt", b.String())
	if text := b.String(); strings.Contains(text, "behind") || strings.Contains(text, "tier  ") {
		t.Error("a smaller contender is called worse")
	}
}

// TestTooFewRounds: a run that only its rounds kept from interleaving names the rounds that
// pairs take.
func TestTooFewRounds(t *testing.T) {
	for reason, want := range map[bench.PlainReason]string{
		bench.PlainAlone: "6 or more.", bench.PlainMemory: "6 or more.", bench.PlainChosen: "6 or more.",
		bench.PlainRounds: "8 or more to interleave.",
	} {
		var text strings.Builder
		line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
		notes(line, bench.Run{Profile: bench.Profile{Rounds: 1}, Plain: &bench.Plain{Reason: reason}}, nil, nil, nil)
		if !strings.Contains(text.String(), "1 round: too few for a 95% CI or a ranking. Use --rounds "+want) {
			t.Errorf("%s: %s", reason, text.String())
		}
	}
}

// The limits of contenders are in the headline at any width if they differ, and not otherwise.
func TestLimitsInTheHeadline(t *testing.T) {
	run, trials := rounds(6)
	run.Profile.Limits = bench.Limits{CPUs: 1, Memory: 512 << 20}
	for _, width := range []int{0, 80} {
		for limits, want := range map[bench.Limits]string{
			{CPUs: .5}:                    "kt-ktor 0.5 CPUs ",
			{CPUs: .5, Memory: 256 << 20}: "kt-ktor 0.5 CPUs, 256 MiB ",
			{CPUs: 1, Memory: 512 << 20}:  "kt-ktor ",
			{CPUs: 1, Memory: 1 << 30}:    "kt-ktor 1 GiB ",
		} {
			run.Profile.Settings = []bench.Settings{{Selection: bench.Selection{Contender: "kt-ktor"}, Limits: limits}}
			var b bytes.Buffer
			testenv.OK(t, Table(&b, analysis.Of(run, trials), nil, width, false))
			_, text, _ := strings.Cut(b.String(), "\ncontender")
			text, _, _ = strings.Cut(text, "\n\n")
			lines := strings.Split(text, "\n")
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) || strings.Contains(lines[0], "limits") != (limits != run.Profile.Limits) {
				t.Errorf("%d columns, %s: no %q in\n%s", width, limits, want, text)
			}
			for _, line := range lines[1:] {
				if n := utf8.RuneCountInString(line); width > 0 && n > width {
					t.Errorf("%d columns: %q", n, line)
				}
			}
		}
	}
}
