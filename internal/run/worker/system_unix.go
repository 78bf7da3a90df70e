//go:build unix

package worker

import (
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// OwnSession puts cmd into its own session, so Ctrl-Z, Ctrl-C and the end of the terminal reach
// only the screen.
func OwnSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// redirect makes f another name of to.
func redirect(f, to *os.File) { _ = unix.Dup2(int(to.Fd()), int(f.Fd())) }

func kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// wakeable returns r as in; wake ends all its Reads, now and later, and reports whether it could.
func wakeable(r io.Reader) (in io.Reader, wake func() bool) {
	f, ok := r.(*os.File)
	if !ok {
		return r, closer(r)
	}
	st, err := f.Stat()
	if err != nil || st.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return r, func() bool { return true } // a file or /dev/null: Read never waits
	}
	// Closing a copy that the runtime polls ends its Read; a Read of standard input cannot be
	// woken.
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return r, func() bool { return false }
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return r, func() bool { return false }
	}
	polled := os.NewFile(uintptr(fd), f.Name())
	return polled, closer(polled)
}
