// Package platform builds and runs the contenders of a run: in containers of a Docker engine, as
// processes of this machine, or not at all for a target. Each is one implementation of Platform in
// its own file. Other packages use Capabilities and do not distinguish the implementations.
package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/needs"
)

// Platform builds and launches contenders. Only Launch and Alive are safe for concurrent use.
type Platform interface {
	// Build builds svc and returns what Launch starts.
	Build(ctx context.Context, svc bench.Service, o contender.BuildOptions) (bench.Artifact, error)
	// CPUs returns the number of CPUs of the machine that builds and runs the contenders.
	CPUs() int
	// Built reports whether svc needs no build here, or whether that cannot be known.
	Built(ctx context.Context, svc bench.Service) bool
	// Capabilities returns what a run can rely on.
	Capabilities() Capabilities
	// RecordEnvironment adds the platform's properties to run.
	RecordEnvironment(run *bench.Run)
	// Prepare completes the launch of svc, such as its port.
	Prepare(spec *bench.LaunchSpec, svc bench.Service) error
	// Template returns the values of the platform for the templates of manifests.
	Template() (bench.Template, error)
	// Launch starts a contender.
	Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error)
	// Network returns how contenders reach this machine.
	Network() needs.Network
	// Allow sets the CPUs that contenders without a CPU set may use; nil: those of this process.
	Allow(cpus cpuset.Set)
	// Alive returns an error if the platform no longer responds.
	Alive(ctx context.Context) error
	// Others returns the names of running containers that are not of this run.
	Others(ctx context.Context) []string
	// Clean removes what an earlier, killed part of this run has left.
	Clean(ctx context.Context) (launch.Cleaned, error)
	// Close closes all that was opened, even if ctx was canceled.
	Close(ctx context.Context) error
}

// Capabilities are what a run can rely on.
type Capabilities struct {
	Launches    bool   // it starts contenders, under limits, and knows how they exit
	NoIsolation string // why contenders cannot have their own CPUs; "": they can
}

// Options are the options of Open.
type Options struct {
	RunID string
	Needs []needs.Named
	// NeedsOnly says that the platform runs only the containers of needs.
	NeedsOnly bool
}

// kinds opens all platforms. A new one needs a file, and a line here; that of processes adds itself, on Linux.
var kinds = map[bench.Runtime]func(context.Context, Options) (Platform, error){
	bench.RuntimeDocker: openDocker, bench.RuntimeURL: openTarget,
}

// NoProcesses returns why contenders cannot be processes on a system; nil: they can.
func NoProcesses(system string) error {
	if system == "linux" {
		return nil
	}
	return errors.New("contenders are processes on Linux only: use --runtime docker, or start the service yourself and use --target http://HOST:PORT")
}

// Open opens the platform of a runtime other than "auto". The caller closes it.
func Open(ctx context.Context, rt bench.Runtime, o Options) (Platform, error) {
	open, ok := kinds[rt]
	if !ok {
		return nil, cmp.Or(NoProcesses(runtime.GOOS), fmt.Errorf("unknown runtime %q", rt))
	}
	return open(ctx, o)
}

// MissingError is why a platform cannot be used on this machine at all.
type MissingError struct{ error }

func (e MissingError) Unwrap() error { return e.error }

// UnreachableError is why a run cannot use an existing platform.
type UnreachableError struct{ error }

func (e UnreachableError) Unwrap() error { return e.error }

// noIsolation returns why this system cannot limit processes to CPUs; "": it can.
func noIsolation() string {
	if NoProcesses(runtime.GOOS) != nil {
		return "this system has no CPU affinity"
	}
	return ""
}
