package apart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	stopWithin = 30 * time.Second // a process that has not stopped a step by then is killed
	endWithin  = 2 * time.Second  // the same for one that has nothing more to do
	lastLines  = 5                // lines of its standard error in the words about its end
)

// Process is the load's process of a run. It starts with the first step, and again after it was
// killed. It is safe for concurrent use.
type Process struct {
	Path string // the binary
	Name string // by which it is called

	mu      sync.Mutex
	current *child
	runs    map[uint64]*asked
	last    uint64 // number of the last run
}

// asked is a run that the process makes.
type asked struct {
	plan    load.Plan
	windows *record.Delivery
	parts   *record.Delivery
	before  time.Duration // CPU time of this process at the beginning of the interval
	cpu     time.Duration // in all slices so far
}

// child is a started process.
type child struct {
	*peer
	process *os.Process
	in      io.Closer
	gone    chan struct{} // closed after why is set
	why     string
}

// Run is load.Engine.Run. Connections are kept for the other steps of the trial.
func (p *Process) Run(
	ctx context.Context, trial string, engine bench.Engine, plan load.Plan, onWindow func(bench.Window),
) (bench.Load, error) {
	c, err := p.child()
	if err != nil {
		return bench.Load{}, err
	}
	r := &asked{plan: plan, windows: record.NewDelivery(onWindow), parts: record.NewDelivery(plan.OnPart)}
	p.mu.Lock()
	p.last++
	o := order{
		Run: p.last, Trial: trial, Engine: engine, Plan: plan, Interleaved: plan.Interleave != nil,
		Parts: plan.OnPart != nil,
	}
	if p.runs == nil {
		p.runs = map[uint64]*asked{}
	}
	p.runs[o.Run] = r
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.runs, o.Run)
	}()
	ended := make(chan struct{})
	var followed sync.WaitGroup
	followed.Go(func() { c.follow(ctx, o.Run, ended) })
	var out outcome
	err = c.call(callRun, o, &out)
	close(ended)
	followed.Wait()
	r.windows.Finish()
	r.parts.Finish()
	if err != nil {
		if errors.Is(err, errGone) {
			<-c.gone
			err = errors.New(c.why)
		}
		return bench.Load{}, fmt.Errorf("load step %q: %w", plan.Step.Name, cmp.Or(context.Cause(ctx), err))
	}
	out.Load.ClientCPU += r.cpu
	if plan.Life != nil && out.State != nil {
		plan.Life.Continue(out.State)
	}
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("load step %q: %w", plan.Step.Name, context.Cause(ctx))
	case out.Error != "":
		err = errors.New(out.Error)
	}
	return out.Load, err
}

// follow passes on the end of ctx.
func (c *child) follow(ctx context.Context, run uint64, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	c.tell(noticeStop, about{Run: run})
	late := time.NewTimer(stopWithin)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
		_ = c.process.Kill() // fails if it has ended
		<-ended
	}
}

// Rest closes the connections that are kept for a trial.
func (p *Process) Rest(trial string) {
	if p == nil {
		return
	}
	if c := p.started(); c != nil {
		_ = c.call(callRest, order{Trial: trial}, nil) // a process that is gone keeps none
	}
}

// Stalls watches for machine stalls in the process of the load.
type Stalls struct{ process *Process }

// WatchStalls starts to watch for machine stalls, if the process can be started.
func (p *Process) WatchStalls() Stalls {
	_, _ = p.child() // the step says why it cannot
	s := Stalls{p}
	s.Take()
	return s
}

// Take returns the stalls since the last call.
func (s Stalls) Take() (found bench.Hiccups) {
	if c := s.process.started(); c != nil {
		_ = c.call(callStalls, struct{}{}, &found) // a process that is gone has seen none
	}
	return found
}

// Stop does nothing: the watching ends with the process.
func (Stalls) Stop() {}

