//go:build acceptance && engine && linux

package main

import (
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// listening creates a folder with a contender that listens on port 18080, whatever its manifest
// says. The pairs in edit change the manifest.
func listening(t *testing.T, edit ...string) (services string) {
	t.Helper()
	services = faulty(t, "none", 0)
	editFile(t, filepath.Join(services, "service.yaml"), edit...)
	return services
}

// TestProcessPort is about processes that do not listen at the expected address. It runs alone:
// other tests might be given its port.
func TestProcessPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	profile := profileFile(t, "contenders: [faulty]\nrounds: 2\nruntime: process\nisolation: off\nstore: none\nrequests: [{path: /}]\ncompare_bodies: none\nchecks: {lifecycle: none, suites: []}\nsteps: [1 for 300ms]\n")
	run := func(t *testing.T, want int, services string, more ...string) ([]bench.TrialResult, string) {
		t.Helper()
		dir := t.TempDir()
		code, _, stderr := locbench(t, dir, append([]string{"run", "-p", profile, "--services", services, "-o", "out"}, more...)...)
		if code != want {
			t.Fatalf("exit code %d, want %d:\n%s", code, want, stderr)
		}
		_, trials := read(t, filepath.Join(dir, "out"))
		return trials, stderr
	}
	own, manifest := []string{`"{{.Port}}"`, `"` + port + `"`}, []string{"port: 8080", "port: " + port}

	t.Run("the manifest names it and gives none", func(t *testing.T) {
		trials, stderr := run(t, 0, listening(t, append(own, manifest...)...))
		trial := trials[1]
		// Its start-up is known only if the right port was polled from the start.
		if trial.Instance.Address != "127.0.0.1:"+port || trial.StartUp == nil || len(trial.Warnings) > 0 {
			t.Errorf("at %s after %v, warnings %q\n%s", trial.Instance.Address, trial.StartUp, trial.Warnings, stderr)
		}
	})
	t.Run("it is taken", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		testenv.OK(t, err)
		defer l.Close()
		dir := t.TempDir()
		code, _, stderr := locbench(t, dir, "run", "-p", profile, "--services", listening(t, append(own, manifest...)...), "-o", "out")
		if code != 3 || !strings.Contains(stderr, "port "+port+" is in use") {
			t.Errorf("exit code %d:\n%s", code, stderr)
		}
	})
	// An unused variable shows that the manifest passes the port.
	got := append([]string{`"FAULT":"none"`, `"FAULT":"none","GIVEN":"is {{.Port}}"`}, own...)
	t.Run("the manifest names it and gives another", func(t *testing.T) {
		trials, stderr := run(t, 0, listening(t, append(got, manifest...)...))
		trial := trials[0]
		if trial.StartUp != nil || len(trial.Steps) != 1 || trial.Steps[0].Load.Succeeded == 0 || len(trial.Warnings) != 1 || !strings.Contains(trial.Warnings[0].Text, ":"+port+", its manifest's port") {
			t.Errorf("start-up %v, %d steps, warnings %q\n%s", trial.StartUp, len(trial.Steps), trial.Warnings, stderr)
		}
	})
	t.Run("the manifest names another", func(t *testing.T) {
		services := listening(t, append(got, "timeout: 10s", "timeout: 3s")...)
		trials, stderr := run(t, 3, services)
		if text := "it listens on [::]:" + port; !strings.Contains(trials[0].Failure, text) || len(trials[0].Warnings) != 1 || !strings.Contains(trials[0].Warnings[0].Text, text) {
			t.Errorf("%q, warnings %q\n%s", trials[0].Failure, trials[0].Warnings, stderr)
		}
		if second := trials[1]; second.Instance != nil || !strings.Contains(second.Failure, "ready in round 1") {
			t.Errorf("the second round: %+v, %q", second.Instance, second.Failure)
		}
		if trials, _ := run(t, 3, services, "--retry-not-ready"); trials[1].Instance == nil {
			t.Error("--retry-not-ready did not retry it")
		}
	})
}
