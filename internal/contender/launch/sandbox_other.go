//go:build !linux

package launch

import (
	"errors"
	"net/netip"
	"os/exec"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/host/cgroup"
)

// sandbox has only marks and a job: limits and counters of processes need Linux.
type sandbox struct {
	id      string // the instance's ID
	cpus    cpuset.Set
	missing []string
	job     job
}

func newSandbox(_ cgroup.Tree, spec bench.LaunchSpec, _ cpuset.Set) *sandbox {
	s := &sandbox{id: newInstanceID()}
	if spec.Limits != (bench.Limits{}) {
		s.missing = []string{"all: the process runtime enforces limits only on Linux; use --runtime docker"}
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
	return bench.Usage{}, errors.New("counters of processes need Linux")
}

func (s *sandbox) follow(int)       {}
func (s *sandbox) beginPeak() error { return errNoGroup }

func (s *sandbox) addPressure()    {}
func (s *sandbox) oomKilled() bool { return false }

// close kills what is left of the process and its descendants.
func (s *sandbox) close() error { return s.job.end(s.id) }

func mainThread() bool { return false } // used only on Linux

func processGone(int) bool                          { return false }
func processAilment(int) string                     { return "" }
func logProcesses(int, int) []int                   { return nil }
func ownCPU([]int) *time.Duration                   { return nil }
func handles(int, string) bool                      { return false }
func sessionListens(int) []netip.AddrPort           { return nil }
func containerListens(int, string) []netip.AddrPort { return nil }
