package platform

import (
	"context"
	"fmt"
	"os"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/launch"
)

func init() { kinds[bench.RuntimeProcess] = openProcess }

// process runs contenders as processes of this machine, next to the client.
type process struct {
	local
	launcher launch.Process
}

func openProcess(_ context.Context, o Options) (Platform, error) {
	return &process{local: local{o.RunID}}, nil
}

func (*process) Capabilities() Capabilities {
	return Capabilities{Launches: true, NoIsolation: noIsolation()}
}

func (p *process) Build(ctx context.Context, svc bench.Service, o contender.BuildOptions) (bench.Artifact, error) {
	o.Run = p.runID
	return contender.BuildProcess(ctx, svc, o)
}

func (*process) Built(_ context.Context, svc bench.Service) bool {
	built, err := contender.ProcessState(svc, contender.BuildOptions{})
	return built || err != nil
}

// Prepare chooses a free port, or checks the manifest's if the contender does not take one, and a
// folder if the contender has files.
func (*process) Prepare(spec *bench.LaunchSpec, svc bench.Service) (err error) {
	if spec.Artifact.Dir != "" {
		if spec.Folder, err = launch.NewFolder(); err != nil {
			return err
		}
	}
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

func (p *process) Allow(cpus cpuset.Set) { p.launcher.CPUs = cpus }
func (p *process) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	return p.launcher.Launch(ctx, spec)
}
