package apart

import (
	"os/exec"
	"syscall"
)

// separate keeps Ctrl-C in a terminal from the process: this one stops it.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
