package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/text/safe"
)

const drain = 500 * time.Millisecond // for the rest of the log after the exit, since children may hold its pipe open

// Process starts contenders as processes of this machine, each in its own session and, if the user
// may make one, in a cgroup with the limits. Its zero value is ready for use.
type Process struct {
	// CPUs are the CPUs that contenders may run on; empty: those of this process at the launch.
	CPUs cpuset.Set
}

// Launch starts one contender, which gets its requests at 127.0.0.1:spec.Port. Its environment is
// spec.Env, the inherited variables with paths of programs, and locbench's marks. Its working
// directory and TMPDIR are new, in spec.Folder, as a container's file system is. After an error,
// also that of ctx, nothing of it is left.
func (l Process) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(spec.Artifact.Command) == 0 {
		return nil, fmt.Errorf("start %s: no command for the process runtime", spec.Name)
	}
	p := newProcess(newSandbox(cgroup.Tree{}, spec, l.CPUs), spec)
	if err := p.launch(ctx, spec); err != nil {
		return nil, err
	}
	return p, nil
}

func newProcess(box *sandbox, spec bench.LaunchSpec) *process {
	return &process{
		box: box, folder: spec.Folder, signal: bench.SignalName(bench.SignalNumber(cmp.Or(spec.Signal, "SIGTERM"))), exited: make(chan struct{}), killed: make(chan struct{}),
		info: bench.InstanceInfo{
			Runtime: bench.RuntimeProcess, Address: "127.0.0.1:" + strconv.Itoa(spec.Port), Limits: spec.Limits,
		},
	}
}

// process is a running process as an instance.
type process struct {
	box    *sandbox
	folder string
	signal string // that stops it
	info   bench.InstanceInfo
	os     *os.Process
	logs   safe.Ring
	log    safe.LogSize
	peak   peak
	waited sync.WaitGroup // waits for run
	exited chan struct{}
	killed chan struct{} // closed when locbench sends SIGKILL

	mu   sync.Mutex // guards info.Address
	exit atomic.Pointer[bench.Exit]

	stop    sync.Once
	stopped bench.StopResult
	stopErr error
}

func (p *process) launch(ctx context.Context, spec bench.LaunchSpec) error {
	if err := makeFolder(spec, p.box.id); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", spec.Name, err), p.box.close())
	}
	cmd := exec.Command(spec.Artifact.Command[0], spec.Artifact.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = spec.Dir(), environment(spec, p.box.id), drain
	var one sync.Mutex // OnLog is not called concurrently
	log := func(l bench.LogLine) {
		one.Lock()
		defer one.Unlock()
		p.logs.Add(l)
		if spec.OnLog != nil {
			spec.OnLog(l)
		}
	}
	stdout, stderr := safe.NewLineWriter("stdout", time.Now, log), safe.NewLineWriter("stderr", time.Now, log)
	cmd.Stdout, cmd.Stderr = p.log.Of(stdout), p.log.Of(stderr)
	started := make(chan error)
	p.waited.Go(func() {
		ownThread(func() {
			if p.run(cmd, started) {
				stdout.Flush()
				stderr.Flush()
				close(p.exited)
			}
		})
	})
	if err := <-started; err != nil {
		p.waited.Wait()
		return errors.Join(fmt.Errorf("start %s: %w", cmd.Path, err), p.box.close(), removeFolder(p.folder))
	}
	if err := ctx.Err(); err != nil {
		_, stopErr := p.Stop(ctx, 0)
		return errors.Join(err, stopErr)
	}
	return nil
}

