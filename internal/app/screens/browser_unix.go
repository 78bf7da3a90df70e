//go:build unix

package screens

import (
	"os/exec"
	"syscall"
)

// detach puts cmd in its own session: what ends our terminal does not end the browser.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
