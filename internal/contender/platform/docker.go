package platform

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
)

// Docker is an engine that runs contenders, or only needs, in one network of the run.
type Docker struct {
	*launch.Docker
	runID string
}

// CPUs returns the number of CPUs of the engine's machine.
func (d *Docker) CPUs() int { return d.Info().CPUs }

func openDocker(ctx context.Context, o Options) (Platform, error) {
	d, err := OpenDocker(ctx, o)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// OpenDocker connects to the engine and makes the network, which shows whether the engine is local.
func OpenDocker(ctx context.Context, o Options) (*Docker, error) {
	engine, err := docker.Connect(ctx)
	if err != nil {
		_, options := those(o.Needs, contained)
		instead := "--runtime process"
		if NoProcesses(runtime.GOOS) != nil {
			instead = "--target http://HOST:PORT of a service that you start"
		}
		return nil, MissingError{fmt.Errorf("%w; without Docker: %s", err, strings.Join(append(options, instead), " "))}
	}
	d := &Docker{runID: o.RunID}
	inside, _ := those(o.Needs, contained)
	if d.Docker, err = launch.NewDocker(ctx, engine, o.RunID, len(inside) > 0); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	if err := d.inReach(o); err != nil {
		return nil, errors.Join(UnreachableError{err}, d.Close(ctx))
	}
	return d, nil
}

// inReach returns why the run cannot use this engine, if its container addresses cannot be reached.
// So the run ends before its first contender gets no response.
func (d *Docker) inReach(o Options) error {
	ports, loopback := d.Reach()
	enter, rootless := d.Apart()
	here, options := those(o.Needs, onThisMachine)
	blind := !o.NeedsOnly && !loopback && len(here) > 0
	switch {
	case d.Group.Network.Direct():
	case rootless && blind:
		return fmt.Errorf("this rootless Docker engine has its own network: contenders cannot reach %s "+
			"on this machine. Start locbench in it: '%s locbench …'", strings.Join(here, ", "), enter)
	case !ports:
		err := fmt.Errorf("the Docker engine at %s is on another machine or in another network namespace: its container "+
			"ports are unreachable. Run locbench there, or set DOCKER_HOST=tcp://HOST:PORT", d.Host())
		if d.InContainer() {
			err = fmt.Errorf("%w; if it is the engine of this container, start the container with --network host", err)
		}
		return err
	case blind:
		return fmt.Errorf("containers of the Docker engine at %s cannot reach %s on loopback here; use %s",
			d.Host(), strings.Join(here, ", "), strings.Join(options, ", "))
	}
	return nil
}

// those returns the names of the needs that are where is says, and the options that move them.
func those(all []needs.Named, is func(bench.NeedInfo) bool) (names, options []string) {
	for _, n := range all {
		if is(n.Info()) {
			names, options = append(names, n.Name), append(options, n.Elsewhere)
		}
	}
	return names, options
}

// contained reports whether a need runs in a container.
func contained(n bench.NeedInfo) bool { return n.From.Traits().Container }

// onThisMachine reports whether a need is on this machine's loopback interface.
func onThisMachine(n bench.NeedInfo) bool {
	t := n.From.Traits()
	return t.InClient || t.ByURL && (n.URL == "" || contact.OnLoopback(n.URL))
}

// Build builds an image.
func (d *Docker) Build(ctx context.Context, svc bench.Service, o contender.BuildOptions) (bench.Artifact, error) {
	o.Run = d.runID
	return contender.BuildImage(ctx, d.Engine, svc, o)
}

// Built reports whether the engine has the image.
func (d *Docker) Built(ctx context.Context, svc bench.Service) bool {
	ref, err := contender.ImageRef(svc, d.Info().Arch, contender.BuildOptions{})
	if _, notStatic := errors.AsType[*contender.NotStaticError](err); err != nil {
		return !notStatic
	}
	_, err = d.ImageInspect(ctx, ref)
	return !errors.Is(err, docker.ErrNotFound)
}

// Capabilities returns what the engine offers.
func (d *Docker) Capabilities() Capabilities {
	c := Capabilities{Launches: true, NoIsolation: noIsolation()}
	switch {
	case c.NoIsolation != "":
	case !d.Local():
		c.NoIsolation = "the engine is not on this machine, or in a virtual machine"
	case !d.Info().CPUSet:
		c.NoIsolation = "the engine cannot enforce CPU sets"
	}
	return c
}

// RecordEnvironment adds the engine's properties to run.
func (d *Docker) RecordEnvironment(run *bench.Run) {
	info := d.Info()
	run.Software.Docker, run.Software.DockerAPI = info.Version, info.APIVersion
	if info.Podman {
		run.Software.Docker = info.Product()
	}
	run.Machine.CgroupVersion = info.CgroupVersion
	for _, w := range d.Warnings() {
		w.Text = "the Docker engine warns: " + w.Text
		run.Warnings.Add(w)
	}
}

// Prepare leaves the launch unchanged.
func (d *Docker) Prepare(*bench.LaunchSpec, bench.Service) error { return nil }

// Template returns the address on which a container listens.
func (d *Docker) Template() (bench.Template, error) { return bench.Template{Listen: "0.0.0.0"}, nil }

// Network returns the launcher's address of this machine. If that is a name that the engine
// resolves for containers (Docker Desktop), it leads to loopback here.
func (d *Docker) Network() needs.Network {
	return needs.Network{Host: d.HostAddress(), Named: !d.Group.Network.Direct(), Peers: d.Group.Network.Subnets}
}

// Allow does nothing: the engine sets the CPUs of containers.
func (d *Docker) Allow(cpuset.Set) {}

// Alive connects to the engine again: an open connection may outlive the engine.
func (d *Docker) Alive(ctx context.Context) error {
	engine, err := docker.Connect(ctx)
	if err != nil {
		return err
	}
	return engine.Close()
}

// Others returns the names of running containers that are not of this run.
func (d *Docker) Others(ctx context.Context) []string {
	names, err := d.Running(ctx, d.runID)
	if err != nil {
		return nil // the run will report what is wrong with the engine
	}
	return names
}

// Clean removes what an earlier, killed part of this run has left.
func (d *Docker) Clean(ctx context.Context) (launch.Cleaned, error) {
	return launch.Clean(ctx, d.Engine, launch.CleanOptions{Run: d.runID, NotOwn: true})
}

// Close removes the network and closes the connection, even if ctx was canceled.
func (d *Docker) Close(ctx context.Context) error {
	return errors.Join(d.Docker.Close(ctx), d.Engine.Close())
}

// BuildNeed builds the image of a need, unless it exists.
func (d *Docker) BuildNeed(ctx context.Context, need, dockerfile string, progress func(bench.Progress)) (string, error) {
	out, done := safe.EachLine(func(line string) { progress(bench.Progress{Text: "building " + dockerfile + ": " + line}) })
	defer done()
	a, err := contender.BuildNeed(ctx, d.Engine, need, dockerfile, contender.BuildOptions{Out: out, Run: d.runID})
	return a.Image, err
}
