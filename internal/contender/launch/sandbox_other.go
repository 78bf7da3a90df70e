//go:build !linux

package launch

import (
	"errors"
	"net/netip"
	"os/exec"

	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
	"locbench/internal/host/cgroup"
)

// sandbox is little here: limits and counters of processes are Linux's.
type sandbox struct {
	id      string // of the instance
	cpus    cpuset.Set
	missing []string
	job     job
}

func newSandbox(_ cgroup.Tree, spec bench.LaunchSpec, _ cpuset.Set) *sandbox {
	s := &sandbox{id: newInstanceID()}
	if spec.Limits != (bench.Limits{}) {
		s.missing = []string{"all of them: the process runtime has limits on Linux only; use the Docker runtime"}
	}
	return s
}

func (s *sandbox) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	s.job = newJob(cmd.Process.Pid)
	return nil
}

func (s *sandbox) usage(int) (bench.Usage, error) {
	return bench.Usage{}, errors.New("counters of processes are read on Linux only")
}

func (s *sandbox) follow(int)       {}
func (s *sandbox) beginPeak() error { return errNoGroup }
func (s *sandbox) oomKilled() bool  { return false }

// close kills what is left of the process and its descendants.
func (s *sandbox) close() error { return s.job.end(s.id) }

func mainThread() bool { return false } // it matters on Linux only

func processGone(int) bool                          { return false }
func processAilment(int) string                     { return "" }
func sessionListens(int) []netip.AddrPort           { return nil }
func containerListens(int, string) []netip.AddrPort { return nil }
