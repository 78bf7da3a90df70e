package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
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

	"locbench/internal/bench"
	"locbench/internal/cgroup"
	"locbench/internal/cpuset"
	"locbench/internal/safe"
)

const (
	killTimeout = 10 * time.Second       // from SIGKILL until the process must have ended
	drain       = 500 * time.Millisecond // for the rest of the log after the end; children may hold its pipe open longer
)

// Process starts contenders as processes of this machine: each in a session of its own, in a cgroup
// with the limits where the user may make one. Its zero value is ready for use.
type Process struct {
	// CPUs are those that contenders may run on; none: those of this process when it launches them.
	CPUs cpuset.Set
}

// Launch starts one contender, which is asked at 127.0.0.1:spec.Port and need not listen elsewhere.
// Its environment is spec.Env, what says where programs lie as here (inherited), and locbench's
// marks. When it fails, or ctx ends meanwhile, nothing of it is left.
func (l Process) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(spec.Artifact.Command) == 0 {
		return nil, fmt.Errorf("start %s: it has no command for the process runtime", spec.Name)
	}
	p := newProcess(newSandbox(cgroup.Tree{}, spec, l.CPUs), spec)
	if err := p.launch(ctx, spec); err != nil {
		return nil, err
	}
	return p, nil
}

func newProcess(box *sandbox, spec bench.LaunchSpec) *process {
	return &process{
		box: box, exited: make(chan struct{}), asked: make(chan struct{}), drained: make(chan struct{}),
		info: bench.InstanceInfo{
			Runtime: bench.RuntimeProcess, Address: "127.0.0.1:" + strconv.Itoa(spec.Port), Limits: spec.Limits,
		},
	}
}

func (p *process) launch(ctx context.Context, spec bench.LaunchSpec) error {
	cmd := exec.Command(spec.Artifact.Command[0], spec.Artifact.Command[1:]...)
	cmd.Dir = spec.Artifact.Dir
	cmd.Env = p.box.environ(spec)
	if err := p.start(cmd, spec.OnLog); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", cmd.Path, err), p.box.close())
	}
	if err := ctx.Err(); err != nil {
		_, stopErr := p.Stop(ctx, 0)
		return errors.Join(err, stopErr)
	}
	return nil
}

// process is a running process as an instance.
type process struct {
	box     *sandbox
	info    bench.InstanceInfo
	os      *os.Process
	logs    safe.Ring
	peak    peak
	pipes   []*os.File     // reading ends of stdout and stderr
	copied  sync.WaitGroup // the copying of the log
	drained chan struct{}  // closed when it is copied to its end
	waited  sync.WaitGroup // all other goroutines
	exited  chan struct{}
	asked   chan struct{} // closed when SIGKILL comes from here

	mu   sync.Mutex // of info.Address
	exit atomic.Pointer[bench.Exit]

	stop    sync.Once
	stopped bench.StopResult
	stopErr error
}

func (p *process) start(cmd *exec.Cmd, onLog func(bench.LogLine)) error {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	var one sync.Mutex // onLog is never called twice at a time
	for _, stream := range []string{"stdout", "stderr"} {
		r, w, err := os.Pipe()
		if err != nil {
			p.closePipes()
			return err
		}
		p.pipes, theirs = append(p.pipes, r), append(theirs, w)
		out := safe.NewLineWriter(stream, time.Now, func(l bench.LogLine) {
			one.Lock()
			defer one.Unlock()
			p.logs.Add(l)
			if onLog != nil {
				onLog(l)
			}
		})
		p.copied.Go(func() {
			io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{r}, make([]byte, 32<<10))
			out.Flush()
		})
	}
	cmd.Stdout, cmd.Stderr = theirs[0], theirs[1]
	p.waited.Go(func() { p.copied.Wait(); close(p.drained) })
	started := make(chan error)
	p.waited.Go(func() { ownThread(func() { p.run(cmd, started) }) })
	err := <-started
	if err != nil {
		p.closePipes()
		p.waited.Wait()
	}
	return err
}

