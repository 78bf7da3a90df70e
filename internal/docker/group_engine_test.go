//go:build acceptance && engine

package docker_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
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

// bed is a run with an image for its docker.
type bed struct {
	*docker.Group
	t     *testing.T
	image string
}

func openBed(t *testing.T) *bed {
	t.Helper()
	e := dockertest.Engine(t)
	base := dockertest.Image(t, e)
	image := strings.Replace(base, "helper", "need", 1)
	dockerfile := "FROM " + base + "\nCOPY Dockerfile /data/from-image\nVOLUME /data\nENV A=1 B=\"x = y\"\nEXPOSE 80 53/udp 5432\n" +
		"STOPSIGNAL SIGTERM\nUSER 0\nHEALTHCHECK --interval=1s CMD [\"/helper\", \"put\", \"/checked\", \"x\"]\n"
	_, err := e.BuildImage(t.Context(), dockertest.Tar(t, map[string]string{"Dockerfile": dockerfile}), docker.BuildOptions{Tag: image}, nil)
	testenv.OK(t, err)
	t.Cleanup(func() { testenv.OK(t, e.RemoveImage(context.Background(), image)) })
	d := testenv.Must(e.NewGroup(t.Context(), runID(t), "", false))(t)
	t.Cleanup(func() {
		testenv.OK(t, d.Close(context.Background()))
		if left := dockertest.Left(t, e, runID(t)); len(left) > 0 {
			t.Errorf("left: %v", left)
			_, _ = e.Clean(context.Background(), runID(t), nil)
		}
	})
	return &bed{d, t, image}
}

func (b *bed) start(spec docker.ContainerSpec) *docker.Container {
	b.t.Helper()
	spec.Image, spec.Name, spec.NoGain = b.image, "db", true
	c, _, _, err := b.Run(b.t.Context(), spec)
	testenv.OK(b.t, err)
	b.t.Cleanup(func() { testenv.OK(b.t, c.Kill(context.Background())) })
	return c
}

func (b *bed) volume() string {
	b.t.Helper()
	v := testenv.Must(b.CreateVolume(b.t.Context(), "db"))(b.t)
	b.t.Cleanup(func() { testenv.OK(b.t, b.RemoveVolume(context.Background(), v)) })
	return v
}

// do runs the helper in a container, which has to succeed, and returns its output.
func (b *bed) do(c *docker.Container, args ...string) string {
	b.t.Helper()
	out, code, err := c.Exec(b.t.Context(), append([]string{"/helper"}, args...), nil, nil)
	if err != nil || code != 0 {
		b.t.Fatalf("%q: code %d, %v, %s", args, code, err, out)
	}
	return out
}

// TestNeed_Spec: a container is as its spec says, and is found by all of its names.
func TestNeed_Spec(t *testing.T) {
	b := openBed(t)
	image := testenv.Must(b.Image(t.Context(), b.image, nil))(t)
	if !strings.HasPrefix(image.ID, "sha256:") || image.Env["A"] != "1" || image.Env["B"] != "x = y" || !slices.Equal(image.Ports, []int{80, 5432}) ||
		!slices.Equal(image.Volumes, []string{"/data"}) || strings.Join(image.Healthcheck, " ") != "/helper put /checked x" ||
		image.StopSignal != "SIGTERM" || image.User != "0" || image.Emulated {
		t.Errorf("%+v", image)
	}
	c := b.start(docker.ContainerSpec{
		Entrypoint: []string{"/helper", "print", "entry"}, Command: []string{"serve", "80"}, Env: map[string]string{"C": "2"}, Port: 80,
		Limits: bench.Limits{CPUs: 1000, Memory: 64 << 20}, User: "7:8", Hostname: "main.example", Aliases: []string{"db", "database"},
		ShmSize: 3 << 20, Ulimits: []docker.Ulimit{{Name: "nofile", Soft: 99, Hard: 100}},
	})
	testenv.Until(t, 20*time.Second, "it listens", func() bool { return len(c.Logs()) > 1 })
	env, code, err := c.Exec(t.Context(), []string{"/helper", "env", "print", "err", "exit", "4"}, map[string]string{"D": "3"}, nil)
	if err != nil || code != 4 || !strings.Contains(env, "A=1\n") || !strings.Contains(env, "C=2\n") || !strings.Contains(env, "D=3\n") ||
		!strings.Contains(env, "HOSTNAME=main.example\n") {
		t.Errorf("%d, %v, %s", code, err, env)
	}
	noise := b.do(c, "noise")
	testenv.Check(t, len(noise) == 64<<10, "%d bytes of output", len(noise))
	out, code, err := c.Exec(t.Context(), []string{"/absent"}, nil, nil)
	testenv.Check(t, err != nil || code == 126 || code == 127, "a command that does not exist: %d, %s", code, out)
	out, code, err = c.Exec(t.Context(), []string{"/helper", "put", "/x", ""}, nil, nil)
	testenv.Check(t, err == nil && code == 1 && strings.Contains(out, "permission denied"),
		"user 7 writes to /: %d, %v, %s", code, err, out)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, _, err = c.Exec(ctx, []string{"/helper", "child", "sleep"}, nil, nil)
	testenv.Check(t, err != nil, "a command that sleeps has ended")
	if top, err := exec.Command("docker", "top", c.ID(), "-eo", "pid,args").CombinedOutput(); err != nil || strings.Contains(string(top), "sleep") {
		t.Errorf("it still runs, or its child: %v\n%s", err, top)
	}
	peer := b.start(docker.ContainerSpec{Command: []string{"serve", "80"}})
	for _, name := range []string{"db", "database", "main.example", c.NetworkAddress()} {
		testenv.Equal(t, b.do(peer, "get", "http://"+name+"/"), "status 404\n", name)
	}
	host := testenv.Must(net.Listen("tcp", net.JoinHostPort(b.NamedHost(), "0")))(t)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Listener.Close()
	server.Listener = host
	server.Start()
	defer server.Close()
	_, port, _ := net.SplitHostPort(host.Addr().String())
	testenv.Equal(t, b.do(peer, "get", "http://host.docker.internal:"+port+"/"), "status 404\n")
	time.Sleep(1500 * time.Millisecond) // the interval of the health check
	got := testenv.Must(c.Written(t.Context()))(t)
	testenv.Check(t, len(got) <= 0, "the health check ran, or something else wrote %q", got)
	if pid := c.LocalPID(); pid > 0 {
		limits := string(testenv.Must(os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid)))(t))
		mounts := string(testenv.Must(os.ReadFile(fmt.Sprintf("/proc/%d/mounts", pid)))(t))
		if !strings.Contains(strings.Join(strings.Fields(limits), " "), "Max open files 99 100 files") || !strings.Contains(mounts, "size=3072k") {
			t.Errorf("%s\n%s", limits, mounts)
		}
	}
	testenv.OK(t, c.Kill(t.Context()))
	testenv.OK(t, c.Kill(t.Context()))
	testenv.OK(t, c.Kill(t.Context()))
}
