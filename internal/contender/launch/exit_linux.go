package launch

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
)

// terminate sends a signal to a process, and SIGCONT if it is stopped, since it could not exit
// otherwise. It ignores errors: a process that gets no signal is killed later.
func terminate(p *os.Process, name string) error {
	signal := unix.SignalNum(name) // by its name: numbers differ between systems
	if signal == 0 {
		signal = syscall.Signal(bench.SignalNumber(name))
	}
	if p.Signal(signal) == nil && processAilment(p.Pid) != "" {
		_ = p.Signal(syscall.SIGCONT)
	}
	return nil
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

// ownGroup puts cmd into its own process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills what is left of cmd's process group.
func killGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails if nothing is left, which is the normal case
}
