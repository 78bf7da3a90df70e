//go:build !unix

package worker

import (
	"io"
	"os"
	"os/exec"
)

// OwnSession does nothing: this system has no sessions.
func OwnSession(*exec.Cmd) {}

func redirect(*os.File, *os.File) {}

func kill(p *os.Process) { _ = p.Kill() }

// wakeable returns r as in; wake ends all its Reads, now and later, and reports whether it could.
func wakeable(r io.Reader) (in io.Reader, wake func() bool) {
	if _, ok := r.(*os.File); ok {
		return r, func() bool { return false }
	}
	return r, closer(r)
}