// run starts the process and waits for its exit and its output, within ownThread.
func (p *process) run(cmd *exec.Cmd, started chan<- error) (ok bool) {
	if err := p.box.start(cmd); err != nil {
		started <- err
		return false
	}
	p.os = cmd.Process
	p.info.PID, p.info.StartedAt = cmd.Process.Pid, time.Now()
	missing := p.box.missing
	p.box.follow(cmd.Process.Pid)
	p.info.LimitsEnforced, p.info.LimitsNote, p.info.CPUSet = len(missing) == 0, strings.Join(missing, "; "), p.box.cpus
	started <- nil
	state, _ := cmd.Process.Wait() // before cmd.Wait, which waits for children that hold the log open
	exit := processExit(state)
	exit.At = time.Now()
	select {
	case <-p.killed:
	default:
		exit.OOMKilled = exit.Signal == "SIGKILL" && p.box.oomKilled()
	}
	_ = cmd.Wait() // waits for the log
	p.exit.Store(&exit)
	return true
}

func (p *process) BaseURL() string         { return "http://" + p.Info().Address }
func (p *process) Exited() <-chan struct{} { return p.exited }
func (p *process) Logs() []bench.LogLine   { return p.logs.Lines() }
func (p *process) Info() bench.InstanceInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.info
}
func (p *process) Exit() *bench.Exit { return p.exit.Load() }

func (p *process) Usage(context.Context) (bench.Usage, error) {
	u, err := p.box.usage(p.info.PID)
	if err != nil {
		if exit := p.Exit(); exit != nil {
			err = fmt.Errorf("process exited: %s", exit)
		}
		return u, err
	}
	u.Log = p.log.Log()
	p.peak.keep(&u)
	return u, nil
}

// Diagnose returns the kernel's reason why a running process may not respond; "" if it has none.
func (p *process) Diagnose(context.Context) string {
	if p.Exit() != nil {
		return ""
	}
	return processAilment(p.info.PID)
}

// Listens returns the addresses on which the process and its children listen; nil if unknown.
func (p *process) Listens() []netip.AddrPort {
	if p.Exit() != nil {
		return nil
	}
	return sessionListens(p.info.PID)
}

// Move sets the port, if the process listens on another one than the one it was launched with.
func (p *process) Move(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.info.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// BeginPeak resets the peak memory at the beginning of a step.
func (p *process) BeginPeak() error { return p.box.beginPeak() }

// AddPressure makes the kernel add up its waiting for disks.
func (p *process) AddPressure() bool { return p.box.addPressure() }

// Stop sends the stop signal, then SIGKILL after grace or as soon as bench.Forced says so. It signals only
// the main process, as an engine does with a container, and at the end kills what is left.
func (p *process) Stop(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	p.stop.Do(func() {
		p.stopped, p.stopErr = p.terminate(ctx, grace)
		p.stopErr = errors.Join(p.stopErr, p.box.close(), removeFolder(p.folder))
		if p.stopErr == nil {
			p.waited.Wait()
		}
	})
	return p.stopped, p.stopErr
}

func (p *process) terminate(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	ask := func() error { return terminate(p.os, p.signal) }
	kill := func() error {
		close(p.killed)
		_ = p.os.Kill() // fails if it has exited
		return nil
	}
	handles := handles(p.info.PID, p.signal)
	r, err := bench.Stopping{Exited: p.exited, Exit: p.Exit, Ask: ask, Kill: kill}.Terminate(ctx, grace)
	r = r.By(p.signal)
	r.Handled = handles && r.Killed && !r.Forced
	if err != nil {
		err = fmt.Errorf("process %d: %w", p.info.PID, err)
	}
	return r, err
}

// environment returns the environment of a process: paths of programs, the manifest's variables and
// the marks. It inherits no variable that changes how a language runtime works, such as
// JAVA_TOOL_OPTIONS, NODE_OPTIONS or GOGC.
func environment(spec bench.LaunchSpec, instance string) []string {
	env := map[string]string{}
	for _, k := range []string{
		"PATH", "HOME", "TMPDIR",
		"JAVA_HOME",   // start scripts look here before PATH
		"DOTNET_ROOT", // the runtime of .NET programs
	} {
		if v, ok := os.LookupEnv(k); ok {
			env[k] = v
		}
	}
	if spec.Folder != "" {
		env["TMPDIR"] = tmp(spec.Folder)
	}
	maps.Copy(env, spec.Env)
	env[envRun], env[envInstance] = spec.RunID, instance
	out := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}
