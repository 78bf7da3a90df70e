package platform

import (
	"context"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/launch"
)

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
