//go:build acceptance && engine

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// One run has a contender under 0.5 and under 1 CPU, and records both limits.
func TestRun_TwoLimits(t *testing.T) {
	dir := t.TempDir()
	profile := "contenders: [go-nethttp, {go-nethttp: {cpus: 0.5, env: {GOGC: 50}, as: half}}]\n" +
		"limits: {cpus: 1, memory: 128MiB}\nrounds: 1\nruntime: docker\nstore: embedded\nchecks: {lifecycle: none, suites: []}\n" +
		"requests: [{path: '/city/v1/get?id={id}&language=en'}]\nsteps: [4 for 1s]\n"
	writeFile(t, filepath.Join(dir, "p.yaml"), profile)
	code, stdout, stderr := locbench(t, dir, "run", "--profile", "p.yaml", "--headless", "--out", "out")
	if code != 0 || !strings.Contains(stdout, "go-nethttp:half under 0.5 CPUs, go-nethttp under 1 CPU") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	_, trials := readClean(t, filepath.Join(dir, "out"))
	want := map[string]bench.Limits{
		"go-nethttp": {CPUs: 1, Memory: 128 << 20}, "go-nethttp:half": {CPUs: .5, Memory: 128 << 20},
	}
	for _, trial := range trials {
		if got := trial.Instance.Limits; got != want[trial.Trial.Label()] {
			t.Errorf("%s ran under %+v", trial.Trial.Label(), got)
		}
		delete(want, trial.Trial.Label())
	}
	if len(want) > 0 {
		t.Errorf("no trial of %v", want)
	}
}
