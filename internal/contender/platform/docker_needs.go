package platform

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
)

var _ needs.Engine = (*Docker)(nil)

// RunContainer runs the container of a need in the contenders' network. It is a needs.Served.
func (d *Docker) RunContainer(ctx context.Context, spec needs.ContainerSpec) (needs.Container, error) {
	return d.runIn(ctx, d.Docker.Network, spec)
}

// Apart is an engine for the needs that one contender has for itself: they are in their
// own network, in which they have the same names as those of other contenders.
type Apart struct {
	*Docker
	network docker.Network
}

// Apart makes a network for the needs of one contender.
func (d *Docker) Apart(ctx context.Context, of string) (*Apart, error) {
	network, err := d.engine.CreateNetwork(ctx, launch.Labels(d.runID, "needs-"+of), false)
	if err != nil {
		return nil, err
	}
	return &Apart{d, network}, nil
}

// RunContainer runs the container of a need in that network. It is a needs.Served.
func (a *Apart) RunContainer(ctx context.Context, spec needs.ContainerSpec) (needs.Container, error) {
	return a.runIn(ctx, a.network, spec)
}

// Network returns the name of the network, which the contender joins.
func (a *Apart) Network() string { return a.network.Name }

// Close removes the network, even if ctx was canceled.
func (a *Apart) Close(ctx context.Context) error {
	return launch.WithCleanHint(a.engine.RemoveNetwork(ctx, a.network.ID))
}

func (d *Docker) runIn(ctx context.Context, network docker.Network, spec needs.ContainerSpec) (needs.Container, error) {
	if _, err := d.Image(ctx, spec.Image, spec.Progress); err != nil {
		return nil, err
	}
	report(spec.Progress, "starting "+spec.Image)
	limits := spec.Limits
	if all := d.engine.Info().CPUs; all > 0 {
		limits.CPUs = min(limits.CPUs, float64(all)) // the engine refuses more; the effect is the same
	}
	if limits.PIDs == 0 && d.engine.Info().PIDsLimit {
		limits.PIDs = bench.DefaultProcesses
	}
	aliases := spec.Aliases
	if spec.Hostname != "" && !slices.Contains(aliases, spec.Hostname) {
		aliases = append(slices.Clone(aliases), spec.Hostname)
	}
	c, warnings, err := d.engine.Run(ctx, docker.ContainerSpec{
		Name: spec.Name, Image: spec.Image, Entrypoint: spec.Entrypoint, Command: spec.Command, Env: spec.Env,
		Labels: launch.Labels(spec.RunID, spec.Name), Limits: limits, CPUs: spec.CPUs,
		Network: network.Name, Port: spec.Port, Publish: !network.Direct(), Host: d.NamedHost(),
		OnLog: spec.OnLog, OnIncident: spec.OnIncident,
		User: spec.User, Hostname: spec.Hostname, Aliases: aliases, Mounts: spec.Mounts, Tmpfs: spec.Tmpfs,
		ShmSize: spec.ShmSize, Ulimits: spec.Ulimits, Init: spec.Init, StopSignal: spec.StopSignal, NoGain: true,
	})
	if err != nil {
		return nil, err
	}
	if _, note := d.Unenforced(limits, spec.CPUs, warnings); note != "" && spec.Warn != nil {
		spec.Warn(note)
	}
	return served{c}, nil
}

// BuildImage builds the image of a need, unless it exists.
func (d *Docker) BuildImage(ctx context.Context, need, dockerfile string, progress func(bench.Progress)) (string, error) {
	out, done := safe.EachLine(func(line string) { report(progress, "building "+dockerfile+": "+line) })
	defer done()
	a, err := contender.BuildNeed(ctx, d.engine, need, dockerfile, contender.BuildOptions{Out: out, Run: d.runID})
	return a.Image, err
}

// Image describes an image, which it pulls if the engine does not have it.
func (d *Docker) Image(ctx context.Context, ref string, progress func(bench.Progress)) (needs.Image, error) {
	image, err := d.engine.ImageConfig(ctx, ref)
	if !errors.Is(err, docker.ErrNotFound) {
		return image, err
	}
	out, done := safe.EachLine(func(line string) { report(progress, "pulling "+ref+": "+line) })
	err = d.engine.Pull(ctx, ref, out)
	done()
	if err != nil {
		return needs.Image{}, err
	}
	return d.engine.ImageConfig(ctx, ref)
}

func report(progress func(bench.Progress), text string) {
	if progress != nil {
		progress(bench.Progress{Text: text})
	}
}

// CreateVolume makes an empty volume of a run.
func (d *Docker) CreateVolume(ctx context.Context, runID, name string) (string, error) {
	return d.engine.CreateVolume(ctx, name, launch.Labels(runID, name))
}

// CopyVolume copies the files of a volume into an empty one.
func (d *Docker) CopyVolume(ctx context.Context, from, to, image string, most int64) (needs.Files, error) {
	return d.engine.CopyVolume(ctx, from, to, image, most, launch.Labels(d.runID, "copy"))
}

// VolumeSize returns the bytes of a volume's files.
func (d *Docker) VolumeSize(ctx context.Context, volume, image string) (int64, error) {
	return d.engine.VolumeSize(ctx, volume, image, launch.Labels(d.runID, "size"))
}

// FreeSpace returns the bytes that are free for volumes, and where.
func (d *Docker) FreeSpace() (int64, string) { return d.engine.FreeSpace() }

// RemoveVolume removes a volume, even if ctx has ended.
func (d *Docker) RemoveVolume(ctx context.Context, volume string) error {
	return launch.WithCleanHint(d.engine.RemoveVolume(ctx, volume))
}

// served is the container of a need.
type served struct{ *docker.Container }

func (s served) PID() int { return launch.LocalPID(s.Container) }

func (s served) Stop(ctx context.Context) error {
	_, err := s.Container.Stop(ctx, needGrace)
	return err
}

func (s served) Kill(ctx context.Context) error { return launch.WithCleanHint(s.Container.Kill(ctx)) }

// needGrace is the time a need may take to stop. It is short, since its data is removed with it.
const needGrace = 5 * time.Second
