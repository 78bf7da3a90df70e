package load

import (
	"context"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/load/record"
)

// finish returns the recorded load, with the warnings about it.
func finish(ctx context.Context, rec *record.Result, wall, cpu time.Duration) (bench.Load, error) {
	load := rec.Load()
	load.ClientCPU, load.Wall, load.ClientCPUs = cpu, wall, cgroup.OwnCPUs()
	load.Warnings = append(load.Warnings, clientWarnings(load, rec)...)
	if ctx.Err() != nil {
		return load, context.Cause(ctx)
	}
	return load, nil
}

// clientWarnings returns the warnings about the client itself.
func clientWarnings(l bench.Load, rec *record.Result) bench.Warnings {
	return verdict.Loop{
		Open: rec.Open, Whole: rec.Whole, Parts: rec.Interleaved, Connections: rec.Connections,
		LateAfter: record.LateAfter,
		Responses: l.Succeeded + rec.Ended.Rejected + rec.Ended.Failed.Total(),
		Busy:      rec.ServiceTime, Shared: rec.IntervalTime, Counted: rec.InFlightIntegral, Rested: rec.BackoffTime,
		Users: rec.ConnectionTime,
	}.Warnings(l)
}
