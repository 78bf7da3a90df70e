package app

import (
	"os"
	"regexp"
	"runtime/debug"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

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
