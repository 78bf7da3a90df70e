package docker_test

import (
	"testing"

	"locbench/internal/docker"
	"locbench/internal/docker/dockertest"
)

// TestOOMEvent is about the way that serves where the state's flag was lost: the event log knows of
// the kill, and of none where the container has only ended with the same code.
func TestOOMEvent(t *testing.T) {
	e := dockertest.Engine(t)
	image := dockertest.Image(t, e)
	t.Run("killed", func(t *testing.T) {
		s := spec(t, image, "hog", "200", "sleep")
		s.Limits.Memory = 64 << 20
		c := run(t, e, s)
		ended(t, c)
		if !docker.OOMEvent(t.Context(), c) {
			t.Error("the event log does not know that it was killed for want of memory")
		}
	})
	t.Run("not killed", func(t *testing.T) {
		c := run(t, e, spec(t, image, "exit", "137"))
		if exit := ended(t, c); exit.OOMKilled || docker.OOMEvent(t.Context(), c) {
			t.Errorf("%+v: taken for a lack of memory", exit)
		}
	})
}
