package launch

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/needs"
)

// Docker starts contenders in containers, all in one network of the run.
type Docker struct{ *docker.Group }

// NewDocker makes the network of the run. Its containers reach each other only with storeInside,
// for a store among them. Close removes the network.
func NewDocker(ctx context.Context, engine *docker.Engine, runID string, storeInside bool) (*Docker, error) {
	group, err := engine.NewGroup(ctx, runID, owner(), !storeInside)
	if err != nil {
		return nil, err
	}
	return &Docker{group}, nil
}

// Launch starts one contender in a container. After an error, also that of ctx, none is left.
func (d *Docker) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	cpus := spec.CPUs
	if len(cpus) == 0 {
		cpus = cpuset.UpTo(d.Info().CPUs).First(spec.Limits.CPUSet)
	}
	c, missing, note, err := d.Run(ctx, docker.ContainerSpec{
		Name: spec.Name, Image: spec.Artifact.Image, Command: spec.Artifact.Command, Env: spec.Env, Limits: spec.Limits, CPUs: cpus,
		Port: spec.Port, Ready: spec.Ready, Joins: spec.Joins, OnLog: spec.OnLog, OnIncident: spec.OnIncident, Hardened: &spec.More,
		ReadOnly: spec.Confined.ReadOnly, Tmpfs: tmpfs(spec.Confined.Tmpfs), ShmSize: spec.Confined.ShmSize, User: spec.Confined.User,
		StopSignal: spec.Signal,
	})
	if err != nil {
		return nil, err
	}
	i := &container{Container: c}
	i.info = bench.InstanceInfo{
		Runtime: bench.RuntimeDocker, ID: c.ID(), Image: spec.Artifact.Image, ImageID: c.ImageID(),
		ImageSize: spec.Artifact.ImageSize, Address: c.Address(), ReadyAddress: c.ReadyAddress(), StartedAt: c.StartedAt(), Limits: spec.Limits, CPUSet: cpus,
		LimitsEnforced: len(missing) == 0, LimitsNote: note, Privileges: spec.More, Confined: spec.Confined,
	}
	if i.info.PID = c.LocalPID(); i.info.PID > 0 {
		// Without the files (rights, an unusual mount) the engine's slower counters are used.
		if i.reader, _ = (cgroup.Tree{}).Process(i.info.PID); i.reader != nil {
			i.reader.Follow(i.info.PID)
			// Not where the engine also works for our readings.
			i.engine = logProcesses(i.info.PID, d.DaemonPID())
		}
	}
	return i, nil
}

func tmpfs(all []string) (out []docker.Tmpfs) {
	for _, text := range all {
		t := needs.TmpfsPath(text)
		out = append(out, docker.Tmpfs{Target: t.Path(), Options: t.Options()})
	}
	return out
}

// container is a docker.Container as an instance.
type container struct {
	*docker.Container
	info     bench.InstanceInfo
	reader   *cgroup.Reader // nil: the engine's counters are used
	engine   []int          // processes of the engine that pass its log on; nil: not known
	peak     peak
	kills    atomic.Bool // the kernel has killed a process for lack of memory
	stopping atomic.Bool // Stop was called while it ran
	handles  atomic.Bool // its main process had a handler of the stop signal then

	stopped atomic.Bool
}

// Exit returns how the container exited; nil while it runs. A busy engine may notice the exit and
// miss its reason: then an OOM kill in an earlier reading counts, as for a process.
func (c *container) Exit() *bench.Exit {
	exit := c.Container.Exit()
	if exit == nil || exit.OOMKilled || exit.Signal != "SIGKILL" || !c.kills.Load() || c.stopping.Load() {
		return exit
	}
	oom := *exit
	oom.OOMKilled = true
	return &oom
}

func (c *container) BaseURL() string          { return "http://" + c.info.Address }
func (c *container) Info() bench.InstanceInfo { return c.info }

func (c *container) Usage(ctx context.Context) (u bench.Usage, err error) {
	if c.stopped.Load() {
		return u, errStopped
	}
	if c.reader != nil {
		u, err = c.reader.Read()
	} else {
		u, err = c.Container.Usage(ctx)
	}
	if err != nil {
		if exit := c.Exit(); exit != nil {
			err = fmt.Errorf("container exited: %s", exit)
		}
		return u, err
	}
	u.Log = c.LogSize()
	u.Log.EngineCPU = ownCPU(c.engine)
	c.peak.keep(&u)
	if u.Memory != nil && u.Memory.OOMKills > 0 {
		c.kills.Store(true)
	}
	return u, nil
}

// EngineUsage reads the counters from the engine even where Usage reads files.
func (c *container) EngineUsage(ctx context.Context) (bench.Usage, error) {
	return c.Container.Usage(ctx)
}

// Gone reports whether the main process has exited, according to this machine's kernel. The engine
// may notice seconds later, but only it knows how.
func (c *container) Gone() bool { return c.info.PID > 0 && processGone(c.info.PID) }

// Diagnose returns why a running container may not respond; "" if engine and kernel do not know.
func (c *container) Diagnose(ctx context.Context) string {
	if c.Exit() != nil {
		return ""
	}
	if text := c.Container.Diagnose(ctx); text != "" || c.info.PID == 0 {
		return text
	}
	return processAilment(c.info.PID)
}

// Listens returns the addresses of its listening processes, in its network; nil if unknown.
func (c *container) Listens() []netip.AddrPort {
	if c.info.PID == 0 || c.Exit() != nil {
		return nil
	}
	return containerListens(c.info.PID, c.info.ID)
}

// BeginPeak resets the peak memory at the beginning of a step.
func (c *container) BeginPeak() error {
	if c.reader == nil {
		return errNoGroup
	}
	return c.reader.BeginPeak()
}

// AddPressure makes the kernel add up its waiting for disks.
func (c *container) AddPressure() bool { return c.reader != nil && c.reader.AddPressure() }

func (c *container) Stop(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	if c.Container.Exit() == nil && !c.stopping.Swap(true) {
		c.handles.Store(c.info.PID > 0 && handles(c.info.PID, c.StopSignal()))
	}
	r, err := c.Container.Stop(ctx, grace)
	r.Handled = c.handles.Load() && r.Killed && !r.Forced
	if exit := c.Exit(); exit != nil {
		r.Exit = *exit
	}
	if !c.stopped.Swap(true) && c.reader != nil {
		c.reader.Close()
	}
	return r, err
}
