package app

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/docker"
)

// TestNeedEngine: without an engine a contender that needs one is named with the engine's address.
func TestNeedEngine(t *testing.T) {
	none := fmt.Errorf("%w; without Docker: --runtime process", &docker.ConnectError{
		What: "docker engine", Where: "unix:///x.sock", Reason: errors.New("connection refused"), Fix: "start it"})
	only := map[bench.Selection]bench.Service{
		{Contender: "b"}: {Docker: &bench.DockerRecipe{}}, {Contender: "a"}: {Docker: &bench.DockerRecipe{}},
		{Contender: "both"}: {Docker: &bench.DockerRecipe{}, Process: &bench.ProcessRecipe{}}, {Contender: "builtin"}: {Builtin: true},
		{Contender: "target"}: {URL: "http://127.0.0.1:1"},
	}
	want := "a, b cannot run: no Docker engine, and no `process` in the manifest: " +
		"docker engine unix:///x.sock: connection refused; start it"
	if err := needEngine(none, only); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := needEngine(nil, only); err != nil {
		t.Errorf("with an engine: %v", err)
	}
	delete(only, bench.Selection{Contender: "a"})
	delete(only, bench.Selection{Contender: "b"})
	if err := needEngine(none, only); err != nil {
		t.Errorf("others: %v", err)
	}
}

// TestUnknownContenderNamesServices: the usual cause is that the folder was not named.
func TestUnknownContenderNamesServices(t *testing.T) {
	const hint = "name its folder: `services: DIR` in the profile, or --services DIR"
	plan := func(services ...string) string {
		_, err := NewPlan(RunOptions{Profile: "p.yaml", ProfileNamed: true, Services: services,
			ProfileText: []byte("contenders: [bookings-go]\nrequests: [{path: /}]\nsteps: [1]\n")})
		return fmt.Sprint(err)
	}
	if err := plan(); !strings.Contains(err, `unknown contender "bookings-go"`) || !strings.Contains(err, hint) {
		t.Error(err)
	}
	if err := plan(t.TempDir()); strings.Contains(err, hint) {
		t.Error(err)
	}
}
