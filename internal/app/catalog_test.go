package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/testenv"
)

// An invalid manifest stops only runs of that contender.
func TestUnreadableManifestOfAnotherContender(t *testing.T) {
	const broken = "name: [\n"
	selected := []bench.Selection{{Contender: "go-nethttp"}}
	run := bench.Run{Profile: bench.Profile{Contenders: selected}}
	others := testenv.Folder(t, map[string]string{"mine/service.yaml": broken, "theirs/service.yaml": broken})
	for range 2 { // as when a run is resumed
		services, err := servicesOf(&run, []string{others})
		testenv.OK(t, err)
		testenv.Equal(t, services[selected[0]].Name, "go-nethttp")
		testenv.Need(t, len(run.Warnings) >= 2, "%q", run.Warnings)
		testenv.Contains(t, run.Warnings[0].Text, "mine/service.yaml")
		testenv.Contains(t, run.Warnings[1].Text, "theirs/service.yaml")
	}
	for selected, folder := range map[string]string{
		"mine":       "mine",       // the selected one
		"min":        "mine",       // one that may have been meant
		"go-nethttp": "go-nethttp", // one that replaces a bundled one
	} {
		run := bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: selected}}}}
		services := testenv.Folder(t, map[string]string{folder + "/service.yaml": broken})
		testenv.Fails(t, testenv.Err(servicesOf(&run, []string{services})), folder+"/service.yaml")
	}
	_, _, err := DiscoverFor([]string{filepath.Join(t.TempDir(), "none")}, selected)
	testenv.Fails(t, err)
}

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

func TestBuildOf(t *testing.T) {
	const revision = "0123456789abcdef0123456789abcdef01234567"
	at := time.Date(2026, 11, 27, 18, 1, 28, 0, time.UTC)
	checkout := []debug.BuildSetting{
		{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: revision}, {Key: "vcs.time", Value: "2026-11-27T18:01:28Z"},
		{Key: "vcs.modified", Value: "false"},
	}
	changed := append(checkout[:3:3], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for name, tt := range map[string]struct {
		version  string // of the main module
		settings []debug.BuildSetting
		want     Build
	}{
		"a tag":                     {"v0.1.0", checkout, Build{"0.1.0", revision, at}},
		"go install of a tag":       {"v0.1.0", nil, Build{Version: "0.1.0"}},
		"a tag before a release":    {"v0.2.0-rc.1", checkout, Build{"0.2.0-rc.1", revision, at}},
		"a changed tag":             {"v0.1.0+dirty", changed, Build{"0.1.0-dev+0123456789ab.dirty", revision, at}},
		"a checkout without tags":   {"v0.0.0-20261127180128-0123456789ab", checkout, Build{"0.1.0-dev+0123456789ab", revision, at}},
		"a checkout after a tag":    {"v0.1.1-0.20261127180128-0123456789ab", checkout, Build{"0.1.0-dev+0123456789ab", revision, at}},
		"a changed checkout":        {"v0.0.0-20261127180128-0123456789ab+dirty", changed, Build{"0.1.0-dev+0123456789ab.dirty", revision, at}},
		"go build of an older Go":   {"(devel)", changed, Build{"0.1.0-dev+0123456789ab.dirty", revision, at}},
		"go install of a branch":    {"v0.0.0-20261127180128-0123456789ab", nil, Build{"0.1.0-dev+0123456789ab", "0123456789ab", at}},
		"sources without a history": {"(devel)", nil, Build{Version: "0.1.0-dev"}},
		"no build information":      {"", nil, Build{Version: "0.1.0-dev"}},
		"a revision that is short":  {"", []debug.BuildSetting{{Key: "vcs.revision", Value: "0123"}}, Build{Version: "0.1.0-dev+0123", Commit: "0123"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := buildOf(&debug.BuildInfo{Main: debug.Module{Version: tt.version}, Settings: tt.settings})
			testenv.Equal(t, got, tt.want)
		})
	}
}

// TestRelease_IsInTheChangelog: a release that the changelog does not know would have no notes.
func TestRelease_IsInTheChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	testenv.OK(t, err)
	first := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(text)
	testenv.Check(t, first != nil && (string(first[1]) == release || string(first[1]) == "Unreleased"),
		"CHANGELOG.md begins with %q, want ## %s or ## Unreleased", first, release)
}
