package platform

import (
	"context"
	"errors"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
)

// RunContainer runs the container of a need in the contenders' network.
func (d *Docker) RunContainer(ctx context.Context, spec needs.ContainerSpec) (needs.Container, error) {
	_, err := d.engine.ImageInspect(ctx, spec.Image)
	if errors.Is(err, docker.ErrNotFound) {
		err = d.pull(ctx, spec)
	}
	if err != nil {
		return nil, err
	}
	spec.Progress(bench.Progress{Text: "starting " + spec.Image})
	network := d.Docker.Network
	c, _, err := d.engine.Run(ctx, docker.ContainerSpec{
		Name: spec.Name, Image: spec.Image, Env: spec.Env, Labels: launch.Labels(spec.RunID, spec.Name),
		CPUs: spec.CPUs, Port: spec.Port, Network: network.Name, Publish: !network.Direct(), OnLog: spec.OnLog,
	})
	if err != nil {
		return nil, err
	}
	return container{c}, nil
}

func (d *Docker) pull(ctx context.Context, spec needs.ContainerSpec) error {
	out, done := safe.EachLine(func(line string) { spec.Progress(bench.Progress{Text: "pulling " + spec.Image + ": " + line}) })
	defer done()
	return d.engine.Pull(ctx, spec.Image, out)
}

type container struct{ *docker.Container }

func (c container) PID() int { return launch.LocalPID(c.Container) }

func (c container) Stop(ctx context.Context) error {
	_, err := c.Container.Stop(ctx, needGrace)
	return err
}

// needGrace is the time a need may take to stop. It is short, since its data is removed with it.
const needGrace = 5 * time.Second
