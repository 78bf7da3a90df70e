//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package contender

import (
	"context"
	"io"
	"os/exec"
)

// ownGroup has nothing to do: there are no process groups here, and cancelling ends the command
// alone.
func ownGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}

// lock does not keep two builds apart here.
func lock(context.Context, string, io.Writer) (unlock func(), err error) { return func() {}, nil }
