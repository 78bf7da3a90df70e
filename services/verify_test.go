package services_test

import (
	"os"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/profiles"
)

// TestVerifyProfile: services/verify runs all lifecycle checks, and loads shortly, with the most
// connections of all bundled profiles.
func TestVerifyProfile(t *testing.T) {
	p := testenv.Must(profile.Parse("verify.yaml", testenv.Must(os.ReadFile("verify.yaml"))(t)))(t)
	if p.Limits.CPUs != 1.5 || p.Limits.Memory != 512<<20 || len(p.Checks.Lifecycle) != len(bench.LifecycleChecks()) || p.Runtime != bench.RuntimeDocker {
		t.Errorf("%+v", p)
	}
	for _, other := range testenv.Must(profile.List(profiles.FS))(t) {
		testenv.Check(t, profile.MostConnections(other.Steps) <= profile.MostConnections(p.Steps), "profile %s loads with more", other.Name)
	}
	testenv.Check(t, p.LoadDuration() <= 30*time.Second, "the load takes %s", p.LoadDuration())
}
