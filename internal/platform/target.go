package platform

import (
	"context"
	"runtime"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/elastic/store"
	"locbench/internal/launch"
)

// target is a service that somebody else has started.
type target struct {
	launch.Target
	runID string
}

func openTarget(_ context.Context, o Options) (Platform, error) {
	return target{launch.Target{URL: o.Target}, o.RunID}, nil
}

func (target) Capabilities() Capabilities {
	return Capabilities{NoIsolation: "the contender was started by somebody else"}
}

func (target) CPUs() int { return runtime.NumCPU() }

func (target) Fingerprint(*bench.Run) {}

func (target) Build(context.Context, bench.Service, contender.BuildOptions) (bench.Artifact, error) {
	return bench.Artifact{}, nil
}

func (target) Prepare(*bench.LaunchSpec, bench.Service) error { return nil }
func (target) Template() (bench.Template, error)              { return bench.Template{}, nil }

func (target) Reach(s *store.Store) (string, error)                   { return s.URL(), nil }
func (target) Allow([]int)                                            {}
func (target) Alive(context.Context) error                            { return nil }
func (target) Others(context.Context) []string                        { return nil }
func (target) Neighbours(context.Context) ([]launch.Neighbour, error) { return nil, nil }
func (target) Close(context.Context) error                            { return nil }
func (t target) Clean(ctx context.Context) (launch.Cleaned, error) {
	return launch.Clean(ctx, nil, launch.CleanOptions{Run: t.runID})
}
