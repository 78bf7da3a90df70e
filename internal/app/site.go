package app

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"locbench/internal/bench"
	"locbench/internal/dataset"
	"locbench/internal/docker"
	"locbench/internal/event"
	"locbench/internal/hostusage"
	"locbench/internal/launch"
	"locbench/internal/load"
	"locbench/internal/oracle"
	"locbench/internal/runner"
	"locbench/internal/store"
)

// site is where a run takes place: the engine or the processes that contenders run in, the store that they ask, and the
// load engine. It opens them in the run's stages and closes them at its end.
type site struct {
	plan    *bench.Run
	data    dataset.Set
	stream  *event.Stream
	engine  *docker.Engine // nil unless contenders or the store run in containers
	docker  *launch.Docker // their network, and what launches contenders in it; nil as engine is
	starter runner.Launcher
	store   *store.Store
	elastic string // the store as contenders reach it
	ids     []int64
	known   *oracle.Answers
	usage   *hostusage.Store // reads host and store; nil where the store cannot be read
	apart   apart
	closed  bool

	neighbours neighbours
}

// chooseRuntime settles "auto" and connects to the engine where one is needed. The record gets what was chosen.
func (s *site) chooseRuntime(ctx context.Context) error {
	p := &s.plan.Profile
	asked := p.Runtime
	containers := p.Store.Kind == bench.StoreContainer
	switch p.Runtime {
	case bench.RuntimeDocker:
		containers = true
	case bench.RuntimeAuto:
		containers = true
	}
	var err error
	if containers {
		s.engine, err = docker.Connect(ctx)
	}
	switch {
	case p.Runtime == bench.RuntimeAuto && err == nil:
		p.Runtime = bench.RuntimeDocker
	case p.Runtime == bench.RuntimeAuto && p.Store.Kind != bench.StoreContainer:
		p.Runtime, err = bench.RuntimeProcess, nil
	}
	if err != nil {
		hint := "; without Docker: --runtime process"
		if p.Store.Kind == bench.StoreContainer {
			hint = "; without Docker: --store embedded --runtime process"
		}
		return fmt.Errorf("%w%s", err, hint)
	}
	if s.engine == nil {
		return nil
	}
	// The network comes first, since it tells where the engine is.
	if s.docker, err = launch.NewDocker(ctx, s.engine, s.plan.ID, p.Store.Kind == bench.StoreContainer); err != nil {
		return err
	}
	if err = s.inReach(); err != nil && asked == bench.RuntimeAuto && p.Store.Kind != bench.StoreContainer {
		p.Runtime = bench.RuntimeProcess
		s.plan.Warnings = append(s.plan.Warnings, "contenders run as processes: "+err.Error())
		err = errors.Join(s.docker.Close(ctx), s.engine.Close())
		s.docker, s.engine = nil, nil
		return err
	}
	if err != nil {
		return fmt.Errorf("%w; or use --runtime process", err)
	}
	info := s.engine.Info()
	s.plan.Software.Docker, s.plan.Software.DockerAPI = info.Version, info.APIVersion
	s.plan.Machine.CgroupVersion = info.CgroupVersion
	return nil
}

// inReach returns why an engine whose containers' addresses are not within reach cannot serve the run, if it cannot: better now than when
// the first contender gets no answer.
func (s *site) inReach() error {
	ports, loopback := s.engine.Reach()
	p := s.plan.Profile
	enter, rootless := s.engine.Apart()
	blind := p.Runtime == bench.RuntimeDocker && !loopback && onThisMachine(p.Store)
	switch {
	case s.docker.Direct():
	case rootless && blind:
		return fmt.Errorf("this Docker engine is rootless and has a network of its own, in which contenders do not reach a store on this machine; "+
			"begun as '%s locbench …' it is in that network too", enter)
	case !ports:
		return fmt.Errorf("the Docker engine at %s is on another machine, or in another network namespace of this one, so that the ports of its containers are out of reach; run locbench there, or name the engine by its own address (DOCKER_HOST=tcp://HOST:PORT)",
			s.engine.Host())
	case blind:
		return fmt.Errorf("containers of the Docker engine at %s cannot reach a store on this machine's loopback interface; use --store container, or an Elasticsearch at an address that they reach (--elastic http://HOST:9200)", s.engine.Host())
	}
	return nil
}

// cleanUp removes what an earlier, killed part of the same run has left.
func (s *site) cleanUp(ctx context.Context) error {
	cleaned, err := launch.Clean(ctx, s.engine, launch.CleanOptions{Run: s.plan.ID})
	for _, k := range cleaned.Kept {
		err = errors.Join(err, errors.New("left from before: "+k))
	}
	return err
}

func (s *site) stages() []runner.Stage {
	stages := []runner.Stage{{Phase: bench.PhaseStore, Do: s.openStore}}
	if s.plan.Profile.Store.Kind != bench.StoreNone {
		stages = append(stages, runner.Stage{Phase: bench.PhaseSeed, Do: s.fillStore})
	}
	return stages
}

// close ends all that was opened, once, even when ctx was interrupted.
func (s *site) close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	s.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var errs []error
	errs = append(errs, s.usage.Close(), s.apart.end())
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.docker != nil {
		errs = append(errs, s.docker.Close(ctx))
	}
	if s.engine != nil {
		errs = append(errs, s.engine.Close())
	}
	return errors.Join(errs...)
}

// engineAlive asks the engine for a sign of life, where one is in use.
func (s *site) engineAlive(ctx context.Context) error {
	if s.docker == nil {
		return nil
	}
	engine, err := docker.Connect(ctx)
	if err != nil {
		return err
	}
	return engine.Close()
}

// judge says when the client rather than the contender limited a step. An embedded store's work is the client's here.
func (s *site) judge(res bench.StepResult, inst bench.InstanceInfo) []string {
	doubts := s.disturbed(res)
	if inst.PID == 0 {
		return doubts // not on this machine
	}
	doubts = append(doubts, unrest(res)...)
	used, ok := res.CPUs()
	if !ok {
		return doubts
	}
	limit := inst.Limits.CPUs
	if !inst.LimitsEnforced {
		limit = 0
	}
	if text := load.Bottleneck(res.Load, used, limit, runtime.NumCPU()); text != "" {
		doubts = append(doubts, text)
	}
	return doubts
}

// warn publishes a warning of the run as a whole.
func (s *site) warn(text string) {
	s.stream.Publish(nil, bench.Notice{Level: "warning", Text: text})
}
