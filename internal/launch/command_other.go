//go:build !unix

package launch

import "os/exec"

// ownGroup has nothing to do: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// killGroup kills the command itself; its job has the rest.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
