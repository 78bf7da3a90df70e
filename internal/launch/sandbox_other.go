//go:build !linux

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"locbench/internal/bench"
)

// sandbox is nothing here: limits, counters and the finding of left processes are Linux's.
type sandbox struct {
	cpus    string
	missing []string
}

func newSandbox(spec bench.LaunchSpec, _ ...int) *sandbox {
	s := &sandbox{}
	if spec.Limits != (bench.Limits{}) {
		s.missing = []string{"all of them: the process runtime has limits on Linux only; use the Docker runtime"}
	}
	return s
}

func (s *sandbox) environ(spec bench.LaunchSpec) []string {
	return environment(spec, map[string]string{envRun: spec.RunID, envOwner: owner(), envInstance: "1"})
}

func (s *sandbox) start(cmd *exec.Cmd) error { return cmd.Start() }

func (s *sandbox) usage(int) (bench.Usage, error) {
	return bench.Usage{}, errors.New("counters of processes are read on Linux only")
}

func (s *sandbox) follow(int)       {}
func (s *sandbox) beginPeak() error { return errNoGroup }
func (s *sandbox) oomKilled() bool  { return false }
func (s *sandbox) close() error     { return nil }

func owner() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%d.0@%s", os.Getpid(), host)
}

// alive takes every owner for living: here it cannot be told, and a run that lives must not be cleaned away. CleanOptions.All does it.
func alive(string) bool { return true }

func cleanProcesses(string, func(string) bool) ([]string, error) { return nil, nil }

func mainThread() bool { return false } // it matters on Linux only
