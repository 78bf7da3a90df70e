//go:build acceptance && engine && linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

// TestEngine_Elsewhere uses an engine in another network namespace, which is as unreachable as
// another machine. Problems are reported before anything is built or measured; the rest works:
// ports are published, counters and clock are the engine's.
func TestEngine_Elsewhere(t *testing.T) {
	t.Parallel()
	unix, tcp, _ := dockertest.Elsewhere(t)
	none := func(t *testing.T, host string) {
		t.Helper()
		for _, what := range [][]string{{"ps", "-aq"}, {"network", "ls", "-q"}} {
			if left := dockerTo(t, host, append(what, "--filter", "label=locbench.run")...); left != "" {
				t.Errorf("left in the engine: %s", left)
			}
		}
	}
	for what, c := range map[string]struct {
		host, want string
		args       []string
	}{
		"a forwarded socket":                             {unix, "its container ports are unreachable. Run locbench there, or set DOCKER_HOST=tcp://HOST:PORT", []string{"--runtime", "docker"}},
		"store in a container behind a forwarded socket": {unix, "its container ports are unreachable", []string{"--runtime", "process", "--store", "container"}},
		"embedded store":                                 {tcp, "cannot reach a store on loopback here; use --store container or --elastic", []string{"--runtime", "docker", "--store", "embedded"}},
		"store on loopback":                              {tcp, "cannot reach a store on loopback here", []string{"--runtime", "docker", "--elastic", "http://127.0.0.1:9"}},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			c2 := startIn(t, dir, []string{"DOCKER_HOST=" + c.host}, append([]string{"run", "--headless", "-o", "out"}, c.args...)...)
			if code := c2.wait(time.Minute); code != 1 || !strings.Contains(c2.stderr.String(), c.want) || !strings.Contains(c2.stderr.String(), "--runtime process") {
				t.Errorf("exit code %d; it said:\n%s", code, c2.stderr.String())
			}
			if made, err := os.ReadDir(filepath.Join(dir, "out")); err == nil {
				t.Errorf("something ran: there are results, %d files", len(made))
			}
			for _, begun := range []string{"  build  ", "  seed  ", "  start-up  "} {
				if strings.Contains(c2.stderr.String(), begun) {
					t.Errorf("it began: %s", c2.stderr.String())
				}
			}
			none(t, c.host)
		})
	}
	t.Run("a runtime of locbench's choice", func(t *testing.T) {
		d := disturb(t, []string{"DOCKER_HOST=" + unix}, "run", "--headless", "-p", small(t, "go-nethttp", "auto"), "--no-checks", "--rounds", "1", "--connections", "1", "--duration", "300ms")
		run, trials := d.ends(0, "warning: using processes: the Docker engine at "+unix)
		if run.Profile.Runtime != bench.RuntimeProcess || len(trials) != 1 || trials[0].Instance.Runtime != bench.RuntimeProcess {
			t.Errorf("runtime %s, %s", run.Profile.Runtime, states(trials))
		}
	})
	t.Run("store next to the contenders", func(t *testing.T) {
		binary, err := storeBinary()
		testenv.OK(t, err)
		dir := t.TempDir()
		testenv.OK(t, errors.Join(os.Rename(binary, filepath.Join(dir, "store")), os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte("FROM scratch\nCOPY store /store\nENTRYPOINT [\"/store\"]\n"), 0o644)))
		dockerTo(t, tcp, "build", "-t", "store:test", dir)
		profile := small(t, "go-nethttp", "docker")
		editFile(t, profile, "store: embedded", `store: {kind: container, image: "store:test"}`)
		d := disturb(t, []string{"DOCKER_HOST=" + tcp}, "run", "--headless", "-p", profile, "--rounds", "1", "--duration", "1s")
		run, trials := d.ends(0, "CPUs     ")
		if len(trials) != 1 || len(trials[0].Steps) != 3 {
			t.Fatalf("%s", states(trials))
		}
		there, info := strings.TrimSuffix(strings.TrimPrefix(tcp, "tcp://"), ":2375"), trials[0].Instance
		if !strings.HasPrefix(info.Address, there+":") || info.PID == 0 {
			t.Errorf("reached at %s, process %d", info.Address, info.PID) // one kernel, so its processes are visible
		}
		if !strings.HasPrefix(run.Store.URL, "http://"+there+":") || run.Store.Seen == run.Store.URL || !strings.HasSuffix(run.Store.Seen, ":9200") {
			t.Errorf("store %+v", run.Store)
		}
		for _, step := range trials[0].Steps {
			// A busy machine may be too slow for the timeout of half a second, but nothing else
			// fails.
			if step.Load.Succeeded == 0 || step.Load.FailedTotal() > step.Load.Failed[bench.ErrTimeout] || step.After == nil {
				t.Errorf("step %s: %+v", step.Step.Name, step.Load.Failed)
			}
		}
		if run.Isolated == nil || run.Isolated.Separate {
			t.Errorf("CPUs %+v", run.Isolated)
		}
	})
}
