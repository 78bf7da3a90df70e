//go:build acceptance && engine

package contender_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/docker"
	"locbench/internal/testenv"
)

func TestBuildImageWithDocker(t *testing.T) {
	testenv.Docker(t)
	engine, err := docker.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	binary := hello(t, false)
	data, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			t.Cleanup(func() {
				if err := engine.RemoveImage(context.Background(), a.Image); err != nil {
					t.Error(err)
				}
			})
			if a.BuildCached || a.ImageSize < int64(len(data)) || !strings.Contains(out.String(), "FROM scratch") {
				t.Errorf("%+v, output %s", a, &out)
			}
			said, err := exec.Command("docker", "run", "--rm", "--network=none", a.Image).CombinedOutput()
			if err != nil || string(said) != "hello [serve]\n" {
				t.Errorf("%v: %s", err, said)
			}
			img, err := engine.ImageInspect(t.Context(), a.Image)
			if err != nil || img.Labels[contender.LabelContender] != "contender-test" || img.ID != a.ImageID {
				t.Errorf("%+v, %v", img, err)
			}
			if again, err := contender.BuildImage(t.Context(), engine, svc, opts); err != nil || !again.BuildCached || again.ImageID != a.ImageID {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}
