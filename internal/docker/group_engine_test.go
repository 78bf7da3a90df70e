//go:build acceptance && engine

package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
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
	out, code, err := c.Exec(b.t.Context(), append([]string{"/helper"}, args...), nil)
	if err != nil || code != 0 {
		b.t.Fatalf("%q: code %d, %v, %s", args, code, err, out)
	}
	return out
}

func on(volume string) []docker.Mount { return []docker.Mount{{Volume: volume, Target: "/data"}} }

// TestNeed_State: a volume with owners, rights, links and 100 MiB is copied after a clean stop, and
// a container on the copy sees the same.
func TestNeed_State(t *testing.T) {
	b := openBed(t)
	seeded := b.volume()
	c := b.start(docker.ContainerSpec{Command: []string{"serve", "80"}, Mounts: on(seeded)})
	b.do(c, "put", "/data/base/row", "one", "put", "/data/empty", "", "own", "/data/base/row", "999", "600", "link", "row", "/data/base/last",
		"own", "/data/base", "998", "1770", "own", "/data", "997", "700", "fill", "/data/big", "100")
	want := b.do(c, "show", "/data")
	if !strings.Contains(want, "drwx------ 997 998 /data \n") || !strings.Contains(want, "dtrwxrwx--- 998 999 /data/base") ||
		!strings.Contains(want, "-rw------- 999 1000 /data/base/row one") ||
		!strings.Contains(want, "/data/from-image") {
		t.Errorf("seeded:\n%s", want)
	}
	clean, err := c.End(t.Context(), 10*time.Second)
	testenv.Need(t, err == nil && clean, "clean %v, %v", clean, err)
	testenv.OK(t, c.Kill(t.Context()))
	var first int64
	for i := range 3 {
		restored := b.volume()
		began := time.Now()
		bytes := testenv.Must(b.CopyVolume(t.Context(), seeded, restored, b.image, 1<<40))(t)
		copied := time.Since(began)
		c := b.start(docker.ContainerSpec{Command: []string{"serve", "80"}, Mounts: on(restored)})
		t.Logf("copy of %d bytes: %v; with the start of a container: %v", bytes, copied, time.Since(began))
		testenv.Equal(t, b.do(c, "show", "/data"), want)
		if i == 0 {
			first = bytes
		}
		testenv.Check(t, bytes == first && bytes >= 100<<20, "%d bytes, want %d", bytes, first)
		testenv.OK(t, c.Kill(t.Context()))
		again := b.volume()
		testenv.Equal(t, testenv.Must(b.CopyVolume(t.Context(), restored, again, b.image, 1<<40))(t), first)
	}
}

