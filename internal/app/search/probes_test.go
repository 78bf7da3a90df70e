package search

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// newSearch returns a search outside of a run: SLO p99<50ms, first probe at 100/s.
func newSearch(t *testing.T) *capacitySearch {
	t.Helper()
	slo, err := profile.ParseConditions("p99<50ms")
	testenv.OK(t, err)
	log := &recorder{dir: t.TempDir(), record: capacity.Record{Schema: capacity.Schema}}
	return &capacitySearch{
		options: &Options{Probe: time.Second}, slo: slo, log: log, point: log.add(capacity.Point{Dir: "."}),
		config: capacity.Config{Start: 100, Min: 1, Max: 1000, Resolution: .5, Need: 1, Of: 1, Probes: 9},
		run:    &bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: "a"}}, Steps: []bench.Step{{Connections: 16, WarmUp: true}}}}, publish: func(*bench.Trial, bench.Event) {},
	}
}

func done(p99 time.Duration, aborted string) bench.StepResult {
	return bench.StepResult{Step: bench.Step{Duration: time.Second}, Aborted: aborted, Load: bench.Load{
		Elapsed: time.Second, Counts: bench.Counts{Scheduled: 100, Sent: 100}, Outcomes: bench.Outcomes{Succeeded: 100}, Latency: bench.Latencies{Count: 100, P99: p99},
	}}
}

// The warm-up comes first; a skipped step has no result and is repeated.
func TestSearchRepeatsSkippedSteps(t *testing.T) {
	h := newSearch(t)
	var steps []bench.StepResult
	next := func() bench.Step {
		t.Helper()
		s, ok := h.Next(t.Context(), bench.Trial{}, steps)
		testenv.Need(t, ok && h.err == nil, "it ended: %v", h.err)
		return s
	}
	if s := next(); !s.WarmUp {
		t.Errorf("the first step is %+v", s)
	}
	steps = append(steps, done(1, "skipped by the user"))
	if s := next(); !s.WarmUp {
		t.Errorf("after a skipped warm-up comes %+v", s)
	}
	steps = append(steps, done(1, ""))
	if s := next(); s.Rate != 100 || s.Duration != time.Second {
		t.Errorf("the first probe is %+v", s)
	}
	steps = append(steps, done(time.Second, "skipped by the user"))
	if s := next(); s.Rate != 100 || len(h.log.record.Points[0].Outcomes) != 0 {
		t.Errorf("after a skipped probe comes %+v", s)
	}
	steps = append(steps, done(time.Millisecond, ""))
	if s := next(); s.Rate != 200 {
		t.Errorf("after a passed probe comes %+v", s)
	}
	kept, err := app.ReadSearch(h.log.dir)
	if err != nil || len(kept.Points) != 1 || len(kept.Points[0].Outcomes) != 1 || !kept.Points[0].Outcomes[0].Sustained {
		t.Errorf("on disk: %+v, %v", kept, err)
	}
}

// A full disk ends the search with the reason, and the pause after a probe ends with the run.
func TestSearchEnds(t *testing.T) {
	h := newSearch(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	steps := []bench.StepResult{done(1, "")}
	h.Next(ctx, bench.Trial{}, steps)
	steps = append(steps, done(time.Second, ""))
	if s, ok := h.Next(ctx, bench.Trial{}, steps); !ok || s.Rate != 100 {
		t.Errorf("after a failed probe comes %+v, %t", s, ok)
	}
	h.log.dir = filepath.Join(h.log.dir, "not", "there")
	steps = append(steps, done(time.Second, ""))
	if _, ok := h.Next(ctx, bench.Trial{}, steps); ok || h.err == nil || !strings.Contains(h.err.Error(), "save the probe") {
		t.Errorf("%t, %v", ok, h.err)
	}
}
