//go:build !unix

package launch

import (
	"errors"
	"os"

	"locbench/internal/bench"
)

func terminate(*os.Process) error { return errors.ErrUnsupported }

func processExit(s *os.ProcessState) bench.Exit {
	if s == nil {
		return bench.Exit{Code: -1}
	}
	return bench.Exit{Code: s.ExitCode()}
}
