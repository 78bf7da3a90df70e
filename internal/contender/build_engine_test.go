//go:build acceptance && engine

package contender_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/testenv"
)

func TestBuildImageWithDocker(t *testing.T) {
	testenv.Docker(t)
	engine, err := docker.Connect(t.Context())
	testenv.OK(t, err)
	defer engine.Close()
	binary := hello(t, false)
	data, err := os.ReadFile(binary)
	testenv.OK(t, err)
	for name, svc := range map[string]bench.Service{
		"builtin": {Name: "contender-test", Variant: "builtin", Builtin: true},
		"dockerfile": {
			Name: "contender-test", Variant: "release", Files: fstest.MapFS{
				"hello": {Data: data, Mode: 0o755}, "junk": {}, ".dockerignore": {Data: []byte("*\n!hello\n")},
				"build/Dockerfile": {Data: []byte("FROM scratch AS one\nARG WORD\nCOPY . /\nENV WORD=$WORD\nCMD [\"/hello\", \"serve\"]\nFROM scratch\n")},
			},
			Docker: &bench.DockerRecipe{Dockerfile: "build/Dockerfile", Target: "one", Args: map[string]string{"WORD": time.Now().String()}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			opts := contender.BuildOptions{Self: binary, Out: &out}
			a, err := contender.BuildImage(t.Context(), engine, svc, opts)
			testenv.Need(t, err == nil, "%v\n%s", err, &out)
			t.Cleanup(func() { testenv.OK(t, engine.RemoveImage(context.Background(), a.Image)) })
			if a.BuildCached || a.ImageSize < int64(len(data)) || !strings.Contains(out.String(), "FROM scratch") {
				t.Errorf("%+v, output %s", a, &out)
			}
			said, err := exec.Command("docker", "run", "--rm", "--network=none", a.Image).CombinedOutput()
			testenv.OK(t, err)
			testenv.Equal(t, string(said), "hello [serve]\n", said)
			img, err := engine.ImageInspect(t.Context(), a.Image)
			testenv.Check(t, err == nil && img.ID == a.ImageID, "%+v, %v", img, err)
			if again, err := contender.BuildImage(t.Context(), engine, svc, opts); err != nil || !again.BuildCached || again.ImageID != a.ImageID {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// TestProxiesOfConfig: the proxies of Docker's config.json are arguments of a build, and not in the
// container.
func TestProxiesOfConfig(t *testing.T) {
	testenv.Docker(t)
	dir := t.TempDir()
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"proxies": {"default": {"httpProxy": "http://proxy.example:3128"}}}`), 0o600))
	t.Setenv("DOCKER_CONFIG", dir)
	engine, err := docker.Connect(t.Context())
	testenv.OK(t, err)
	t.Cleanup(func() { engine.Close() })
	a, err := contender.BuildImage(t.Context(), engine, bench.Service{
		Name: "contender-test", Variant: "proxies", Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"},
		Files: fstest.MapFS{"Dockerfile": {Data: []byte("FROM scratch\nARG HTTP_PROXY\nENV SEEN=$HTTP_PROXY\nCMD [\"/x\"]\n")}},
	}, contender.BuildOptions{})
	testenv.OK(t, err)
	t.Cleanup(func() { testenv.OK(t, engine.RemoveImage(context.Background(), a.Image)) })
	env, err := exec.Command("docker", "image", "inspect", "-f", "{{.Config.Env}}", a.Image).CombinedOutput()
	testenv.OK(t, err)
	if text := string(env); !strings.Contains(text, "SEEN=http://proxy.example:3128") || strings.Contains(text, "HTTP_PROXY") {
		t.Error(text)
	}
}

// TestBuildKitOfTheEngine builds what the classic builder cannot.
func TestBuildKitOfTheEngine(t *testing.T) {
	testenv.Docker(t)
	engine, err := docker.Connect(t.Context())
	testenv.OK(t, err)
	defer engine.Close()
	data, err := os.ReadFile(hello(t, false))
	testenv.OK(t, err)
	build := func(t *testing.T, dockerfile string) (bench.Artifact, string, error) {
		svc := bench.Service{
			Name: "contender-test", Dir: "mine", Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"},
			Files: fstest.MapFS{"Dockerfile": {Data: []byte(dockerfile)}, "hello": {Data: data, Mode: 0o755}, "junk": {},
				"new": {Data: []byte(time.Now().String())}, "Dockerfile.dockerignore": {Data: []byte("junk")}},
		}
		var out bytes.Buffer
		a, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{Out: &out})
		if err == nil {
			t.Cleanup(func() { testenv.OK(t, engine.RemoveImage(context.Background(), a.Image)) })
		}
		return a, out.String(), err
	}
	t.Run("built", func(t *testing.T) {
		a, out, err := build(t, `FROM --platform=$BUILDPLATFORM scratch AS one
ARG TARGETARCH
ENV ARCH=$TARGETARCH
COPY --chmod=0511 . /
RUN --mount=type=cache,target=/cache ["/hello", "built", "here"]
CMD ["/hello", "serve"]
`)
		testenv.Need(t, err == nil, "%v\n%s", err, out)
		if !strings.Contains(out, "hello [built here]\n") || !strings.Contains(out, "RUN --mount=type=cache") {
			t.Errorf("output: %s", out)
		}
		said, err := exec.Command("docker", "run", "--rm", "--network=none", a.Image).CombinedOutput()
		testenv.OK(t, err)
		testenv.Equal(t, string(said), "hello [serve]\n", said)
		img, err := engine.ImageInspect(t.Context(), a.Image)
		testenv.Check(t, err == nil && img.ID == a.ImageID, "%+v, %v", img, err)
	})
	t.Run("failed", func(t *testing.T) {
		_, _, err := build(t, "FROM scratch\nCOPY --chmod=0555 junk /\n")
		testenv.Fails(t, err, "junk", "built with only mine as its context")
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		interrupted := errors.New("interrupted")
		svc := bench.Service{
			Name: "contender-test", Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"}, Files: fstest.MapFS{
				"Dockerfile": {Data: []byte("FROM scratch\nCOPY --chmod=0555 hello /\nRUN [\"/hello\", \"wait\"]\n")}, "hello": {Data: data, Mode: 0o755},
			},
		}
		_, err := contender.BuildImage(ctx, engine, svc, contender.BuildOptions{Out: cancelAt{"hello [wait]", func() { cancel(interrupted) }}})
		testenv.Check(t, errors.Is(err, interrupted), "%v", err)
	})
}

// cancelAt is a writer that calls do as soon as a text is written.
type cancelAt struct {
	text string
	do   func()
}

func (c cancelAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.text) {
		c.do()
	}
	return len(p), nil
}
