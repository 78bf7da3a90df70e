//go:build acceptance && engine

package docker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
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

// TestHealthcheckIsOff: the engine does not run the health check of an image in a container of a run.
func TestHealthcheckIsOff(t *testing.T) {
	e := dockertest.Engine(t)
	ref := "locbench-test/healthcheck:1"
	build := exec.Command("docker", "build", "-q", "-t", ref, "-")
	build.Stdin = strings.NewReader("FROM " + dockertest.Image(t, e) + "\nHEALTHCHECK --interval=1s CMD [\"/none\"]\n")
	_, err := build.CombinedOutput()
	testenv.OK(t, err)
	t.Cleanup(func() { testenv.OK(t, e.RemoveImage(context.Background(), ref)) })
	image, err := e.ImageInspect(t.Context(), ref)
	testenv.OK(t, err)
	testenv.Check(t, image.Healthcheck != nil, "the image has none")
	s := spec(ref, "sleep")
	c := run(t, e, s)
	health, err := exec.Command("docker", "inspect", "-f", "{{json .Config.Healthcheck.Test}} {{json .State.Health}}", c.ID()).CombinedOutput()
	testenv.OK(t, err)
	testenv.Equal(t, strings.TrimSpace(string(health)), `["NONE"] null`)
}

func TestEngine(t *testing.T) {
	e := dockertest.Engine(t)
	image := dockertest.Image(t, e)

	t.Run("Info", func(t *testing.T) {
		info := e.Info()
		if info.Version == "" || info.APIVersion == "" || info.CPUs == 0 || info.CgroupVersion == 0 || info.Arch == "" {
			t.Errorf("%+v", info)
		}
	})
	t.Run("ExitCode", func(t *testing.T) {
		exit := ended(t, run(t, e, spec(image, "exit", "3")))
		testenv.Check(t, exit.Code == 3 && !exit.OOMKilled && exit.Signal == "" && time.Since(exit.At) <= time.Minute,
			"%+v", exit)
	})
	t.Run("OOM", func(t *testing.T) {
		s := spec(image, "hog", "200", "sleep")
		s.Limits.Memory = 64 << 20
		exit := ended(t, run(t, e, s))
		testenv.Check(t, exit.OOMKilled && exit.Code == 137 && exit.Signal == "SIGKILL", "%+v", exit)
	})
	t.Run("Logs", func(t *testing.T) {
		c := run(t, e, spec(image, "noise"))
		ended(t, c)
		got := map[string]string{}
		for _, l := range c.Logs() {
			got[fmt.Sprintf("%s %.6q", l.Stream, l.Text)] = l.Text
			testenv.Check(t, len(l.Text) <= 9<<10, "a line of %d bytes", len(l.Text))
		}
		for _, want := range []string{`stdout "before"`, `stdout "xxxxxx"`, `stdout "\xff\xfe\x1b[31"`, `stderr "to std"`, `stdout "no end"`} {
			_, ok := got[want]
			testenv.Check(t, ok, "no line %s among %d", want, len(got))
		}
	})
	t.Run("StopGraceful", func(t *testing.T) {
		s := spec(image, "serve", "8080")
		s.Port = 8080
		c := run(t, e, s)
		waitLog(t, c, "listening")
		r, err := c.Stop(t.Context(), 10*time.Second)
		if err != nil || !r.Graceful || r.Killed || r.ExitedBeforeStop || r.Exit.Code != 0 || r.Took <= 0 || r.Took > 10*time.Second {
			t.Errorf("%+v, %v", r, err)
		}
		if again, err := c.Stop(t.Context(), 0); err != nil || again != r {
			t.Errorf("again: %+v, %v; want %+v", again, err, r)
		}
	})
	t.Run("StopDeaf", func(t *testing.T) {
		c := run(t, e, spec(image, "deaf", "serve", "8080"))
		waitLog(t, c, "listening")
		r, err := c.Stop(t.Context(), 200*time.Millisecond)
		testenv.Check(t, err == nil && !r.Graceful && r.Killed && r.Exit.Code == 137 && r.Took >= 200*time.Millisecond,
			"%+v, %v", r, err)
	})
	t.Run("Stats", func(t *testing.T) {
		s := spec(image, "hog", "50", "serve", "8080")
		s.Limits.Memory = 256 << 20
		c := run(t, e, s)
		waitLog(t, c, "listening")
		u, err := c.Usage(t.Context())
		if err != nil || u.Source != "docker stats" || u.CPU == 0 || u.Memory == nil || u.Memory.Used < 50<<20 || u.Memory.Limit != 256<<20 {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

func waitLog(t *testing.T, c *docker.Container, text string) {
	t.Helper()
	testenv.Until(t, 30*time.Second, text+" is in the log", func() bool {
		return slices.ContainsFunc(c.Logs(), func(l bench.LogLine) bool { return strings.Contains(l.Text, text) })
	})
}

func TestBuildImage(t *testing.T) {
	e := dockertest.Engine(t)
	var out bytes.Buffer
	build := func(dockerfile string, o docker.BuildOptions) (string, error) {
		out.Reset()
		return e.BuildImage(t.Context(), dockertest.Tar(t, map[string]string{"Dockerfile": dockerfile, "a": "b"}), o, &out)
	}
	tag := fmt.Sprintf("locbench-test/labeled:%d", os.Getpid())
	id, err := build("FROM scratch\nARG V\nLABEL v=$V\nCOPY a /\n",
		docker.BuildOptions{Tag: tag, Args: map[string]string{"V": "7"}})
	testenv.Need(t, err == nil && strings.Contains(out.String(), "Step 1/"), "%v\n%s", err, out.String())
	defer e.RemoveImage(context.Background(), id)
	img, err := e.ImageInspect(t.Context(), id)
	testenv.Check(t, err == nil && img.ID == id && img.OS == "linux", "%+v, %v", img, err)
	img, err = e.ImageInspect(t.Context(), tag)
	testenv.Check(t, err == nil && img.ID == id, "no image of that name: %+v, %v", img, err)
	if _, err := build("FROM scratch\nCOPY absent /\n", docker.BuildOptions{Tag: "locbench-test:x"}); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a missing file: %v", err)
	}
	testenv.Fails(t, testenv.Err(build("FORM scratch\n", docker.BuildOptions{})), "FORM")
	if _, err := e.ImageInspect(t.Context(), "locbench-test:absent"); !errors.Is(err, docker.ErrNotFound) {
		t.Errorf("absent: %v", err)
	}
}
