package launch

import (
	"context"
	"os/exec"
	"runtime"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
)

// Helper runs programs for locbench, such as builds, like contenders: in a session and, if the user
// may make one, a cgroup, marked, and killed with locbench. Its zero value is ready for use.
type Helper struct {
	Run    string      // ID of the run; "": none
	Groups cgroup.Tree // where the cgroup goes
}

// Do starts cmd, which exec.Command has made, and waits until it exits. When Do returns, neither
// cmd nor its children are left. The error is that of the start or the exit, or why ctx ended.
func (h Helper) Do(ctx context.Context, cmd *exec.Cmd) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cmd.Err != nil {
		return cmd.Err
	}
	box := newSandbox(h.Groups, bench.LaunchSpec{RunID: h.Run}, nil)
	cmd.Env = append(cmd.Environ(), envRun+"="+h.Run, envInstance+"="+box.id) // the last entry of a name counts
	ownGroup(cmd)
	started, ended := make(chan error, 1), make(chan error, 1)
	go ownThread(func() {
		err := box.start(cmd)
		if err == nil {
			box.follow(cmd.Process.Pid)
		}
		if started <- err; err == nil {
			ended <- cmd.Wait()
		}
	})
	if err := <-started; err != nil {
		_ = box.close() // nothing runs in it
		return err
	}
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		killGroup(cmd)
		<-ended
		err = context.Cause(ctx)
	}
	killGroup(cmd)
	if e := box.close(); err == nil {
		err = e
	}
	return err
}

// ownThread calls do in a thread that exists until do returns. The kernel kills what do starts when
// its thread ends (Pdeathsig), which must mean the end of locbench. It is its goroutine's last
// call.
func ownThread(do func()) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine, with all changes to it
	if mainThread() {
		// The main thread stands for the whole process in /proc and cannot end alone. While this
		// goroutine holds it, another one runs on another thread.
		defer runtime.UnlockOSThread()
		done := make(chan struct{})
		go func() { defer close(done); ownThread(do) }()
		<-done
		return
	}
	do()
}
