package plain

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/fit"
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

// The end of a run: with a ranking, with too few rounds for one, below the noise floor, and with
// limits as its subject.
func TestEnd(t *testing.T) {
	floor := &compare.Floor{Contender: "go-nethttp", Rounds: 6, Made: start,
		Measures: []compare.MeasureFloor{{Measure: measure.Throughput, Floor: .4}}}
	halved := func(run *bench.Run) {
		run.Profile.Limits = bench.Limits{CPUs: 1}
		run.Profile.Settings = []bench.Settings{{Selection: bench.Selection{Contender: "kt-ktor"}, Limits: bench.Limits{CPUs: .5}}}
	}
	for _, row := range []struct {
		name   string
		rounds int
		width  int
		floor  *compare.Floor
		change func(*bench.Run)
	}{
		{"ranked", 6, 0, nil, nil},
		{"ranked-80", 6, 80, nil, nil},
		{"few", 5, 0, nil, nil},
		{"one", 1, 0, nil, func(r *bench.Run) { r.Plain = &bench.Plain{Reason: bench.PlainRounds} }},
		{"floor", 6, 0, floor, nil},
		{"limits", 6, 80, nil, halved},
	} {
		t.Run(row.name, func(t *testing.T) {
			run, trials := rounds(row.rounds)
			if row.change != nil {
				row.change(&run)
			}
			var b strings.Builder
			testenv.OK(t, End(&b, conclusion.Of(analysis.Of(run, trials), row.floor), row.width))
			testenv.Golden(t, "testdata/end-"+row.name+".txt", b.String())
		})
	}
}

// whole writes the end of a run with the steps of all contenders.
func whole(w io.Writer, a *analysis.Run, width int) error {
	return End(w, conclusion.Of(a, nil), width, a.Ordered()...)
}

// Lines fit the width, but for single words; and nothing from outside reaches the terminal.
func TestEnd_Width(t *testing.T) {
	_, run, trials := recorded()
	for i := range trials {
		trials[i].Trial.Contender = "a-contender-with-a-name-that-is-much-too-long-for-any-table-at-all"
	}
	for _, width := range []int{200, 100, 80, 60, 50} {
		var b strings.Builder
		testenv.OK(t, whole(&b, analysis.Of(run, trials), width))
		for line := range strings.Lines(b.String()) {
			if line = strings.TrimRight(line, "\n"); fit.Width(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%d columns of %d: %s", fit.Width(line), width, line)
			}
		}
		testenv.Check(t, !strings.ContainsAny(b.String(), "\x1b\r"), "a control character is printed")
	}
}

// The steps of a contender have their first responses from one second on.
func TestEnd_FirstResponses(t *testing.T) {
	for first, want := range map[time.Duration]bool{time.Second - 1: false, time.Second: true} {
		run, trials := rounds(6)
		for i := range trials {
			if trials[i].Trial.Contender == "rs-axum" {
				trials[i].Steps[0].Load.FirstResponse = first
			}
		}
		var b strings.Builder
		testenv.OK(t, whole(&b, analysis.Of(run, trials), 0))
		n := 0
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "req/s") && strings.Contains(line, "first") {
				n++
			}
		}
		if n != map[bool]int{true: 1}[want] || strings.Contains(b.String(), "The first responses of rs-axum at 8 connections took 1.00 s") != want {
			t.Errorf("%s: %d tables have a column of first responses:\n%s", first, n, b.String())
		}
	}
}

// The end of a search in 80 columns: one limit, several, none, the client, unfinished.
func TestConclusion(t *testing.T) {
	one := capacitytest.Service{CPUs: 1, Holds: 1450}
	client, stopped := one, one
	client.Client, stopped.Stop = 900, 4
	var b strings.Builder
	for _, services := range [][]capacitytest.Service{{one}, capacitytest.Several(), {{CPUs: .25}}, {client}, {stopped}} {
		fmt.Fprintf(&b, "=== %+v\n", services)
		testenv.OK(t, End(&b, capacitytest.Record(services...).Conclude(nil), 80))
	}
	testenv.Golden(t, "testdata/conclusion.txt", b.String())
}
