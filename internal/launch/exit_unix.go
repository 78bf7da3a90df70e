//go:build unix

package launch

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"locbench/internal/bench"
)

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

func processExit(s *os.ProcessState) bench.Exit {
	if s == nil {
		return bench.Exit{Code: -1}
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return bench.Exit{Code: 128 + int(w.Signal()), Signal: unix.SignalName(w.Signal())}
	}
	return bench.Exit{Code: s.ExitCode()}
}
