package board

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// published returns the state of a run whose results come with the source, and which has no event
// log.
func published(t *testing.T, name string) *fold.State {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "testdata", "results", name)
	run, trials, err := results.Read(dir)
	testenv.OK(t, err)
	s := &fold.State{}
	for _, rec := range results.Records(run, trials, dir) {
		s.Apply(rec)
	}
	return s
}

// TestBottleneckIsInTheTable: the table names every bottleneck that the details name.
func TestBottleneckIsInTheTable(t *testing.T) {
	for _, name := range []string{"locations", "delay-matrix", "burst", "cold-warm"} {
		s := published(t, name)
		b := New()
		for _, trial := range s.Trials {
			b.show(s, trial)
			v := &view{b: b, l: ui.NewLook(ui.LookOptions{}), s: s, trial: trial}
			for _, step := range trial.Steps {
				if step.Result == nil || v.verdict(step.Result).Bound == "" {
					continue
				}
				testenv.Check(t, v.notes(step.Result) != "", "%s, step %d: the column is empty, the detail says %s",
					trial.Result.Trial, step.Index+1, v.verdict(step.Result))
				testenv.Contains(t, strings.Join(v.detail(step, 200), "\n"), "!nothing was used up",
					"!bound by unclear")
			}
		}
	}
}

// TestChartsHaveRoom: with four lines of 80×24 taken, a chart still has three lines below its
// title.
func TestChartsHaveRoom(t *testing.T) {
	s := published(t, "locations")
	_, first := find(t, text(New(), s, 80, 20), "throughput ")
	_, second := find(t, text(New(), s, 80, 20), "CPU ")
	testenv.Check(t, second-first >= 4, "a chart of %d lines with its title:\n%s", second-first,
		text(New(), s, 80, 20))
}

func TestLogThatWasNotSaved(t *testing.T) {
	s, b := published(t, "locations"), New()
	press(t, b, s, "5")
	v := text(b, s, 80, 20)
	testenv.Check(t, strings.Contains(v, "log not saved: no events.jsonl"), "%s", v)
	press(t, b, s, "[", "[", "[")
	if v := text(b, s, 80, 20); !strings.Contains(v, "kt-ktor, round 1, 20 lines, last lines only: no events.jsonl") || !strings.Contains(v, "GET /city/v1/get") {
		t.Errorf("%s", v)
	}
	s.Phase.Name = bench.PhaseLoad
	press(t, b, s, "]")
	testenv.Contains(t, text(b, s, 80, 20), "no output")
}
