//go:build unix

package launch

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"locbench/internal/bench"
)

// terminate asks a process to end, and lets it go on if somebody has stopped it: it could not obey
// otherwise.
func terminate(p *os.Process) error {
	err := p.Signal(syscall.SIGTERM)
	if err == nil && processAilment(p.Pid) != "" {
		_ = p.Signal(syscall.SIGCONT)
	}
	return err
}

func processExit(s *os.ProcessState) bench.Exit {
	if s == nil {
		return bench.Exit{Code: -1}
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return bench.Exit{Code: 128 + int(w.Signal()), Signal: unix.SignalName(w.Signal())}
	}
	return bench.Exit{Code: s.ExitCode()}
}
