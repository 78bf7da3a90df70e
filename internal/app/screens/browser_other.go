//go:build !unix

package screens

import "os/exec"

// detach does nothing: this system has no sessions.
func detach(*exec.Cmd) {}
