package search

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSearch_Killed: a contender that the kernel kills in a probe, since its memory is full, does not
// sustain that rate; started again it has a warm-up, and the search continues with its second probe.
func TestSearch_Killed(t *testing.T) {
	for name, c := range map[string]struct {
		exit    *bench.Exit
		step    bench.StepResult
		counted bool
	}{
		"out of memory":   {&bench.Exit{Signal: "SIGKILL", OOMKilled: true}, bench.StepResult{Step: bench.Step{Rate: 100}, Ending: bench.EndedByDeath}, true},
		"exited":          {&bench.Exit{Code: 1}, bench.StepResult{Step: bench.Step{Rate: 100}, Ending: bench.EndedByDeath}, false},
		"in the warm-up":  {&bench.Exit{OOMKilled: true}, bench.StepResult{Step: bench.Step{WarmUp: true}, Ending: bench.EndedByDeath}, false},
		"between probes":  {&bench.Exit{OOMKilled: true}, bench.StepResult{Step: bench.Step{Rate: 100}}, false},
		"another failure": {nil, bench.StepResult{Step: bench.Step{Rate: 100}, Ending: bench.EndedEarly}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newSearch(t)
			h.run.Profile.Limits.Memory = 64 << 20
			trial := bench.Trial{Contender: "a", Round: 1}
			warm := []bench.StepResult{{Step: bench.Step{WarmUp: true}}}
			probe, _ := h.Next(t.Context(), trial, warm)
			testenv.Equal(t, probe.Rate, 100, "the first probe")
			dir := t.TempDir()
			run := bench.Run{Schema: bench.SchemaVersion, ID: "r", Profile: h.run.Profile, Trials: []bench.TrialEntry{{Trial: trial, State: bench.TrialPending, File: "a-1.json"}}}
			w := testenv.Must(results.Create(dir, run, func(err error) { t.Error(err) }))(t)
			for i, e := range []bench.Event{bench.RunStarted{Run: run}, bench.TrialStarted{Number: 1, Of: 1}, bench.StepEnded{Result: c.step},
				bench.TrialEnded{State: bench.TrialFailed, Failure: "it died", Exit: c.exit}, bench.RunEnded{State: bench.RunFailed}} {
				rec := bench.Record{Seq: int64(i + 1), At: time.Now(), Event: e}
				if i > 0 && i < 4 {
					rec.Trial = &trial
				}
				w.Handle(rec)
			}
			testenv.OK(t, w.Close())
			var said strings.Builder
			out := plain.New(plain.Options{Out: io.Discard, Talk: &said})
			got := h.killed(t.Context(), dir, errors.New("it died"), out)
			testenv.Need(t, got == c.counted, "counted: %v", got)
			p := h.log.record.Points[0]
			if !c.counted {
				testenv.Equal(t, len(p.Outcomes), 0)
				return
			}
			const why = "killed: out of memory under its limit of 64 MiB"
			if len(p.Outcomes) != 1 || p.Outcomes[0].Sustained || p.Outcomes[0].Rate != 100 || capacity.Reason(p.Outcomes[0].Why) != why || !strings.Contains(said.String(), why) {
				t.Errorf("%+v\n%s", p.Outcomes, said.String())
			}
			first, _ := h.Next(t.Context(), trial, nil)
			again, more := h.Next(t.Context(), trial, warm)
			if !first.WarmUp || !more || again.Rate == 0 || h.running.Number != 2 || len(h.log.record.Points[0].Outcomes) != 1 {
				t.Errorf("first %+v, then %+v, %v", first, again, more)
			}
			testenv.Check(t, !h.killed(t.Context(), dir, nil, out), "without a failure")
		})
	}
}
