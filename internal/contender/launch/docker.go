package launch

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/needs"
)

// Docker starts contenders in containers, all in one network of the run.
type Docker struct {
	Network docker.Network // the run's network

	engine *docker.Engine
	runID  string

	close    sync.Once
	closeErr error
}

// NewDocker makes the network of the run. Its containers reach each other only with storeInside,
// for a store among them. Close removes the network.
func NewDocker(ctx context.Context, engine *docker.Engine, runID string, storeInside bool) (*Docker, error) {
	network, err := engine.CreateNetwork(ctx, Labels(runID, "network"), !storeInside)
	if err != nil {
		return nil, err
	}
	return &Docker{Network: network, engine: engine, runID: runID}, nil
}

// Labels returns the labels of what a run has in the engine: run, name, and this locbench.
func Labels(runID, name string) map[string]string {
	return map[string]string{docker.LabelRun: runID, docker.LabelName: name, docker.LabelOwner: owner()}
}

// HostAddress returns the address (without port) at which containers of the run reach this machine,
// where an embedded store listens.
func (d *Docker) HostAddress() string {
	switch {
	case d.Network.OwnAddress != "":
		return d.Network.OwnAddress
	case d.Network.Local:
		return d.Network.Gateway
	}
	return "host.docker.internal"
}

// NamedHost returns what the name host.docker.internal leads to in containers of the run: the
// engine's machine, by its address in their own network. A firewall may refuse them any other one.
func (d *Docker) NamedHost() string {
	if d.Network.Direct() && d.Network.Gateway != "" {
		return d.Network.Gateway
	}
	return "host-gateway" // the engine knows it
}

// Warnings returns the engine's warnings about itself and the run's network.
func (d *Docker) Warnings() bench.Warnings {
	return slices.Concat(d.engine.Info().Warnings, d.Network.Warnings)
}

// Close removes the network, once, even if ctx was canceled.
func (d *Docker) Close(ctx context.Context) error {
	d.close.Do(func() { d.closeErr = WithCleanHint(d.engine.RemoveNetwork(ctx, d.Network.ID)) })
	return d.closeErr
}

// WithCleanHint adds to an error of a removal how to try again.
func WithCleanHint(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (\"locbench clean\" or --resume removes what is left)", err)
}

// Launch starts one contender in a container. After an error, also that of ctx, none is left.
func (d *Docker) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	info := d.engine.Info()
	cpus := spec.CPUs
	if len(cpus) == 0 {
		cpus = cpuset.UpTo(info.CPUs).First(spec.Limits.CPUSet)
	}
	limits := spec.Limits
	if limits.CPUs > float64(info.CPUs) && info.CPUs > 0 {
		limits.CPUs = float64(info.CPUs) // the engine refuses more; the effect is the same
	}
	if limits.PIDs == 0 && info.PIDsLimit {
		limits.PIDs = cmp.Or(spec.More.Processes, bench.DefaultProcesses)
	}
	c, warnings, err := d.engine.Run(ctx, docker.ContainerSpec{
		Name: spec.Name, Image: spec.Artifact.Image, Command: spec.Artifact.Command,
		Env: spec.Env, Labels: Labels(d.runID, spec.Name), Limits: limits, CPUs: cpus,
		Network: d.Network.Name, Port: spec.Port, Ready: spec.Ready, Publish: !d.Network.Direct(), Host: d.NamedHost(),
		Joins: spec.Joins, OnLog: spec.OnLog, OnIncident: spec.OnIncident, Hardened: &spec.More,
		ReadOnly: spec.Confined.ReadOnly, Tmpfs: tmpfs(spec.Confined.Tmpfs), ShmSize: spec.Confined.ShmSize, User: spec.Confined.User,
		StopSignal: spec.Signal,
	})
	if err != nil {
		return nil, err
	}
	i := &container{Container: c}
	missing, note := d.Unenforced(spec.Limits, cpus, warnings)
	i.info = bench.InstanceInfo{
		Runtime: bench.RuntimeDocker, ID: c.ID(), Image: spec.Artifact.Image, ImageID: c.ImageID(),
		ImageSize: spec.Artifact.ImageSize, Address: c.Address(), ReadyAddress: c.ReadyAddress(), StartedAt: c.StartedAt(), Limits: spec.Limits, CPUSet: cpus,
		LimitsEnforced: len(missing) == 0, LimitsNote: note, Privileges: spec.More, Confined: spec.Confined,
	}
	if i.info.PID = LocalPID(c); i.info.PID > 0 {
		// Without the files (rights, an unusual mount) the engine's slower counters are used.
		if i.reader, _ = (cgroup.Tree{}).Process(i.info.PID); i.reader != nil {
			i.reader.Follow(i.info.PID)
			// Not where the engine also works for our readings.
			i.engine = logProcesses(i.info.PID, d.engine.DaemonPID())
		}
	}
	return i, nil
}

func tmpfs(all []string) (out []needs.Tmpfs) {
	for _, text := range all {
		t := needs.TmpfsPath(text)
		out = append(out, needs.Tmpfs{Target: t.Path(), Options: t.Options()})
	}
	return out
}

// Unenforced returns the limits that the engine does not enforce for a container that it made with
// warnings, and a note with them and other warnings.
func (d *Docker) Unenforced(l bench.Limits, cpus cpuset.Set, warnings []string) (missing []string, note string) {
	info := d.engine.Info()
	if d.Network.Local && !cgroup.Swaps() {
		info.SwapLimit = true // nothing to limit
	}
	return engineNote(dockerMissing(info, l, cpus), warnings)
}

// LocalPID returns the number of c's main process on this machine; 0 if it runs elsewhere.
func LocalPID(c *docker.Container) int {
	if !isContainer(c.PID(), c.ID()) {
		return 0
	}
	return c.PID()
}

// isContainer reports whether the process with this number here is in the container. The engine may
// be in another PID namespace, where the number means another process.
func isContainer(pid int, id string) bool {
	if pid <= 0 || id == "" {
		return false
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	return err == nil && strings.Contains(string(data), id)
}

// dockerMissing returns the limits that the engine reports it cannot enforce.
func dockerMissing(info docker.Info, l bench.Limits, cpus cpuset.Set) (missing []string) {
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
func (c *container) AddPressure() {
	if c.reader != nil {
		c.reader.AddPressure()
	}
}

func (c *container) Stop(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	if c.Container.Exit() == nil && !c.stopping.Swap(true) {
		c.handles.Store(c.info.PID > 0 && handles(c.info.PID, c.StopSignal()))
	}
	r, err := c.Container.Stop(ctx, grace)
	err = WithCleanHint(err)
	r.Handled = c.handles.Load() && r.Killed && !r.Forced
	if exit := c.Exit(); exit != nil {
		r.Exit = *exit
	}
	if !c.stopped.Swap(true) && c.reader != nil {
		c.reader.Close()
	}
	return r, err
}
