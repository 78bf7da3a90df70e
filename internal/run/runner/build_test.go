package runner

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestDescribeBuild: what a run says of a build, and of a health check that is off.
func TestDescribeBuild(t *testing.T) {
	for want, a := range map[string]bench.Artifact{
		"a: ready":                  {},
		"a: unchanged, not rebuilt": {BuildCached: true, BuildTime: time.Second},
		"a: built in 1.23s":         {BuildTime: 1234 * time.Millisecond},
		"a: unchanged, not rebuilt; the health check of its image is off": {BuildCached: true, Healthcheck: true},
	} {
		testenv.Equal(t, describeBuild(bench.Selection{Contender: "a"}, a), want)
	}
}
