//go:build acceptance && timing && linux

package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
)

// TestLimitsApply checks the values in the results, not the settings of the engine.
func TestLimitsApply(t *testing.T) {
	testenv.Docker(t)
	const quota, tolerance = 0.5, 0.05
	services, profile := faulty(t, "spin", 0), small(t, "faulty", "docker")
	testenv.Judge(t, 6, 50*time.Millisecond, func(t testing.TB) error {
		dir := t.TempDir()
		code, _, stderr := locbench(t, dir, "run", "-p", profile, "--services", services, "--cpus", "0.5", "--rounds", "1", "--connections", "1", "--duration", "4s", "-o", "out")
		if code != 0 {
			return fmt.Errorf("exit code %d:\n%s", code, stderr)
		}
		run, trials := read(t, filepath.Join(dir, "out"))
		s := trials[0].Steps[0]
		cpu, _ := s.CPU()
		if cpus := cpu.Seconds() / s.After.At.Sub(s.Before.At).Seconds(); cpus < quota*(1-tolerance) || cpus > quota*(1+tolerance) {
			return fmt.Errorf("two spinners under a quota of %v used %.3f CPUs", quota, cpus)
		}
		if th, ok := s.Throttling(); !ok || th.Throttled == 0 || th.Time <= 0 {
			return fmt.Errorf("throttling %+v %v", th, ok)
		}
		if v := verdict.Trial(run.Machine.CPUs, trials[0])[0]; v.Bound != verdict.Quota {
			return fmt.Errorf("%s", v)
		}
		return nil
	})
}
