package container

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/compose"
)

// service is what a need starts: what its profile says, with its variables filled in, and its image.
type service struct {
	name   string
	spec   compose.Service
	preset compose.Preset
	at     needs.Place
	image  docker.Image
	env    map[string]string
	ports  compose.Ports
}

// label is the name of the need in the engine: "db", or "db-bookings" of one that a contender has
// for itself.
func (s *service) label() string {
	if s.at.Of == "" {
		return s.name
	}
	return s.name + "-" + s.at.Of
}

// main is the port whose address is the service's; 0: none.
func (s *service) main() int { return s.ports[compose.MainPort] }

// warn warns of the service.
func (s *service) warn(format string, args ...any) {
	s.at.Warn(bench.Warning{Text: s.name + fmt.Sprintf(format, args...)})
}

// maxPorts is how many ports of an image an error names.
const maxPorts = 10

// portsOf returns the ports: those of the profile or the preset, or the one that the image exposes.
func (s *service) portsOf() (compose.Ports, error) {
	if s.spec.Ports != nil {
		return s.spec.Ports, nil
	}
	switch exposed := s.image.Ports; len(exposed) {
	case 0:
		return compose.Ports{}, nil
	case 1:
		return compose.Ports{compose.MainPort: exposed[0]}, nil
	default:
		var all []string
		for _, p := range exposed[:min(len(exposed), maxPorts)] {
			all = append(all, strconv.Itoa(p))
		}
		if more := len(exposed) - len(all); more > 0 {
			all = append(all, fmt.Sprintf("%d more", more))
		}
		return nil, fmt.Errorf("image %s exposes the ports %s; write the one that contenders use: `ports: %d`",
			s.spec.Image, strings.Join(all, ", "), exposed[0])
	}
}

// paths returns where the service has its data: the volumes that its image declares, or its profile,
// without what is in memory or mounted.
func (s *service) paths() (paths []string, err error) {
	all := slices.Clone(s.image.Volumes)
	for _, v := range s.spec.Volumes {
		if v.Source == "" && !slices.Contains(all, v.Target) {
			all = append(all, v.Target)
		}
	}
	of := s.spec
	for _, path := range all {
		of.Volumes = append(of.Volumes, compose.Volume{Target: path})
	}
	env := map[string]string{}
	maps.Copy(env, s.image.Env)
	maps.Copy(env, s.env)
	seeded := s.spec.Seed != nil && !s.spec.Keep
	if what := of.InMemory(env); what != "" && seeded {
		return nil, fmt.Errorf("%s; %s", compose.Lost(what), compose.LostHint)
	}
	for _, path := range all {
		elsewhere := slices.ContainsFunc(s.spec.Volumes, func(v compose.Volume) bool { return v.Source != "" && v.Target == path })
		inMemory := slices.ContainsFunc(s.spec.Tmpfs, func(t needs.TmpfsPath) bool { return t.Path() == path })
		if inMemory && seeded {
			return nil, fmt.Errorf("%s; remove the tmpfs, or write `keep: true`", compose.Lost("tmpfs "+path))
		}
		if !elsewhere && !inMemory {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// container returns the container to start. first: with empty volumes. It finds the files of the steps
// of its seed that follow.
func (s *service) container(volumes []*data, steps []compose.Seed, first bool) docker.ContainerSpec {
	of := s.spec
	spec := docker.ContainerSpec{
		Name: s.label(), Image: of.Image, Entrypoint: of.Entrypoint, Command: of.Command, Env: s.env, Port: s.main(),
		CPUs: s.at.CPUs, Limits: of.Limits.Bench(), User: of.User, Hostname: cmp.Or(of.Hostname, s.name),
		Aliases: append([]string{s.name}, of.Aliases...), ShmSize: int64(of.ShmSize), Init: of.Init, StopSignal: of.StopSignal,
	}
	for _, d := range volumes {
		spec.Mounts = append(spec.Mounts, docker.Mount{Volume: d.volume, Target: d.path, Complete: !first})
	}
	spec.Mounts = append(spec.Mounts, mounts(of.Volumes)...)
	for i, one := range steps {
		if one.File != "" {
			at := s.preset.Place(i, one.File)
			spec.Mounts = append(spec.Mounts, docker.Mount{Source: one.File, Target: at}, docker.Mount{Link: at, Target: compose.SeedPath(one.File)})
		}
		if one.Image != "" {
			continue
		}
		for _, m := range mounts(one.Volumes) {
			if !slices.ContainsFunc(spec.Mounts, func(o docker.Mount) bool { return o.Target == m.Target }) {
				spec.Mounts = append(spec.Mounts, m)
			}
		}
	}
	for _, t := range of.Tmpfs {
		spec.Tmpfs = append(spec.Tmpfs, docker.Tmpfs{Target: t.Path(), Options: t.Options()})
	}
	for _, name := range slices.Sorted(maps.Keys(of.Ulimits)) {
		spec.Ulimits = append(spec.Ulimits, docker.Ulimit{Name: name, Soft: of.Ulimits[name].Soft, Hard: of.Ulimits[name].Hard})
	}
	return spec
}

// given returns the bytes of the files that locbench copies to places below a path.
func (s *service) given(below string) (bytes int64) {
	for _, m := range s.container(nil, s.spec.Seed, true).Mounts {
		if info, err := os.Stat(m.Source); err == nil && strings.HasPrefix(m.Target, below+"/") && !info.IsDir() {
			bytes += info.Size()
		}
	}
	return bytes
}

// mounts returns the files and folders of this machine.
func mounts(volumes []compose.Volume) (all []docker.Mount) {
	for _, v := range volumes {
		if v.Source != "" {
			all = append(all, docker.Mount{Source: v.Source, Target: v.Target})
		}
	}
	return all
}

// addressOf returns where contenders reach a container: by the need's name, which is always the
// same, or at its address if they run on this machine.
func (s *service) addressOf(c needs.Container) bench.NeedAddress {
	if s.main() == 0 || s.at.Network.Host != "" {
		return s.inNetwork()
	}
	host, text, err := net.SplitHostPort(c.Address())
	port, _ := strconv.Atoi(text)
	if err != nil {
		return bench.NeedAddress{}
	}
	reached := compose.Ports{compose.MainPort: port}
	if direct(c) {
		reached = s.ports
	}
	return s.spec.Address(s.env, host, port, reached)
}

// inNetwork returns where containers of the run reach the service, also if contenders are
// processes.
func (s *service) inNetwork() bench.NeedAddress {
	if s.main() == 0 {
		return bench.NeedAddress{}
	}
	return s.spec.Address(s.env, s.name, s.main(), s.ports)
}

// direct reports whether this machine reaches every port of a container, not only the main one.
func direct(c needs.Container) bool { return c.Address() == c.NetworkAddress() }

// reached returns where this machine reaches a port of a container.
func (s *service) reached(c needs.Container, port int) (string, error) {
	switch host, _, err := net.SplitHostPort(c.Address()); {
	case port == 0:
		return "", errors.New("its port is not known; write `ports`")
	case port == s.main():
		return c.Address(), nil
	case err != nil || !direct(c):
		return "", fmt.Errorf("this machine does not reach port %d of the container; write `ready: {command: […]}`", port)
	default:
		return net.JoinHostPort(host, strconv.Itoa(port)), nil
	}
}

// death says how the service ended, with its limit if that was the cause.
func (s *service) death(exit *bench.Exit) string {
	if exit.OOMKilled && s.spec.Limits.Memory > 0 {
		return exit.String() + ", its limit is " + units.Bytes(int64(s.spec.Limits.Memory))
	}
	return exit.String()
}