// Close ends the process.
func (p *Process) Close() {
	if p == nil {
		return
	}
	c := p.started()
	if c == nil {
		return
	}
	c.in.Close()
	late := time.NewTimer(endWithin)
	defer late.Stop()
	select {
	case <-c.gone:
	case <-late.C:
		_ = c.process.Kill()
		<-c.gone
	}
}

// started returns the process if it runs; nil if it does not.
func (p *Process) started() *child {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil {
		return nil
	}
	select {
	case <-p.current.gone:
		return nil
	default:
		return p.current
	}
}

// child returns the process, which it starts if none runs.
func (p *Process) child() (*child, error) {
	if c := p.started(); c != nil {
		return c, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, err := p.start()
	if err != nil {
		return nil, fmt.Errorf("start the load's process: %w", err)
	}
	p.current = c
	return c, nil
}

// start starts a process. It ends with this one: its standard input does, and on Linux the kernel
// kills it when the thread that has started it ends.
func (p *Process) start() (*child, error) {
	cmd := exec.Command(p.Path)
	cmd.Args = []string{p.Name, Command}
	// No signal interrupts the waits of its threads (see thread.Wait).
	cmd.Env = append(os.Environ(), "GODEBUG="+strings.TrimPrefix(os.Getenv("GODEBUG")+",asyncpreemptoff=1", ","))
	tail := &safe.Ring{Size: lastLines}
	lines := safe.NewLineWriter("stderr", time.Now, tail.Add)
	cmd.Stderr = lines
	separate(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &child{peer: newPeer(in), in: in, gone: make(chan struct{})}
	c.handle = p.handle
	begun := make(chan error)
	go func() {
		runtime.LockOSThread() // not unlocked: the kernel would kill the process with this thread
		if err := cmd.Start(); err != nil {
			begun <- err
			return
		}
		c.process = cmd.Process
		begun <- nil
		failed := c.read(out)
		if failed != nil {
			_ = cmd.Process.Kill()
		}
		ended := cmd.Wait()
		lines.Flush()
		c.why = death(ended, failed, tail)
		close(c.gone)
	}()
	if err := <-begun; err != nil {
		return nil, err
	}
	var h hello
	if err := c.call(callHello, hello{version}, &h); err != nil {
		<-c.gone
		return nil, errors.New(c.why)
	}
	if h.Version != version {
		_ = c.process.Kill()
		return nil, fmt.Errorf("it speaks version %d, this locbench %d: the binary was replaced during the run", h.Version, version)
	}
	return c, nil
}

// death returns how a process has ended, with what it said last.
func death(ended, failed error, tail *safe.Ring) string {
	text := "the load's process ended"
	switch {
	case failed != nil:
		text += ": " + failed.Error()
	case ended != nil:
		text += ": " + ended.Error()
	}
	for i, l := range tail.Lines() {
		text += []string{"; last lines: ", " | "}[min(i, 1)] + safe.Line(l.Text, 300)
	}
	return text
}

// handle does what the load's process calls.
func (p *Process) handle(call string, data []byte) (any, error) {
	switch call {
	case noticeWindow, noticePart:
		return given(data, func(a about) (any, error) {
			if r := p.run(a.Run); r != nil && call == noticeWindow {
				r.windows.Add(a.Window)
			} else if r != nil {
				r.parts.Add(a.Window)
			}
			return nil, nil
		})
	case callStart, callEnd:
		return given(data, func(a about) (any, error) {
			r := p.run(a.Run)
			switch {
			case r == nil:
			case call == callStart:
				hook(r.plan.OnStart)
				r.before = thread.ProcessCPU()
			default:
				r.cpu += thread.ProcessCPU() - r.before
				hook(r.plan.OnEnd)
			}
			return nil, nil
		})
	case callInterleave:
		return given(data, func(t turn) (any, error) {
			if r := p.run(t.Run); r != nil && r.plan.Interleave != nil {
				return take(r.plan.Interleave, t), nil
			}
			return t, nil
		})
	}
	return nil, fmt.Errorf("no call %q in version %d", call, version)
}

func hook(do func()) {
	if do != nil {
		do()
	}
}

func (p *Process) run(number uint64) *asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[number]
}
