package docker

import (
	"context"
	"maps"
	"slices"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

func (e *Engine) create(ctx context.Context, spec ContainerSpec) (client.ContainerCreateResult, error) {
	config := &container.Config{
		Image: spec.Image, Entrypoint: spec.Entrypoint, Cmd: spec.Command, Labels: spec.in.labels, User: spec.User,
		Hostname: spec.Hostname, StopSignal: spec.StopSignal, Env: environ(spec.Env), AttachStdout: true, AttachStderr: true,
		// That of the image would be run by the engine, and its CPU time measured.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	host := &container.HostConfig{
		// The log is read from the container's output. A log file would be unbounded, and cost the
		// engine, on the measured machine, a JSON object for each line.
		LogConfig: container.LogConfig{Type: "none"},
		Resources: container.Resources{
			NanoCPUs: int64(spec.Limits.CPUs*1e9 + 0.5), CpusetCpus: spec.CPUs.String(),
			Memory: spec.Limits.Memory, MemorySwap: spec.Limits.Memory, // equal: no swap
		},
		Mounts: mounts(spec.Mounts), ShmSize: spec.ShmSize, ReadonlyRootfs: spec.ReadOnly,
	}
	for _, u := range spec.Ulimits {
		host.Resources.Ulimits = append(host.Resources.Ulimits, &container.Ulimit{Name: u.Name, Soft: u.Soft, Hard: u.Hard})
	}
	for _, t := range spec.Tmpfs {
		if host.Tmpfs == nil {
			host.Tmpfs = map[string]string{}
		}
		host.Tmpfs[t.Target] = t.Options
	}
	if spec.Init {
		host.Init = &spec.Init
	}
	if spec.Limits.PIDs > 0 {
		host.Resources.PidsLimit = &spec.Limits.PIDs
	}
	const noGain = "no-new-privileges"
	if spec.NoGain {
		host.SecurityOpt = []string{noGain}
	}
	if more := spec.Hardened; more != nil {
		// Many images of web services start as root, give files to another user, and continue as
		// that user. They need no raw packets, no devices and no chroot.
		host.CapDrop = []string{"ALL"}
		own := []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}
		host.CapAdd = append(own, more.Capabilities...)
		if !more.NewPrivileges {
			host.SecurityOpt = []string{noGain}
		}
	}
	for _, number := range []int{spec.Port, spec.Ready} {
		if number == 0 || !spec.in.publish {
			continue
		}
		if config.ExposedPorts == nil {
			config.ExposedPorts, host.PortBindings = network.PortSet{}, network.PortMap{}
		}
		port := tcpPort(number)
		config.ExposedPorts[port], host.PortBindings[port] = struct{}{}, []network.PortBinding{{HostIP: e.publishAddress()}}
	}
	if spec.in.host != "" && !e.desktop() {
		host.ExtraHosts = []string{"host.docker.internal:" + spec.in.host} // Docker Desktop resolves the name itself
	}
	var networks *network.NetworkingConfig
	if spec.in.network != "" {
		host.NetworkMode = container.NetworkMode(spec.in.network)
		end := &network.EndpointSettings{Aliases: spec.Aliases}
		networks = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{spec.in.network: end}}
	}
	return e.cli.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config: config, HostConfig: host, NetworkingConfig: networks, Name: uniqueName(spec.in.labels[LabelRun], spec.Name),
	})
}

// mounts returns the volumes for the engine.
func mounts(all []Mount) (out []mount.Mount) {
	for _, m := range all {
		if m.Volume == "" {
			continue
		}
		one := mount.Mount{Type: mount.TypeVolume, Source: m.Volume, Target: m.Target, ReadOnly: m.ReadOnly}
		if m.Complete {
			one.VolumeOptions = &mount.VolumeOptions{NoCopy: true}
		}
		out = append(out, one)
	}
	return out
}

// environ returns variables as "NAME=VALUE", by name; nil for none.
func environ(env map[string]string) (all []string) {
	for _, k := range slices.Sorted(maps.Keys(env)) {
		all = append(all, k+"="+env[k])
	}
	return all
}

func tcpPort(number int) network.Port {
	port, _ := network.PortFrom(uint16(number), network.TCP)
	return port
}
