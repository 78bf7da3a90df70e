package platform

import (
	"context"
	"runtime"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/needs"
)

// local has the methods of platforms without an engine: those of this machine.
type local struct{ runID string }

func (local) CPUs() int                       { return runtime.NumCPU() }
func (local) RecordEnvironment(*bench.Run)    {}
func (local) Network() needs.Network          { return needs.Network{} }
func (local) Alive(context.Context) error     { return nil }
func (local) Others(context.Context) []string { return nil }
func (local) Close(context.Context) error     { return nil }
func (h local) Clean(ctx context.Context) (launch.Cleaned, error) {
	return launch.Clean(ctx, nil, launch.CleanOptions{Run: h.runID, NotOwn: true})
}

// target is a running service that locbench did not start.
type target struct {
	local
	launch.Target
}

func openTarget(_ context.Context, o Options) (Platform, error) {
	return target{local{o.RunID}, launch.Target{}}, nil
}

func (target) Capabilities() Capabilities {
	return Capabilities{NoIsolation: "locbench did not start the target"}
}

func (target) Build(context.Context, bench.Service, contender.BuildOptions) (bench.Artifact, error) {
	return bench.Artifact{}, nil
}

func (target) Built(context.Context, bench.Service) bool      { return true }
func (target) Prepare(*bench.LaunchSpec, bench.Service) error { return nil }
func (target) Template() (bench.Template, error)              { return bench.Template{}, nil }
func (target) Allow(cpuset.Set)                               {}