// run starts the process and waits for its end, within ownThread.
func (p *process) run(cmd *exec.Cmd, started chan<- error) {
	if err := p.box.start(cmd); err != nil {
		started <- err
		return
	}
	p.os = cmd.Process
	p.info.PID, p.info.StartedAt = cmd.Process.Pid, time.Now()
	missing := p.box.missing
	p.box.follow(cmd.Process.Pid)
	p.info.LimitsEnforced, p.info.LimitsNote, p.info.CPUSet = len(missing) == 0, strings.Join(missing, "; "), p.box.cpus
	started <- nil
	_ = cmd.Wait() // the state tells more than the error
	exit := processExit(cmd.ProcessState)
	exit.At = time.Now()
	select {
	case <-p.asked:
	default:
		exit.OOMKilled = exit.Signal == "SIGKILL" && p.box.oomKilled()
	}
	select {
	case <-p.drained:
	case <-time.After(drain): // children hold the log open
	}
	p.exit.Store(&exit)
	close(p.exited)
}

func (p *process) closePipes() {
	for _, r := range p.pipes {
		r.Close()
	}
	p.copied.Wait()
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
			err = fmt.Errorf("the process has ended: %s", exit)
		}
		return u, err
	}
	p.peak.keep(&u)
	return u, nil
}

// Ailment says why a running process may not answer, as far as the kernel knows it.
func (p *process) Ailment(context.Context) string {
	if p.Exit() != nil {
		return ""
	}
	return processAilment(p.info.PID)
}

// Listens is where the process and its children listen; nil where that cannot be seen.
func (p *process) Listens() []netip.AddrPort {
	if p.Exit() != nil {
		return nil
	}
	return sessionListens(p.info.PID)
}

// Move says that it listens on another port than it was launched for.
func (p *process) Move(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.info.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// BeginPeak makes the step's high-water mark of memory begin anew.
func (p *process) BeginPeak() error { return p.box.beginPeak() }

// Stop sends SIGTERM, and SIGKILL after grace or as soon as bench.Forced says so. It signals the
// main process alone, as an engine does with a container; at the end whatever is left of it is
// killed.
func (p *process) Stop(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	p.stop.Do(func() {
		p.stopped, p.stopErr = p.terminate(ctx, grace)
		p.stopErr = errors.Join(p.stopErr, p.box.close())
		p.closePipes()
		if p.stopErr == nil {
			p.waited.Wait()
		}
	})
	return p.stopped, p.stopErr
}

func (p *process) terminate(ctx context.Context, grace time.Duration) (r bench.StopResult, err error) {
	select {
	case <-p.exited:
		return bench.StopResult{Already: true, Exit: *p.Exit()}, nil
	default:
	}
	asked := time.Now()
	if terminate(p.os) != nil {
		grace = 0 // an operating system without SIGTERM, or the process has ended just now
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-bench.Forced(ctx):
		r.Killed, r.Forced = true, true
	case <-timer.C:
		r.Killed = true
	}
	if r.Killed {
		close(p.asked)
		_ = p.os.Kill() // fails when it has ended meanwhile
		select {
		case <-p.exited:
		case <-time.After(killTimeout):
			return r, fmt.Errorf("process %d runs on %v after SIGKILL", p.info.PID, killTimeout)
		}
	}
	r.Exit = *p.Exit()
	r.Took = max(0, r.Exit.At.Sub(asked))
	r.Graceful = !r.Killed && r.Exit.Code == 0
	return r, nil
}

// environment is what a process gets: what says where programs lie, what the manifest says, and the
// marks. No variable that it has from here changes how a runtime works, as JAVA_TOOL_OPTIONS,
// NODE_OPTIONS or GOGC do.
func environment(spec bench.LaunchSpec, marks map[string]string) []string {
	env := map[string]string{}
	for _, k := range []string{
		"PATH", "HOME", "TMPDIR",
		"JAVA_HOME",                                 // start scripts look here before they look in PATH
		"DOTNET_ROOT",                               // where a program of .NET finds its runtime
		"SYSTEMROOT", "TEMP", "TMP", "LOCALAPPDATA", // without which Windows starts little
	} {
		if v, ok := os.LookupEnv(k); ok {
			env[k] = v
		}
	}
	maps.Copy(env, spec.Env)
	maps.Copy(env, marks)
	out := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}
