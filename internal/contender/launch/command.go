package launch

import (
	"context"
	"os/exec"
	"runtime"

	"locbench/internal/bench"
	"locbench/internal/host/cgroup"
)

// Helper runs programs that locbench needs itself, such as those that build a contender, as
// contenders are run: in a session and, where the user may make one, their own cgroup, marked,
// and killed with locbench. Its zero value is ready for use.
type Helper struct {
	Run    string      // ID of the run that it is for; "": none
	Groups cgroup.Tree // where the cgroup goes
}

// Do starts cmd, which exec.Command has made, and waits for its end. When it returns nothing of it
// is left, also of what it has started. The error is that of the start or of the end, or why ctx has
// ended.
func (h Helper) Do(ctx context.Context, cmd *exec.Cmd) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cmd.Err != nil {
		return cmd.Err
	}
	box := newSandbox(h.Groups, bench.LaunchSpec{RunID: h.Run}, nil)
	cmd.Env = append(cmd.Environ(), envRun+"="+h.Run, envInstance+"="+box.id) // the last one of a name counts
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

// ownThread calls do in a thread that lives as long as do takes: the kernel kills what do starts
// when the thread that started it ends (Pdeathsig), which must mean the end of locbench and nothing
// else. It is the last thing that its goroutine does.
func ownThread(do func()) {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, whatever it was changed to
	if mainThread() {
		// The main thread stands for the whole process in /proc and cannot end alone. While it is
		// held here, another goroutine runs on another thread.
		defer runtime.UnlockOSThread()
		done := make(chan struct{})
		go func() { defer close(done); ownThread(do) }()
		<-done
		return
	}
	do()
}