// TestNeed_Written: what a container leaves outside of its mounts, while it runs and after.
func TestNeed_Written(t *testing.T) {
	b := openBed(t)
	file := filepath.Join(t.TempDir(), "rows.sql")
	testenv.OK(t, os.WriteFile(file, []byte("select 1"), 0o644))
	c := b.start(docker.ContainerSpec{
		Command: []string{"serve", "80"}, Tmpfs: []docker.Tmpfs{{Target: "/run", Options: "size=1m"}},
		Mounts: append(on(b.volume()), docker.Mount{Source: file, Target: "/seed/rows.sql"}),
	})
	if got := testenv.Must(c.Written(t.Context()))(t); len(got) > 0 {
		t.Errorf("at the start: %q", got)
	}
	b.do(c, "put", "/data/row", "1", "put", "/run/pid", "1", "put", "/var/lib/state", "1", "put", "/seed/other", "1",
		"put", "/tmp/x", "", "remove", "/tmp/x")
	want := []string{"/seed/other", "/var/lib/state"}
	if got := testenv.Must(c.Written(t.Context()))(t); !slices.Equal(got, want) {
		t.Errorf("while it runs: %q, want %q", got, want)
	}
	testenv.Must(c.End(t.Context(), 10*time.Second))(t)
	if got := testenv.Must(c.Written(t.Context()))(t); !slices.Equal(got, want) {
		t.Errorf("after its end: %q, want %q", got, want)
	}
	absent := docker.ContainerSpec{Image: b.image, Name: "db", Mounts: []docker.Mount{{Source: file + "x", Target: "/seed"}}}
	if _, _, _, err := b.Run(t.Context(), absent); err == nil || !strings.Contains(err.Error(), file+"x") {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// TestNeed_Given: files and folders of this machine, with their owners and rights, where an image has others,
// a volume, memory or nothing. Only root of the container writes to a file, in its copy, and no one to a folder.
func TestNeed_Given(t *testing.T) {
	b := openBed(t)
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"conf/sub/key": 0o644, "conf/run.sh": 0o755, "a\nb": 0o644, "conf/.wh.x": 0o644} {
		testenv.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("1"), mode))
	}
	if os.Getuid() == 0 {
		testenv.OK(t, os.Lchown(filepath.Join(dir, "conf/sub/key"), 7, 8))
		testenv.OK(t, os.Chmod(filepath.Join(dir, "conf/sub/key"), 0o600))
	}
	testenv.OK(t, os.Symlink("sub/key", filepath.Join(dir, "conf/link")))
	conf, file, state := filepath.Join(dir, "conf"), filepath.Join(dir, "a\nb"), b.volume()
	mounts := append(on(state), docker.Mount{Source: conf, Target: "/data/sub"}, docker.Mount{Source: conf, Target: "/mem/conf"},
		docker.Mount{Source: file, Target: "/data/file"}, docker.Mount{Source: file, Target: "/new/deep/file"}, docker.Mount{Link: "/data/file", Target: "/new/link"})
	spec := docker.ContainerSpec{Command: []string{"serve", "80"}, Mounts: mounts, Tmpfs: []docker.Tmpfs{{Target: "/mem"}}}
	c := b.start(spec)
	const key = "-r-------- 7 8 /data/sub/sub/key 1\n"
	if got := b.do(c, "show", "/data"); os.Getuid() == 0 && !strings.Contains(got, key) || !strings.Contains(got, "-r-xr-xr-x 0 0 /data/sub/run.sh 1\n") ||
		!strings.Contains(got, "/data/from-image") || !strings.Contains(got, "-r--r--r-- 0 0 /data/file 1\n") || !strings.Contains(got, "/data/sub/.wh.x 1\n") {
		t.Errorf("below a volume:\n%s", got)
	}
	testenv.Contains(t, b.do(c, "show", "/mem"), "/mem/conf/run.sh 1\n")
	testenv.Contains(t, b.do(c, "show", "/new"), "drwxr-xr-x 0 0 /new/deep \n", "/new/deep/file 1\n", "/new/link")
	if out, code, err := c.Exec(t.Context(), []string{"/helper", "put", "/data/sub/run.sh", "x"}, nil); err != nil || code != 1 || !strings.Contains(out, "read-only") {
		t.Errorf("a folder was written: %d, %v, %s", code, err, out)
	}
	b.do(c, "put", "/new/deep/file", "x")
	testenv.Equal(t, len(testenv.Must(c.Written(t.Context()))(t)), 0, "written")
	testenv.Equal(t, string(testenv.Must(os.ReadFile(file))(t)), "1")

	spec.User, spec.Mounts = "7:8", []docker.Mount{{Source: conf, Target: "/data"}, {Source: file, Target: "/new/file"}}
	c = b.start(spec)
	got := b.do(c, "show", "/data")
	testenv.Check(t, !strings.Contains(got, "from-image"), "a folder in place of what the image has:\n%s", got)
	if out, code, err := c.Exec(t.Context(), []string{"/helper", "put", "/new/file", "x"}, nil); err != nil || code != 1 || !strings.Contains(out, "permission denied") {
		t.Errorf("a file was written: %d, %v, %s", code, err, out)
	}
	spec.Image, spec.Name, spec.Mounts = b.image, "db", []docker.Mount{{Source: file, Target: "/data"}}
	_, _, _, err := b.Run(t.Context(), spec)
	testenv.Fails(t, err, file+" into the container: ", "cannot overwrite directory")
}

