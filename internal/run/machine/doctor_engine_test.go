//go:build acceptance && engine

package machine

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestDoctorOfARealMachine connects to a real engine and makes a cgroup, as a run would.
func TestDoctorOfARealMachine(t *testing.T) {
	testenv.Docker(t)
	seen := map[string]Warning{}
	for _, f := range Doctor(t.Context(), "") {
		testenv.Check(t, f.Value != "" && (f.Status != Missing || f.Fix != ""), "%+v", f)
		seen[f.Name] = f
		t.Logf("%-15s %-8s %s | %s", f.Name, f.Status, f.Value, f.Fix)
	}
	d := seen["Docker"]
	testenv.Check(t, d.Status == OK, "%+v", d)
	for _, name := range []string{"Docker limits", "cgroup", "Go toolchain"} {
		_, ok := seen[name]
		testenv.Check(t, ok, "no line %q", name)
	}
}
