//go:build !unix

package launch

import (
	"errors"
	"os"
	"os/exec"

	"github.com/locbench/locbench/internal/bench"
)

func terminate(*os.Process, string) error { return errors.ErrUnsupported }

func processExit(s *os.ProcessState) bench.Exit {
	if s == nil {
		return bench.Exit{Code: -1}
	}
	return bench.Exit{Code: s.ExitCode()}
}

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// killGroup kills only the command; its job ends the rest.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
