//go:build acceptance && engine

package docker_test

import (
	"testing"

	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

// TestOOM checks the sources that replace a lost flag of the state: the kernel's log and the
// engine's event log have an OOM kill, and have none of a container that only exited with the same
// code. A busy engine loses an event now and then, so the kernel's log comes first.
func TestOOM(t *testing.T) {
	e := dockertest.Engine(t)
	image := dockertest.Image(t, e)
	t.Run("killed", func(t *testing.T) {
		s := spec(image, "hog", "200", "sleep")
		s.Limits.Memory = 64 << 20
		c := run(t, e, s)
		exit := ended(t, c)
		killed, readable := docker.KernelKilled(c)
		if !readable || !e.SameHost() {
			t.Skipf("the log of the engine's kernel cannot be read here (%+v)", exit)
		}
		testenv.Check(t, killed && docker.OOM(t.Context(), c) && exit.OOMKilled,
			"not recognized as killed for lack of memory: kernel %v, exit %+v", killed, exit)
	})
	t.Run("not killed", func(t *testing.T) {
		c := run(t, e, spec(image, "exit", "137"))
		exit := ended(t, c)
		if killed, _ := docker.KernelKilled(c); killed || exit.OOMKilled || docker.OOM(t.Context(), c) {
			t.Errorf("%+v: taken for a lack of memory", exit)
		}
	})
}
