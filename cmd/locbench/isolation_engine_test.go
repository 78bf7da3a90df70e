//go:build acceptance && engine && linux

package main

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench/cpuset"
)

// If the contender's quota leaves enough CPUs, contender and client are pinned to separate ones.
func TestRun_SeparateCPUs(t *testing.T) {
	if len(cpuset.Allowed()) < 2 || runtime.NumCPU() < 2 {
		t.Skip("one CPU: there is nothing to part")
	}
	runtimes(t, func(t *testing.T, kind string) {
		dir := t.TempDir()
		profile := profileFile(t, "contenders: [go-nethttp]\nruntime: "+kind+"\nlimits: {cpus: 0.5, memory: 64MiB}\n"+requestsOfCities+
			"compare_bodies: none\nchecks: {lifecycle: none, suites: []}\nstep_duration: 1s\nsteps: [2, {rate: 200}]\n")
		stdout, stderr := succeeds(t, dir, "run", "-p", profile, "--headless", "-o", "out")
		run, trials := read(t, filepath.Join(dir, "out"))
		i := run.Isolated
		if i == nil || !i.Separate || len(i.Contender) != 1 || len(i.Client) == 0 {
			t.Fatalf("%+v", i)
		}
		if slices.Contains(i.Client, i.Contender[0]) || len(i.Client)+1 != len(cpuset.Allowed()) {
			t.Errorf("contender on %q, client on %q", i.Contender, i.Client)
		}
		if in := trials[0].Instance; in == nil || !slices.Equal(in.CPUSet, i.Contender) {
			t.Errorf("the contender was given %+v", in)
		}
		for _, s := range trials[0].Steps {
			if s.Load.FailedTotal() > 0 || s.Load.Succeeded == 0 || s.Load.ClientCPUs > float64(len(i.Client)) {
				t.Errorf("%s: %d succeeded, %d failed, the client had %g CPUs", s.Step.Name, s.Load.Succeeded, s.Load.FailedTotal(), s.Load.ClientCPUs)
			}
		}
		if text := stdout + stderr; !strings.Contains(text, "contender on CPU "+i.Contender.String()) {
			t.Errorf("no word about the CPUs:\n%s", text)
		}
	})
}
