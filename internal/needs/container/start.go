package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/secret"
)

// Open starts the service with empty volumes, and returns when it is ready. Its image runs the
// files of its seed meanwhile.
func (n *Need) Open(ctx context.Context, at needs.Place) (err error) {
	if at.Progress == nil {
		at.Progress = func(bench.Progress) {}
	}
	if at.Warn == nil {
		at.Warn = func(bench.Warning) {}
	}
	if at.Hide == nil {
		at.Hide = func(...string) {}
	}
	n.at = at
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", n.name, errors.Join(err, n.Close(ctx)))
		}
	}()
	if n.external() {
		return n.reach(ctx)
	}
	if n.engine = at.Containers; n.engine == nil {
		return errors.New("it runs in a container, and no Docker engine is in use; see 'locbench doctor'")
	}
	if n.preset.Apart && at.Network.Host == "" {
		return fmt.Errorf("clients of %s connect to the name that it gives them, which only containers find; use --runtime docker",
			cmp.Or(n.spec.Like, imageName(n.spec.Image)))
	}
	if n.env, err = n.fillIn(); err != nil {
		return err
	}
	if n.spec.Dockerfile != "" {
		image, err := at.Build(ctx, n.name, string(n.spec.Dockerfile), at.Progress)
		if err != nil {
			return err
		}
		n.mu.Lock()
		n.spec.Image = image
		n.mu.Unlock()
	}
	if n.image, err = n.engine.Image(ctx, n.spec.Image, at.Progress); err != nil {
		return err
	}
	if n.image.Emulated {
		return fmt.Errorf("image %s is for another architecture than this machine's; emulated, it is not fit for measuring", n.spec.Image)
	}
	if n.ports, err = n.portsOf(); err != nil {
		return err
	}
	if err = n.findImages(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	n.version = short(n.image.ID)
	n.mu.Unlock()
	if n.state, err = n.newState(ctx); err != nil {
		return err
	}
	if err = n.start(ctx, true); err != nil {
		return err
	}
	n.at.Progress = func(p bench.Progress) {
		p.Phase = bench.PhaseRestore
		at.Progress(p)
	}
	return nil
}

// short returns the first digits of the sha256 of an image.
func short(id string) string {
	digits := strings.TrimPrefix(id, "sha256:")
	return digits[:min(len(digits), 12)]
}

// filler fills in the variables of locbench.
func (n *Need) filler() *filler {
	getenv := n.at.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	return &filler{getenv: getenv, hide: n.at.Hide}
}

