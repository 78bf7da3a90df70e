//go:build unix

package screens

import (
	"os/exec"
	"syscall"
)

// detach puts cmd in its own session, so the end of this terminal does not end the browser.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
