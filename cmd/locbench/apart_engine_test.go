//go:build acceptance && engine && linux

package main

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"locbench/internal/cpuset"
)

// Where the contender's quota leaves as many CPUs as it takes, it and the client get some of their
// own.
func TestRunOnCPUsOfTheirOwn(t *testing.T) {
	if len(cpuset.Allowed()) < 2 || runtime.NumCPU() < 2 {
		t.Skip("one CPU: there is nothing to part")
	}
	runtimes(t, func(t *testing.T, kind string) {
		dir := t.TempDir()
		profile := profileFile(t, "contenders: [go-nethttp]\nruntime: "+kind+"\nlimits: {cpus: 0.5, memory: 64MiB}\n"+requestsOfCities+
			"validate: none\nchecks: {lifecycle: none, suites: []}\nstep_duration: 1s\nsteps: [2, {rate: 200}]\n")
		code, stdout, stderr := locbench(t, dir, "run", "-p", profile, "--headless", "-o", "out")
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		run, legs := read(t, filepath.Join(dir, "out"))
		i := run.Isolated
		if i == nil || !i.Separate || i.Contender == "" || i.Client == "" {
			t.Fatalf("%+v", i)
		}
		contender, ok1 := cpuset.Parse(i.Contender)
		client, ok2 := cpuset.Parse(i.Client)
		if !ok1 || !ok2 || len(contender) != 1 || strings.Contains(i.Client, i.Contender) || len(client)+1 != len(cpuset.Allowed()) {
			t.Errorf("contender on %q, client on %q", i.Contender, i.Client)
		}
		if in := legs[0].Instance; in == nil || in.CPUSet != i.Contender {
			t.Errorf("the contender was given %+v", in)
		}
		for _, s := range legs[0].Steps {
			if s.Load.FailedTotal() > 0 || s.Load.Succeeded == 0 || s.Load.ClientCPUs > float64(len(client)) {
				t.Errorf("%s: %d succeeded, %d failed, the client had %g CPUs", s.Step.Name, s.Load.Succeeded, s.Load.FailedTotal(), s.Load.ClientCPUs)
			}
		}
		if text := stdout + stderr; !strings.Contains(text, "contender on CPU "+i.Contender) {
			t.Errorf("nobody hears of it:\n%s", text)
		}
	})
}
