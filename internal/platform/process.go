package platform

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/elastic/store"
	"locbench/internal/launch"
)

// here is what platforms without an engine have in common: this machine.
type here struct{ runID string }

func (here) CPUs() int                                              { return runtime.NumCPU() }
func (here) Fingerprint(*bench.Run)                                 {}
func (here) Reach(s *store.Store) (string, error)                   { return s.URL(), nil }
func (here) Alive(context.Context) error                            { return nil }
func (here) Others(context.Context) []string                        { return nil }
func (here) Neighbours(context.Context) ([]launch.Neighbour, error) { return nil, nil }
func (here) Close(context.Context) error                            { return nil }
func (h here) Clean(ctx context.Context) (launch.Cleaned, error) {
	return launch.Clean(ctx, nil, launch.CleanOptions{Run: h.runID})
}

// process is this machine: contenders are processes beside the client.
type process struct {
	here
	launcher launch.Process
}

func openProcess(_ context.Context, o Options) (Platform, error) {
	return &process{here: here{o.RunID}}, nil
}

func (*process) Capabilities() Capabilities {
	return Capabilities{Launches: true, Store: true, NoIsolation: noIsolation()}
}

func (*process) Build(ctx context.Context, svc bench.Service, o contender.BuildOptions) (bench.Artifact, error) {
	return contender.BuildProcess(ctx, svc, o)
}

func processBuilder(context.Context) (Builder, func() error, error) {
	return &process{}, func() error { return nil }, nil
}

func hasProcess(svc bench.Service) error {
	_, _, err := contender.ProcessState(svc, contender.BuildOptions{})
	return err
}

// Prepare takes a port that is free now, unless the manifest tells the contender none.
func (*process) Prepare(spec *bench.LaunchSpec, svc bench.Service) (err error) {
	if !contender.TakesPort(svc, spec.Artifact) {
		return launch.Free(svc.Port)
	}
	spec.Port, err = launch.FreePort()
	return err
}

func (*process) Template() (bench.Template, error) {
	self, err := os.Executable()
	if err != nil {
		return bench.Template{}, fmt.Errorf("find the running binary: %w", err)
	}
	return bench.Template{Listen: "127.0.0.1", Self: self}, nil
}

func (p *process) Allow(cpus []int) { p.launcher.CPUs = cpus }
func (p *process) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	return p.launcher.Launch(ctx, spec)
}
