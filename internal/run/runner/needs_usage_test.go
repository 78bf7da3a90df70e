package runner

import (
	"context"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// needObserver reads one need.
type needObserver struct{ noObserver }

func (needObserver) ReadHost(context.Context, bench.Trial) *bench.HostReading {
	return &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Now(), Source: "cgroup v2"}}}
}

// Each reading of the contender in a step has those of its needs.
func TestNeedsAreReadInASecond(t *testing.T) {
	f := start(t, func(f *fakeRun) {
		f.rounds(1)
		f.cfg.Observer = needObserver{}
		f.site.engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
			time.Sleep(3500 * time.Millisecond)
			return good(ctx, step)
		})
	})
	readings := 0
	for _, rec := range f.records {
		if read, ok := rec.Event.(bench.UsageRead); ok {
			readings++
			testenv.Check(t, read.Needs["db"] != nil, "a reading without the need: %+v", read)
		}
	}
	testenv.Check(t, readings >= 9, "%d readings in three steps of 3.5 s", readings)
}
