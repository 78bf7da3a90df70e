// Package platform is where the contenders of a run are: containers of a Docker engine, processes
// of this machine, or a service that somebody else has started. Each is one implementation of
// Platform in its own file; nothing outside of this package asks which one it is where
// Capabilities can tell.
package platform

import (
	"context"
	"fmt"
	"runtime"

	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
	"locbench/internal/contender"
	"locbench/internal/contender/launch"
	"locbench/internal/store"
)

// Builder makes what can be launched.
type Builder interface {
	// Build makes what is launched of svc.
	Build(ctx context.Context, svc bench.Service, o contender.BuildOptions) (bench.Artifact, error)
	// CPUs are those of the machine that builds, and runs, the contenders.
	CPUs() int
}

// Platform builds and launches contenders. Its methods are called by one goroutine at a time, but
// for Launch and Alive.
type Platform interface {
	Builder
	// Capabilities are what a run may count on.
	Capabilities() Capabilities
	// RecordEnvironment puts on record what the platform is.
	RecordEnvironment(run *bench.Run)
	// Prepare completes what svc is launched with, such as its port.
	Prepare(spec *bench.LaunchSpec, svc bench.Service) error
	// Template has what a manifest may name of the platform.
	Template() (bench.Template, error)
	// Launch starts a contender.
	Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error)
	// Reach makes a store reachable for contenders and returns its address for them.
	Reach(s *store.Store) (url string, err error)
	// Allow names the CPUs that contenders may use that are kept to none; nil: those of this
	// process.
	Allow(cpus cpuset.Set)
	// Alive asks for a sign of life.
	Alive(ctx context.Context) error
	// Others names what runs there besides this run.
	Others(ctx context.Context) []string
	// Clean removes what an earlier, killed part of the run has left.
	Clean(ctx context.Context) (launch.Cleaned, error)
	// Close ends all that was opened, even when ctx was cancelled.
	Close(ctx context.Context) error
}

// Capabilities are what a run may count on.
type Capabilities struct {
	Launches    bool   // it starts contenders itself, under limits, and knows how they end
	Store       bool   // contenders get the address of a store
	NoIsolation string // why contenders cannot be kept to CPUs of their own; "": they can
}

// Options are what a platform is opened with.
type Options struct {
	RunID string
	Store bench.StoreSpec
	// StoreOnly opens it for the container of a store alone: contenders are elsewhere.
	StoreOnly bool
}

// kind is how the platform of a runtime is reached.
type kind struct {
	open func(context.Context, Options) (Platform, error)
	// builder is for those who only build; nil: nothing is built. It also returns what closes it.
	builder func(context.Context) (Builder, func() error, error)
	// buildable says why a contender cannot be built here.
	buildable func(bench.Service) error
}

// kinds are all platforms; a new one is a file and a line here.
var kinds = map[bench.Runtime]kind{
	bench.RuntimeDocker:  {openDocker, dockerBuilder, hasImage},
	bench.RuntimeProcess: {openProcess, processBuilder, hasProcess},
	bench.RuntimeURL:     {open: openTarget},
}

// Open opens the platform of a runtime, which is not "auto". Close it.
func Open(ctx context.Context, rt bench.Runtime, o Options) (Platform, error) {
	k, ok := kinds[rt]
	if !ok {
		return nil, fmt.Errorf("there is no runtime %q", rt)
	}
	return k.open(ctx, o)
}

// Builds reports whether contenders can be built for a runtime.
func Builds(rt bench.Runtime) bool { return kinds[rt].builder != nil }

// OpenBuilder returns the builder of a runtime that Builds, and what closes it.
func OpenBuilder(ctx context.Context, rt bench.Runtime) (b Builder, closing func() error, err error) {
	return kinds[rt].builder(ctx)
}

// Buildable says why svc cannot be built for a runtime that Builds; nil: it can.
func Buildable(rt bench.Runtime, svc bench.Service) error { return kinds[rt].buildable(svc) }

// MissingError is why a platform cannot be used on this machine at all.
type MissingError struct{ error }

func (e MissingError) Unwrap() error { return e.error }

// UnreachableError is why a platform that is there cannot serve a run.
type UnreachableError struct{ error }

func (e UnreachableError) Unwrap() error { return e.error }

// noIsolation returns why this system cannot keep anything to CPUs.
func noIsolation() string {
	if runtime.GOOS != "linux" {
		return "this system lets no process choose its CPUs"
	}
	return ""
}
