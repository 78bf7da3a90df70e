package runner

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// paced is an engine with a throughput for each contender; a rate is what is sent.
type paced struct {
	perSecond map[string]int64
	fail      string // the contender whose steps with a rate fail; "": none
}

func (paced) Rest(Place) {}

func (e paced) Run(_ context.Context, at Place, step bench.Step, hooks Hooks) (bench.Load, error) {
	n := e.perSecond[at.Trial.Contender]
	if step.Rate > 0 {
		n = int64(step.Rate)
	}
	hooks.OnStart()
	time.Sleep(time.Second)
	hooks.OnEnd()
	if hooks.Interleave != nil {
		hooks.Interleave.Next()
	}
	if step.Open() && at.Trial.Contender == e.fail {
		return bench.Load{}, fmt.Errorf("no more ports")
	}
	return bench.Load{Sent: n, Succeeded: n, Elapsed: time.Second}, nil
}

// TestRun_LowestPeak: a share of the lowest peak is one rate for all contenders of an interleaved
// round. One after the other, it is that of the contenders measured so far.
func TestRun_LowestPeak(t *testing.T) {
	for _, c := range []struct {
		name  string
		slice time.Duration
		fail  string
		want  map[string]float64
	}{
		{"interleaved", sliceLength, "", map[string]float64{"a-1": 50, "b-1": 50, "a-2": 50, "b-2": 50}},
		{"one after the other, the slow one first", 0, "", map[string]float64{"b-1": 50, "a-1": 50, "a-2": 50, "b-2": 50}},
		{"the slow one fails", 0, "b", map[string]float64{"b-1": 50, "a-1": 150, "a-2": 150, "b-2": 50}},
	} {
		rates := map[string]float64{}
		start(t, func(f *fakeRun) {
			f.cfg.Run.Profile.Interleave = c.slice
			f.cfg.Run.Profile.Steps = []bench.Step{{Name: "one", Connections: 1}, {Name: "half", PeakShare: 0.5, LowestPeak: true}}
			if f.cfg.Run.Trials[0].Trial.Contender != "b" {
				tr := f.cfg.Run.Trials
				tr[0], tr[1] = tr[1], tr[0]
			}
			f.site.engine = paced{map[string]int64{"a": 300, "b": 100}, c.fail}
			f.on = func(rec bench.Record) {
				if e, ok := rec.Event.(bench.StepStarted); ok && e.Index == 1 {
					rates[rec.Trial.String()] = e.Step.Rate
				}
			}
		})
		testenv.Equal(t, fmt.Sprint(rates), fmt.Sprint(c.want), c.name)
	}
}
