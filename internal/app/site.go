package app

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/contender/platform"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/load/apart"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
)

// site carries out a plan: it has the platform of the contenders, their needs, and all that checks
// and loads them. The runner says when.
type site struct {
	plan   Plan
	env    console.Env
	clock  event.Clock
	stream *event.Stream
	before map[bench.Selection]bench.Artifact // what the complete trials of a resumed run ran
	trying bool                               // an attempt prints each exchange

	masks masks

	platform   platform.Platform
	noEngine   error            // why processes are used instead of containers; nil: they are not, or by choice
	containers *platform.Docker // of needs in containers; may be the same as platform
	isolation  cpuIsolation
	closed     bool
	busy       *machine.Busy // shows other runs of this machine; nil if it cannot be opened
	met        sync.Once     // warns of another run

	needs      []needs.Named     // in order
	own        map[seat]ownNeeds // of interleaved contenders; nil: needs are shared
	apart      func(ctx context.Context, of string) (*docker.Group, error)
	watching   sync.Map        // bench.Trial ─▶ func(bench.Incident): gets what happens to its needs
	restored   sync.Map        // needs.Need ─▶ true: no contender has got its address since it was restored
	unrestored sync.Map        // seat ─▶ true: the last restore has not ended, or failed
	data       needs.Data      // that requests use
	ids        []int64         // of the data, if requests draw them
	known      needs.Responses // nil: responses are not compared

	tls                       *tls.Config     // of the clients; nil trusts the system's certificates
	setup, requests, teardown []bench.Request // the profile's, with environment variables filled in
	values                    load.Data
	expect                    map[string]check.Expect // by the name of the request
	until                     map[string]check.Expect // of requests that are repeated, by the same
	kept                      map[bench.Trial]*load.Kept
	trials                    map[bench.Trial]*load.TrialState // the trials in progress
	begun                     uint64                           // number of trials so far
	engine                    load.Engine
	process                   *apart.Process // of engine fast; nil: the load runs in this process

	suites []*check.Suite
	deaf   sync.Map // label of a contender ─▶ *atomic.Bool: it ignored SIGTERM in this run
}

// close closes what was opened, once, even if ctx was interrupted.
func (s *site) close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	s.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	s.process.Close()
	errs := []error{s.isolation.end(), s.closeNeeds(ctx)}
	for _, p := range s.platforms() {
		errs = append(errs, p.Close(ctx))
	}
	return errors.Join(append(errs, s.busy.Close())...)
}

// Judge returns warnings about what other than the contender may have limited a step.
func (s *site) Judge(res bench.StepResult, inst bench.InstanceInfo) bench.Warnings {
	if inst.PID == 0 {
		return nil // not on this machine
	}
	return verdict.OnThisMachine(res, inst, runtime.NumCPU())
}

// WatchStalls starts to watch for machine stalls.
func (s *site) WatchStalls() runner.Stalls {
	if s.process != nil {
		return s.process.WatchStalls()
	}
	return thread.WatchStalls(thread.LookEvery)
}

// occupy marks this machine as busy for other runs, and warns of another run unless known has that
// warning.
func (s *site) occupy(known bench.Warnings) (warnings bench.Warnings) {
	dir, err := filepath.Abs(s.plan.Dir)
	if err == nil {
		s.busy, err = machine.OpenBusy(os.Getenv(machine.RunsVariable), machine.Active{PID: os.Getpid(), Dir: dir})
	}
	if err != nil {
		return bench.Warnings{{Text: "cannot tell if another run is active: " + err.Error()}}
	}
	s.meetAny(func(w bench.Warning) { warnings = bench.Warnings{w} })
	if known.Has(bench.WarnOtherRun) { // the run was resumed
		return nil
	}
	return warnings
}

// meet warns, once, of another run on this machine.
func (s *site) meet() { s.meetAny(s.warn) }

func (s *site) meetAny(warn func(bench.Warning)) {
	if others := s.busy.Others(); len(others) > 0 {
		s.met.Do(func() { warn(verdict.OtherRun(others[0].String())) })
	}
}

// warn publishes a warning of the run as a whole.
func (s *site) warn(w bench.Warning) { s.stream.Publish(nil, bench.WarningNotice(w)) }
