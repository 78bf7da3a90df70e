package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/cpuset"
	"locbench/internal/docker"
	"locbench/internal/hostusage"
	"locbench/internal/launch"
	"locbench/internal/oracle"
	"locbench/internal/store"
)

// openStore makes the launcher, opens the store, and gives it an address that contenders can reach.
func (s *site) openStore(ctx context.Context, progress func(bench.Progress)) (string, error) {
	s.warnUnrest()
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
		if s.elastic, err = s.exposeStore(host); err != nil {
			return "", fmt.Errorf("let containers reach the store: %w", err)
		}
	}
	s.readStoreUsage()
	for _, w := range s.store.Warnings() {
		s.warn(w)
	}
	s.prepared()
	info := s.store.Info()
	return fmt.Sprintf("%s, Elasticsearch %s", info.Kind, info.Version), nil
}

// exposeStore makes the store reachable for containers, which know this machine as host. Where that is no address of this machine but a
// name that the engine resolves for them (Docker Desktop), it leads to what listens on loopback here.
func (s *site) exposeStore(host string) (string, error) {
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

// readStoreUsage finds a way to read what the store uses. Without one a step that the store has bound may not be told as such.
func (s *site) readStoreUsage() {
	var err error
	if work, ok := s.store.Work(); ok {
		s.usage = hostusage.Embedded(work)
	} else if s.store.Info().Kind == bench.StoreContainer {
		if s.usage, err = hostusage.Container(s.store.PID()); err == nil {
			cpus, _ := cpuset.Parse(s.apart.store)
			s.usage.KeptTo(len(cpus))
		}
	} else {
		s.usage, err = hostusage.Address(s.store.URL())
	}
	if err != nil {
		s.usage = nil
	}
}

func (s *site) prepared() {
	s.plan.Store = s.store.Info()
	s.plan.Software.Elasticsearch = s.plan.Store.Version
	s.stream.Publish(nil, bench.Prepared{Store: s.plan.Store, Software: s.plan.Software})
}

// storeAlive asks the store for a sign of life.
func (s *site) storeAlive(ctx context.Context) error {
	if s.store == nil {
		return nil
	}
	return s.store.Alive(ctx)
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
