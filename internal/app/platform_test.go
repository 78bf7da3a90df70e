package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/testenv"
)

// built is a platform with all contenders but some.
type built struct {
	fakePlatform
	missing string
}

func (b built) Built(_ context.Context, svc bench.Service) bool {
	return !strings.Contains(b.missing, svc.Name)
}

// TestBuilds: a run says how many contenders it builds, and how long that took the last time if all
// of them have been built before. A cached build says nothing of that.
func TestBuilds(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	same := ""
	services := map[bench.Selection]bench.Service{{Contender: "a"}: {Name: "a"}, {Contender: "b"}: {Name: "b"},
		{Contender: "c", Variant: "x"}: {Name: "c", Variant: "x", BuiltAs: &same}, {Contender: "c", Variant: "y"}: {Name: "c", Variant: "y", BuiltAs: &same}}
	for name, took := range map[string]time.Duration{"a": 20 * time.Second, "b": 5 * time.Second} {
		as := builtAs(services[bench.Selection{Contender: name}], bench.RuntimeDocker)
		recordBuild(as, bench.Artifact{BuildTime: took})
		recordBuild(as, bench.Artifact{BuildTime: time.Second, BuildCached: true})
	}
	var p bench.Profile
	p.Runtime = bench.RuntimeDocker
	for sel := range services {
		p.Contenders = append(p.Contenders, sel)
	}
	for missing, want := range map[string]bench.Builds{
		"": {}, "a": {Count: 1, Last: 20 * time.Second}, "a b": {Count: 2, Last: 25 * time.Second}, "c": {Count: 1}, "a c": {Count: 2},
	} {
		s := launcherOf(bench.Run{Profile: p}, built{missing: missing})
		s.plan.Services = services
		testenv.Equal(t, s.builds(t.Context()), want, "without "+missing)
	}
}

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
