//go:build acceptance && cgroup2

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestGuestPodman: what the engine is and cannot do is said before a run. The main job runs with a store in locbench,
// and where containers cannot reach that, a sentence says so before anything starts.
func TestGuestPodman(t *testing.T) {
	guestRuntimes(t, func(t *testing.T, runtime string) {
		_, stdout, _ := locbench(t, t.TempDir(), "doctor")
		testenv.Contains(t, stdout, "Podman engine ", "Podman cannot separate containers", "!engine): CPU quota")
		quick := []string{"run", "--headless", "-p", "quick", "--rounds", "1", "--connections", "1", "--duration", "30s", "go-nethttp"}
		if os.Getenv("XDG_RUNTIME_DIR") != "" {
			dir := t.TempDir()
			code, stdout, stderr := locbench(t, dir, append(quick, "--runtime", runtime)...)
			testenv.Equal(t, code, 1, stdout)
			testenv.Contains(t, stderr, "cannot reach elasticsearch on loopback here", "--store container", "--runtime process")
			profile := guestProfile(t, "auto", "needs: {elasticsearch: {from: embedded, cities: {count: 50, vertices: 12, seed: 1}}}", guestStep(1, "light", 1))
			code, stdout, stderr = locbench(t, dir, "try", profile, "--services", guestFaulty(t, "none"))
			testenv.Equal(t, code, 0, stdout+stderr)
			testenv.Contains(t, stderr, "warning: using processes: ")
			return
		}
		d := disturb(t, nil, append(quick, "--runtime", runtime)...)
		_, trial := ended(t, d, 0)
		testenv.Check(t, trial.State == bench.TrialComplete && trial.Instance.LimitsEnforced && trial.Steps[0].Load.Succeeded > 0,
			"%s %s, %+v", trial.State, trial.Failure, trial.Steps)
		testenv.Contains(t, d.stderr.String(), "!enable_icc")
	})
}

// TestGuestPodmanNeed: a PostgreSQL is started, seeded, restored and counted. Ctrl-C leaves nothing.
func TestGuestPodmanNeed(t *testing.T) {
	guestRuntimes(t, func(t *testing.T, runtime string) {
		loaded := dockerDo(t, "load", "-i", filepath.Join("/payload", podmanImage))
		testenv.Contains(t, loaded, "postgres")
		profile := guestProfile(t, runtime, `needs:
  db: {image: "locbench-test/postgres:15", like: postgres, environment: {POSTGRES_PASSWORD: secret}, seed: [schema.sql], limits: {memory: 256MiB}}
limits: {cpus: 0.25, memory: 64MiB}
`, guestStep(1, "light", 50), "  - {connections: 1, request: light}\n")
		writeFile(t, filepath.Join(filepath.Dir(profile), "schema.sql"), "CREATE TABLE books (title text); INSERT INTO books VALUES ('a');\n")
		d := disturb(t, nil, "run", "--headless", "-p", profile, "--services", guestFaulty(t, "none"))
		d.waitEvent(d.out, windowClosed(1))
		d.signal(syscall.SIGINT)
		run, trial := ended(t, d, 130)
		testenv.Need(t, len(run.Needs) == 1 && len(trial.Steps) == 2, "%+v, %d steps", run.Needs, len(trial.Steps))
		cpus, known := trial.Steps[0].NeedCPUs("db")
		testenv.Check(t, known, "the need, %v CPUs, has no counters", cpus)
		nothingLeft(t, run.ID)
	})
}