// TestNeed_End: a clean end is one with code 0, by the stop signal, in time.
func TestNeed_End(t *testing.T) {
	b := openBed(t)
	for name, tt := range map[string]struct {
		spec  docker.ContainerSpec
		clean bool
		code  int
	}{
		"in order":       {docker.ContainerSpec{Command: []string{"serve", "80"}}, true, 0},
		"with an init":   {docker.ContainerSpec{Command: []string{"serve", "80"}, Init: true}, true, 0},
		"another signal": {docker.ContainerSpec{Command: []string{"serve", "80"}, StopSignal: "SIGKILL"}, false, 137},
		"deaf":           {docker.ContainerSpec{Command: []string{"deaf", "serve", "80"}}, false, 137},
		"by itself":      {docker.ContainerSpec{Command: []string{"exit", "3"}}, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bed{b.Group, t, b.image}
			c := b.start(tt.spec)
			if tt.code != 3 {
				testenv.Until(t, 20*time.Second, "it listens", func() bool { return len(c.Logs()) > 0 })
			}
			clean, err := c.End(t.Context(), time.Second)
			if exit := c.Exit(); err != nil || clean != tt.clean || exit == nil || exit.Code != tt.code {
				t.Errorf("clean %v, %v, exit %v", clean, err, exit)
			}
		})
	}
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
	env, code, err := c.Exec(t.Context(), []string{"/helper", "env", "print", "err", "exit", "4"}, nil)
	if err != nil || code != 4 || !strings.Contains(env, "A=1\n") || !strings.Contains(env, "C=2\n") ||
		!strings.Contains(env, "HOSTNAME=main.example\n") {
		t.Errorf("%d, %v, %s", code, err, env)
	}
	noise := b.do(c, "noise")
	testenv.Check(t, len(noise) == 64<<10, "%d bytes of output", len(noise))
	if out, code, err := c.Exec(t.Context(), []string{"/absent"}, nil); err == nil && code != 126 && code != 127 {
		t.Errorf("a command that does not exist: %d, %s", code, out)
	}
	if out, code, err := c.Exec(t.Context(), []string{"/helper", "put", "/x", ""}, nil); err != nil || code != 1 ||
		!strings.Contains(out, "permission denied") {
		t.Errorf("user 7 writes to /: %d, %v, %s", code, err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, _, err := c.Exec(ctx, []string{"/helper", "child", "sleep"}, nil); err == nil {
		t.Error("a command that sleeps has ended")
	}
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

// TestNeed_Bounds: a need gains no privileges and has a bound on its processes; a pause from outside is an
// incident, and why it does not respond.
func TestNeed_Bounds(t *testing.T) {
	b := openBed(t)
	for pids, want := range map[int64]string{0: fmt.Sprint(bench.DefaultProcesses), 50: "50"} {
		seen := make(chan bench.IncidentKind, 9)
		c := b.start(docker.ContainerSpec{Command: []string{"serve", "80"}, Limits: bench.Limits{PIDs: pids},
			OnIncident: func(in bench.Incident) { seen <- in.Kind }})
		docker := func(args ...string) string {
			out, err := exec.Command("docker", append(args, c.ID())...).CombinedOutput()
			testenv.Need(t, err == nil, "%v: %s", err, out)
			return strings.TrimSpace(string(out))
		}
		testenv.Equal(t, docker("inspect", "-f", "{{.HostConfig.PidsLimit}} {{.HostConfig.SecurityOpt}}"), want+" [no-new-privileges]")
		if pid := c.LocalPID(); pid > 0 {
			testenv.Contains(t, string(testenv.Must(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)), "NoNewPrivs:\t1\n")
		}
		testenv.Equal(t, c.Diagnose(t.Context()), "")
		docker("pause")
		testenv.Equal(t, <-seen, bench.IncidentPaused)
		testenv.Contains(t, c.Diagnose(t.Context()), "paused externally")
		docker("unpause")
		testenv.Equal(t, <-seen, bench.IncidentUnpaused)
	}
}

// TestNeed_LinkInImage: an image with something where a volume is copied is refused; the copy would be that of another folder.
func TestNeed_LinkInImage(t *testing.T) {
	b := openBed(t)
	seeded := b.volume()
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	testenv.OK(t, w.WriteHeader(&tar.Header{Name: "locbench-volume", Linkname: "/other", Typeflag: tar.TypeSymlink, Mode: 0o777}))
	testenv.OK(t, w.Close())
	image := strings.Replace(b.image, "need", "link", 1)
	cmd := exec.Command("docker", "import", "-", image)
	cmd.Stdin = &tree
	out, err := cmd.CombinedOutput()
	testenv.Need(t, err == nil, "%v: %s", err, out)
	t.Cleanup(func() { testenv.OK(t, b.RemoveImage(context.Background(), image)) })
	const want = "the image has a link or a file at /locbench-volume; remove it from the image"
	testenv.Fails(t, testenv.Err(b.CopyVolume(t.Context(), seeded, b.volume(), image, 1<<40)), want)
}
