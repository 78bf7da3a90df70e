//go:build acceptance && engine

package docker_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

func runID(t *testing.T) string { return fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name()) }

func spec(image string, command ...string) docker.ContainerSpec {
	return docker.ContainerSpec{Name: "t", Image: image, Command: command}
}

// run starts a container and checks that nothing of it is left at the end of the test.
func run(t *testing.T, e *docker.Engine, s docker.ContainerSpec) *docker.Container {
	t.Helper()
	g := testenv.Must(e.NewGroup(t.Context(), runID(t), "", false))(t)
	c, _, _, err := g.Run(t.Context(), s)
	testenv.OK(t, err)
	t.Cleanup(func() {
		testenv.OK(t, testenv.Err(c.Stop(context.Background(), 0)))
		testenv.OK(t, g.Close(context.Background()))
		left := dockertest.Left(t, e, runID(t))
		testenv.Check(t, len(left) <= 0, "left: %v", left)
	})
	return c
}

func ended(t *testing.T, c *docker.Container) bench.Exit {
	t.Helper()
	select {
	case <-c.Exited():
		return *c.Exit()
	case <-time.After(20 * time.Second):
		t.Fatal("does not end")
		panic("unreachable")
	}
}
