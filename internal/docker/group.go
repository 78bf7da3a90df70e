package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/text/safe"
)

// Group is what a run has in an engine: containers in a network, and volumes.
type Group struct {
	*Engine
	Network Network

	id, owner string // of the run
	of        *Group // the first one of the run, which has what all share; nil: this one
	given     given

	close    sync.Once
	closeErr error
}

// NewGroup makes a network for a run of this locbench, its owner. With apart its containers do not
// reach each other. Close removes the network.
func (e *Engine) NewGroup(ctx context.Context, run, owner string, apart bool) (*Group, error) {
	g := &Group{Engine: e, id: run, owner: owner}
	var err error
	g.Network, err = e.CreateNetwork(ctx, g.labels("network"), apart)
	return g, err
}

// Another makes a group of the same run with its own network, in which containers have the same
// names as those of other groups.
func (g *Group) Another(ctx context.Context, name string) (*Group, error) {
	another := &Group{Engine: g.Engine, id: g.id, owner: g.owner, of: cmp.Or(g.of, g)}
	var err error
	another.Network, err = g.CreateNetwork(ctx, g.labels(name), false)
	return another, err
}

// labels returns the labels of what the run has in the engine.
func (g *Group) labels(name string) map[string]string {
	return map[string]string{LabelRun: g.id, LabelName: name, LabelOwner: g.owner}
}

// Close removes the network and the copies of this machine's folders, once, even if ctx was canceled. It
// leaves the engine open.
func (g *Group) Close(ctx context.Context) error {
	g.close.Do(func() {
		errs := []error{g.RemoveNetwork(ctx, g.Network.ID)}
		for _, volume := range g.given.volumes {
			errs = append(errs, g.removeVolume(ctx, volume))
		}
		g.closeErr = WithCleanHint(errors.Join(errs...))
	})
	return g.closeErr
}

// WithCleanHint adds to an error of a removal how to try again.
func WithCleanHint(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (\"locbench clean\" or --resume removes what is left)", err)
}

// HostAddress returns the address (without port) at which containers of the run reach this machine,
// where an embedded store listens.
func (g *Group) HostAddress() string {
	switch {
	case g.Network.OwnAddress != "":
		return g.Network.OwnAddress
	case g.Network.Local:
		return g.Network.Gateway
	}
	return "host.docker.internal"
}

// NamedHost returns what the name host.docker.internal leads to in containers of the run: the
// engine's machine, by its address in their own network. A firewall may refuse them any other one.
func (g *Group) NamedHost() string {
	if g.Network.Direct() && g.Network.Gateway != "" {
		return g.Network.Gateway
	}
	return "host-gateway" // the engine knows it
}

// Warnings returns the engine's warnings about itself and the network.
func (g *Group) Warnings() bench.Warnings {
	return slices.Concat(g.info.Warnings, g.Network.Warnings)
}

// Run starts a container in the network. After an error, also that of ctx, none is left. It returns
// the limits that the engine does not enforce, and a note with them and other warnings.
func (g *Group) Run(ctx context.Context, spec ContainerSpec) (c *Container, missing []string, note string, err error) {
	spec.in = place{g.labels(spec.Name), g.Network.Name, !g.Network.Direct(), g.NamedHost()}
	asked := spec.Limits
	if g.info.CPUs > 0 {
		spec.Limits.CPUs = min(spec.Limits.CPUs, float64(g.info.CPUs)) // the engine refuses more; the effect is the same
	}
	if spec.Limits.PIDs == 0 && g.info.PIDsLimit {
		spec.Limits.PIDs = bench.DefaultProcesses
		if spec.Hardened != nil {
			spec.Limits.PIDs = cmp.Or(spec.Hardened.Processes, spec.Limits.PIDs)
		}
	}
	if spec.Hostname != "" && !slices.Contains(spec.Aliases, spec.Hostname) {
		spec.Aliases = append(slices.Clone(spec.Aliases), spec.Hostname)
	}
	if spec.Mounts, err = g.withFolders(ctx, spec); err != nil {
		return nil, nil, "", err
	}
	cpus := spec.CPUs
	if g.info.Podman && !g.info.CPUSet {
		spec.CPUs = nil // Docker leaves it out with a warning; Podman starts no such container
	}
	c, warnings, err := g.run(ctx, spec)
	if err != nil {
		return nil, nil, "", err
	}
	info := g.info
	if pid := c.LocalPID(); pid > 0 && info.CgroupVersion == 2 && (info.Podman || info.Rootless) {
		l, swaps := (cgroup.Tree{}).Limits(strconv.Itoa(pid))
		info.seen(l, swaps, spec.Limits)
	}
	if g.Network.Local && !cgroup.Swaps() {
		info.SwapLimit = true // nothing to limit
	}
	missing, note = engineNote(info.missing(asked, cpus), warnings)
	return c, missing, note, nil
}

// missing returns the limits that the engine reports it cannot enforce.
func (info Info) missing(l bench.Limits, cpus cpuset.Set) (missing []string) {
	add := func(limited, can bool, name string) {
		if limited && !can {
			missing = append(missing, name+": unsupported by the engine's kernel or rights")
		}
	}
	add(l.CPUs > 0, info.CPUQuota, "CPU quota")
	add(len(cpus) > 0, info.CPUSet, "CPU set")
	add(l.Memory > 0, info.MemoryLimit, "memory")
	add(l.Memory > 0, info.SwapLimit, "no swap")
	add(l.PIDs > 0, info.PIDsLimit, "processes")
	return missing
}

// engineNote adds to missing the limits about which the engine warned when it made a container, and
// returns a note with all of them and its other warnings. The engine's warnings are only words.
func engineNote(missing, warnings []string) (all []string, note string) {
	var others []string
	for _, w := range warnings {
		switch low := strings.ToLower(w); {
		case strings.Contains(low, "swap limit"): // already in missing, if it matters
		case strings.Contains(low, "your kernel does not support"), strings.Contains(low, "discarded"):
			missing = append(missing, w)
		default:
			others = append(others, "the Docker engine warns: "+w)
		}
	}
	if len(missing) > 0 {
		others = slices.Insert(others, 0, strings.Join(missing, "; "))
	}
	return missing, strings.Join(others, "; ")
}

// LocalPID returns the number of the main process on this machine; 0 if it runs elsewhere.
func (c *Container) LocalPID() int {
	if !InContainer(c.pid, c.id) {
		return 0
	}
	return c.pid
}

// InContainer reports whether the process with this number here is in the container. The engine may
// be in another PID namespace, where the number means another process.
func InContainer(pid int, id string) bool {
	if pid <= 0 || id == "" {
		return false
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	return err == nil && strings.Contains(string(data), id)
}

// Image describes an image, which it pulls if the engine does not have it.
func (g *Group) Image(ctx context.Context, ref string, progress func(bench.Progress)) (Image, error) {
	image, err := g.ImageInspect(ctx, ref)
	if !errors.Is(err, ErrNotFound) {
		return image, err
	}
	out, done := safe.EachLine(func(line string) {
		if progress != nil {
			progress(bench.Progress{Text: "pulling " + ref + ": " + line})
		}
	})
	err = g.Pull(ctx, ref, out)
	done()
	if err != nil {
		return Image{}, err
	}
	return g.ImageInspect(ctx, ref)
}