// fillIn fills the variables of locbench into the texts of the service, and returns its
// environment.
func (n *Need) fillIn() (map[string]string, error) {
	s, err := n.spec.filled(n.filler())
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.spec = s
	n.mu.Unlock()
	env := map[string]string{}
	for _, file := range s.EnvFile {
		read, err := readVariables(file, func(name string) (string, bool) {
			value := cmp.Or(n.filler().getenv(name), s.Environment[name]) // in the order of compose
			return value, value != ""
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(env, read)
	}
	maps.Copy(env, s.Environment)
	for name, value := range env {
		if secret.Name(name) {
			n.at.Hide(value)
		}
	}
	n.at.Hide(n.login(env).Password)
	return env, nil
}

// maxPorts is how many ports of an image an error names.
const maxPorts = 10

// portsOf returns the ports: those of the profile or the preset, or the one that the image exposes.
func (n *Need) portsOf() (ports, error) {
	if n.spec.Ports != nil {
		return n.spec.Ports, nil
	}
	switch exposed := n.image.Ports; len(exposed) {
	case 0:
		return ports{}, nil
	case 1:
		return ports{mainPort: exposed[0]}, nil
	default:
		var all []string
		for _, p := range exposed[:min(len(exposed), maxPorts)] {
			all = append(all, strconv.Itoa(p))
		}
		if more := len(exposed) - len(all); more > 0 {
			all = append(all, fmt.Sprintf("%d more", more))
		}
		return nil, fmt.Errorf("image %s exposes the ports %s; write the one that contenders use: `ports: %d`",
			n.spec.Image, strings.Join(all, ", "), exposed[0])
	}
}

// start starts the service, and waits until it is ready. first: with empty volumes.
func (n *Need) start(ctx context.Context, first bool) error {
	heard := n.notes.begin(n.spec.Ready.Log.Line)
	spec := n.container(first)
	spec.OnLog = func(l bench.LogLine) { n.notes.hear(heard, l.Text) }
	spec.OnIncident = n.happened
	began := time.Now()
	n.at.Progress(bench.Progress{Text: "starting " + spec.Image})
	c, unenforced, err := n.engine.Run(ctx, spec)
	if err != nil {
		return err
	}
	if unenforced != "" && unenforced != n.unenforced { // not again at each start
		n.at.Warn(bench.Warning{Text: n.name + ": limits not enforced: " + unenforced})
	}
	n.unenforced = cmp.Or(unenforced, n.unenforced)
	usage, err := hostusage.Container(c.LocalPID())
	if err == nil {
		usage.KeptTo(len(n.at.CPUs))
		usage.LimitedTo(float64(n.spec.Limits.CPUs))
	} else {
		usage = nil
	}
	if err := n.set(c, usage, n.addressOf(c)); err != nil {
		return err
	}
	if err := n.await(ctx, c, heard, first); err != nil {
		return err
	}
	if first {
		n.took = time.Since(began)
	}
	return nil
}

// happened reports what others do to the container. Kills for lack of memory are counted.
func (n *Need) happened(in bench.Incident) {
	switch in.Kind {
	case bench.IncidentPaused:
		in.Kind = bench.IncidentNeedPaused
	case bench.IncidentOOM:
		return
	}
	if in.Text = n.name + ": " + in.Text; n.at.Happened != nil {
		n.at.Happened(in)
	}
}

// container returns the container to start.
func (n *Need) container(first bool) docker.ContainerSpec {
	s := n.spec
	spec := docker.ContainerSpec{
		Name: n.label(), Image: s.Image, Entrypoint: s.Entrypoint, Command: s.Command, Env: n.env, Port: n.ports[mainPort],
		CPUs: n.at.CPUs, Limits: s.Limits.bench(), User: s.User, Hostname: cmp.Or(s.Hostname, n.name), Aliases: append([]string{n.name}, s.Aliases...),
		ShmSize: int64(s.ShmSize), Init: s.Init, StopSignal: s.StopSignal,
	}
	for _, d := range n.state.data {
		spec.Mounts = append(spec.Mounts, docker.Mount{Volume: d.volume, Target: d.path, Complete: !first})
	}
	for _, v := range s.Volumes {
		if v.Source != "" {
			spec.Mounts = append(spec.Mounts, docker.Mount{Source: v.Source, Target: v.Target, ReadOnly: true})
		}
	}
	for i, one := range s.Seed {
		if one.File == "" {
			continue
		}
		spec.Mounts = append(spec.Mounts, docker.Mount{Source: one.File, Target: seedPath(one.File), ReadOnly: true})
		if first { // its image runs them in the order of their names
			target := path.Join(n.preset.Folder, fmt.Sprintf("%02d-%s", i+1, path.Base(one.File)))
			spec.Mounts = append(spec.Mounts, docker.Mount{Source: one.File, Target: target, ReadOnly: true})
		}
	}
	for _, t := range s.Tmpfs {
		spec.Tmpfs = append(spec.Tmpfs, docker.Tmpfs{Target: t.Path(), Options: t.Options()})
	}
	for _, name := range sorted(s.Ulimits) {
		spec.Ulimits = append(spec.Ulimits, docker.Ulimit{Name: name, Soft: s.Ulimits[name].Soft, Hard: s.Ulimits[name].Hard})
	}
	return spec
}

// addressOf returns where contenders reach a container: by the need's name, which is always the
// same, or at its address if they run on this machine.
func (n *Need) addressOf(c needs.Container) bench.NeedAddress {
	main := n.ports[mainPort]
	if main == 0 {
		return bench.NeedAddress{}
	}
	if n.at.Network.Host != "" {
		return n.addressAt(n.name, main, n.ports)
	}
	host, text, err := net.SplitHostPort(c.Address())
	port, _ := strconv.Atoi(text)
	if err != nil {
		return bench.NeedAddress{}
	}
	reached := ports{mainPort: port}
	if n.direct(c) {
		reached = n.ports
	}
	return n.addressAt(host, port, reached)
}

// direct reports whether this machine reaches every port of a container, not only the main one.
func (n *Need) direct(c needs.Container) bool { return c.Address() == c.NetworkAddress() }
