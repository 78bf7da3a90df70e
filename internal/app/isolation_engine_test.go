//go:build acceptance && engine

package app

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSiteKeepsToAPlan runs in its own process, which becomes the client. The plan separates two
// CPUs, which planIsolation would not do on a machine with two.
func TestSiteKeepsToAPlan(t *testing.T) {
	all := cpuset.Allowed()
	if len(all) < 2 {
		t.Skip("one CPU cannot be split")
	}
	if os.Getenv("LOCBENCH_TEST_SITE") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSiteKeepsToAPlan$", "-test.v")
		cmd.Env = append(os.Environ(), "LOCBENCH_TEST_SITE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	client, contender := all[:1], all[1:2]
	r := &record{plan: Plan{Run: bench.Run{ID: "isolated", Profile: bench.Profile{Runtime: bench.RuntimeProcess}}}}
	n := &needset{record: r}
	l := &launcher{record: r, needs: n}
	s := &site{record: r, launcher: l, needs: n, traffic: &traffic{}}
	l.isolation = newIsolation(bench.Isolation{Separate: true, Client: client, Contender: contender})
	testenv.OK(t, l.choosePlatform(t.Context()))
	l.platform.Allow(l.isolation.all)
	svc := bench.Service{Name: "sleeper", Process: &bench.ProcessRecipe{Command: []string{"sleep", "60"}}}
	for range 2 { // the second start finds the client pinned
		spec, err := l.Spec(bench.Trial{Contender: "trial"}, svc, bench.Artifact{Command: []string{"sleep", "60"}})
		testenv.OK(t, err)
		inst, err := l.Launch(t.Context(), spec)
		testenv.OK(t, err)
		testenv.Equal(t, allowed(t, "self"), client.String(), client)
		testenv.Equal(t, inst.Info().CPUSet, contender, "the contender is on CPUs")
		testenv.Fails(t, testenv.Err(inst.Stop(t.Context(), 0)), "")
	}
	testenv.Fails(t, s.close(t.Context()), "")
	testenv.Equal(t, allowed(t, "self"), all.String(), "after close: CPUs")
}

func allowed(t *testing.T, pid string) string {
	t.Helper()
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(data)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(list)
		}
	}
	return ""
}
