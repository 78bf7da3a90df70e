//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts cmd into a process group of its own: Ctrl-Z and Ctrl-C are for the screen alone.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends p and all of its group at once.
func kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}
