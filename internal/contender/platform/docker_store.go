package platform

import (
	"context"
	"errors"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/text/safe"
)

// Containers returns a runner for the container of a store in the contenders' network, on these
// CPUs (empty: any). progress gets the progress of the pull.
func (d *Docker) Containers(cpus cpuset.Set, progress func(bench.Progress)) store.ContainerRunner {
	return storeRunner{d, cpus, progress}
}

type storeRunner struct {
	docker   *Docker
	cpus     cpuset.Set
	progress func(bench.Progress)
}

func (r storeRunner) RunContainer(ctx context.Context, spec store.ContainerSpec) (store.Container, error) {
	_, err := r.docker.engine.ImageInspect(ctx, spec.Image)
	if errors.Is(err, docker.ErrNotFound) {
		err = r.pull(ctx, spec.Image)
	}
	if err != nil {
		return nil, err
	}
	r.progress(bench.Progress{Text: "starting " + spec.Image})
	c, _, err := r.docker.engine.Run(ctx, docker.ContainerSpec{
		Name: spec.Name, Image: spec.Image, Env: spec.Env, Labels: launch.Labels(spec.RunID, spec.Name),
		CPUs: r.cpus, Port: spec.Port, Network: r.docker.Network.Name, Publish: !r.docker.Network.Direct(), OnLog: spec.OnLog,
	})
	if err != nil {
		return nil, err
	}
	return storeContainer{c}, nil
}

func (r storeRunner) pull(ctx context.Context, image string) error {
	out, done := safe.EachLine(func(line string) { r.progress(bench.Progress{Text: "pulling " + image + ": " + line}) })
	defer done()
	return r.docker.engine.Pull(ctx, image, out)
}

type storeContainer struct{ *docker.Container }

func (c storeContainer) PID() int { return launch.LocalPID(c.Container) }

func (c storeContainer) Stop(ctx context.Context) error {
	_, err := c.Container.Stop(ctx, storeGrace)
	return err
}

// storeGrace is the time a store may take to stop. It is short, since its data is removed with it.
const storeGrace = 5 * time.Second
