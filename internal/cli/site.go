package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"locbench/internal/around"
	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/cpuset"
	"locbench/internal/dataset"
	"locbench/internal/docker"
	"locbench/internal/event"
	"locbench/internal/launch"
	"locbench/internal/oracle"
	"locbench/internal/runner"
	"locbench/internal/store"
	"locbench/internal/verdict"
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
	around  *around.Store // reads host and store; nil where the store cannot be read
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
		s.plan.Warnings = append(s.plan.Warnings, bench.Finding{Text: "contenders run as processes: " + err.Error()})
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

// onThisMachine tells whether a store is reached through this machine's loopback interface.
func onThisMachine(spec bench.StoreSpec) bool {
	switch spec.Kind {
	case bench.StoreEmbedded:
		return true
	case bench.StoreExternal, bench.StoreAuto:
		return spec.URL == "" || store.OnLoopback(spec.URL)
	}
	return false
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

// openStore makes the launcher, opens the store, and gives it an address that contenders can reach.
func (s *site) openStore(ctx context.Context, progress func(bench.Progress)) (string, error) {
	s.tellUnrest()
	var err error
	if slices.ContainsFunc(s.plan.Profile.Requests, func(r bench.Request) bool { return strings.Contains(r.Path, "{id}") }) {
		if s.ids, err = s.data.IDs(ctx); err != nil {
			return "", fmt.Errorf("read the ids of the data set: %w", err)
		}
	}
	if s.plan.Profile.Validate > 0 {
		if s.known, err = oracle.New(s.data, s.plan.Profile.Requests); err != nil {
			return "", err
		}
	}
	host := s.makeLauncher()
	opts := store.Options{Seed: s.plan.Seed, RunID: s.plan.ID}
	if s.engine != nil {
		opts.Containers = storeRunner{s.engine, s.docker, s.apart.store, progress}
	}
	if s.store, err = store.Open(ctx, s.plan.Profile.Store, opts); err != nil {
		return "", err
	}
	if s.plan.Profile.Store.Kind == bench.StoreNone {
		s.prepared()
		if s.plan.Profile.Runtime == bench.RuntimeURL {
			return "", nil // whether a service of somebody else has one is not known
		}
		return "none", nil
	}
	s.elastic = s.store.URL()
	if host != "" {
		if s.elastic, err = s.letIn(host); err != nil {
			return "", fmt.Errorf("let containers reach the store: %w", err)
		}
	}
	s.lookAround()
	for _, w := range s.store.Warnings() {
		s.stream.Publish(nil, bench.Notice{Level: "warning", Text: w})
	}
	s.prepared()
	info := s.store.Info()
	return fmt.Sprintf("%s, Elasticsearch %s", info.Kind, info.Version), nil
}

// lookAround finds a way to read what the store uses. Without one a step that the store has bound may not be told as such.
func (s *site) lookAround() {
	var err error
	if work, ok := s.store.Work(); ok {
		s.around = around.Embedded(work)
	} else if s.store.Info().Kind == bench.StoreContainer {
		if s.around, err = around.Container(s.store.PID()); err == nil {
			cpus, _ := cpuset.Parse(s.apart.store)
			s.around.KeptTo(len(cpus))
		}
	} else {
		s.around, err = around.Address(s.store.URL())
	}
	if err != nil {
		s.around = nil
	}
}

// letIn makes the store reachable for containers, which know this machine as host. Where that is no address of this machine but a
// name that the engine resolves for them (Docker Desktop), it leads to what listens on loopback here.
func (s *site) letIn(host string) (string, error) {
	if s.docker.Direct() {
		return s.store.Listen(net.JoinHostPort(host, "0"), s.docker.Subnets()...)
	}
	seen, err := s.store.Listen("127.0.0.1:0")
	if err != nil {
		return "", err
	}
	u, err := url.Parse(seen)
	if err != nil {
		return "", fmt.Errorf("store address: %w", err)
	}
	if name := u.Hostname(); name == "localhost" || net.ParseIP(name).IsLoopback() {
		u.Host = net.JoinHostPort(host, u.Port())
	}
	return u.String(), nil
}

func (s *site) prepared() {
	s.plan.Store = s.store.Info()
	s.plan.Software.Elasticsearch = s.plan.Store.Version
	s.stream.Publish(nil, bench.Prepared{Store: s.plan.Store, Software: s.plan.Software})
}

// makeLauncher returns the address at which contenders reach this machine, "" where that is loopback.
func (s *site) makeLauncher() (host string) {
	switch s.plan.Profile.Runtime {
	case bench.RuntimeURL:
		s.starter = launch.Target{URL: s.plan.Target}
	case bench.RuntimeDocker:
		s.starter = s.docker
		host = s.docker.HostAddress()
	default:
		s.starter = launch.Process{CPUs: s.apart.all}
	}
	return host
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
	errs = append(errs, s.around.Close(), s.apart.end())
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

// storeAlive asks the store for a sign of life.
func (s *site) storeAlive(ctx context.Context) error {
	if s.store == nil {
		return nil
	}
	return s.store.Alive(ctx)
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

// template is what the manifest of svc may name, with the store at url.
func (s *site) template(svc bench.Service, a bench.Artifact, url string, port int) (bench.Template, error) {
	t := bench.Template{Listen: "0.0.0.0", Port: port, Name: svc.Name, Dir: a.Dir}
	if url != "" {
		host, p, err := splitURL(url)
		if err != nil {
			return t, err
		}
		t.Elastic.URL, t.Elastic.Host, t.Elastic.Port = url, host, p
	}
	if s.plan.Profile.Runtime == bench.RuntimeProcess {
		self, err := os.Executable()
		if err != nil {
			return t, fmt.Errorf("find the running binary: %w", err)
		}
		t.Self, t.Listen = self, "127.0.0.1"
	}
	return t, nil
}

// splitURL returns host and port of a URL, with the scheme's port where it names none.
func splitURL(text string) (host, port string, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", "", fmt.Errorf("store address: %w", err)
	}
	port = u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return u.Hostname(), port, nil
}

// spec is what a leg of svc is launched with. As a process it gets a port that is free now, unless its manifest tells it none.
func (s *site) spec(name string, svc bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
	spec := bench.LaunchSpec{RunID: s.plan.ID, Name: name, Artifact: a, Port: svc.Port, Limits: s.plan.Profile.Limits}
	spec.CPUs = s.apart.contender
	if svc.Docker != nil {
		spec.More = svc.Docker.Privileges
	}
	var err error
	switch s.plan.Profile.Runtime {
	case bench.RuntimeURL:
		return spec, nil
	case bench.RuntimeProcess:
		if !contender.TakesPort(svc, a) {
			err = launch.Free(svc.Port)
		} else {
			spec.Port, err = launch.FreePort()
		}
		if err != nil {
			return spec, err
		}
	}
	spec.Artifact, spec.Env, err = s.environment(svc, spec, s.elastic)
	return spec, err
}

// environment fills in the command and the environment of spec, with the store at url.
func (s *site) environment(svc bench.Service, spec bench.LaunchSpec, url string) (bench.Artifact, map[string]string, error) {
	t, err := s.template(svc, spec.Artifact, url, spec.Port)
	if err != nil {
		return spec.Artifact, nil, err
	}
	return contender.Fill(svc, spec.Artifact, t)
}

// judge says what else than the contender may have limited a step.
func (s *site) judge(res bench.StepResult, inst bench.InstanceInfo) bench.Findings {
	doubts := s.disturbed(res)
	if inst.PID == 0 {
		return doubts // not on this machine
	}
	return append(doubts, verdict.OnThisMachine(res, inst, runtime.NumCPU())...)
}

// storeRunner starts the container of a store through the Docker handle, in the contenders' network if there is one.
type storeRunner struct {
	engine   *docker.Engine
	docker   *launch.Docker
	cpus     string
	progress func(bench.Progress)
}

func (r storeRunner) RunContainer(ctx context.Context, spec store.ContainerSpec) (store.Container, error) {
	if _, err := r.engine.ImageInspect(ctx, spec.Image); errors.Is(err, docker.ErrNotFound) {
		if err := r.pull(ctx, spec.Image); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	r.progress(bench.Progress{Text: "starting " + spec.Image})
	c, _, err := r.engine.Run(ctx, docker.ContainerSpec{
		Name: "locbench-" + spec.RunID + "-" + spec.Name, Image: spec.Image, Env: spec.Env, Labels: launch.Labels(spec.RunID, spec.Name),
		CPUs: r.cpus, Port: spec.Port, Network: r.docker.Network(), Publish: !r.docker.Direct(), OnLog: spec.OnLog,
	})
	if err != nil {
		return nil, err
	}
	return storeContainer{c}, nil
}

func (r storeRunner) pull(ctx context.Context, image string) error {
	out, done := lineWriter(func(line string) { r.progress(bench.Progress{Text: "pulling " + image + ": " + line}) })
	defer done()
	return r.engine.Pull(ctx, image, out)
}

type storeContainer struct{ *docker.Container }

func (c storeContainer) PID() int { return launch.LocalPID(c.Container) }

func (c storeContainer) Stop(ctx context.Context) error {
	_, err := c.Container.Stop(ctx, storeGrace)
	return err
}

// storeGrace is how long a store may take to stop; its data goes with it anyway.
const storeGrace = 5 * time.Second

// Launch is the runner's Launcher: the launcher itself is made in a stage of the run.
func (s *site) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	if err := s.apart.begin(); err != nil {
		return nil, err
	}
	s.meetOnEngine(ctx)
	return s.starter.Launch(ctx, spec)
}
