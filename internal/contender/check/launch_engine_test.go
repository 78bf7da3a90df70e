//go:build acceptance && engine && linux

package check

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/contender/ready"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/contact"
)

// The lifecycle checks of the reference contender, started by the real launchers.

func TestLifecycleOfProcess(t *testing.T) {
	t.Parallel()
	binary := buildReference(t)
	port := testenv.Must(launch.FreePort())(t)
	store := listenAsStore(t, "127.0.0.1")
	results := fromStartToStop(t, launch.Process{}, bench.LaunchSpec{
		RunID: testRun(t), Name: "go-nethttp-1", Port: port,
		Artifact: bench.Artifact{Command: []string{binary}, Dir: filepath.Dir(binary), BinarySize: fileSize(t, binary)},
	}, store, 2)
	want := "no-environment passed, no-store passed, threads (2 CPUs, limit 2.0) %[1]s, threads (2 CPUs, limit 1.5) %[1]s, " +
		"threads (1 CPU, limit 1.0) %[1]s, logs-port passed, logs-requests passed, image-size info, " + bench.CheckStillResponds + " passed, stops passed"
	// Whether limits of a process are enforced depends on the rights of the tests' user.
	got := outcome(results)
	testenv.Check(t, got == fmt.Sprintf(want, "info") || got == fmt.Sprintf(want, "skipped"), "%v", got)
}

func TestLifecycleInDocker(t *testing.T) {
	testenv.Docker(t)
	t.Parallel()
	engine := testenv.Must(docker.Connect(t.Context()))(t)
	defer engine.Close()
	binary := buildReference(t)
	image := "locbench-check-test/" + testRun(t) + ":latest"
	importImage(t, binary, image)
	launcher := testenv.Must(launch.NewDocker(t.Context(), engine, testRun(t), false))(t)
	defer func() {
		testenv.OK(t, launcher.Close(context.Background()))
	}()
	if !launcher.Network.Direct() {
		t.Skip("the engine is not on this machine")
	}
	results := fromStartToStop(t, launcher, bench.LaunchSpec{
		RunID: testRun(t), Name: "go-nethttp-1", Port: 8080,
		Artifact: bench.Artifact{Image: image, ImageSize: fileSize(t, binary)}, Limits: bench.Limits{Memory: 512 << 20},
	}, listenAsStore(t, launcher.HostAddress()), 2)
	if got, want := outcome(results), "no-environment passed, no-store passed, threads (2 CPUs, limit 2.0) info, "+
		"threads (2 CPUs, limit 1.5) info, threads (1 CPU, limit 1.0) info, logs-port passed, logs-requests passed, "+
		"image-size info, "+bench.CheckStillResponds+" passed, stops passed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// fromStartToStop runs all lifecycle checks in the order of a trial.
func fromStartToStop(t *testing.T, launcher Launcher, spec bench.LaunchSpec, store string, cpus int) []bench.CheckResult {
	t.Helper()
	env := func(url string) map[string]string {
		return map[string]string{"ELASTICSEARCH_URL": url, "PORT": fmt.Sprint(spec.Port)}
	}
	spec.Env = env(store)
	names := bench.LifecycleChecks()
	results, err := Lifecycle(t.Context(), launcher, LifecycleOptions{Spec: spec, Unreachable: env(UnreachableNeed), CPUs: cpus, Names: names})
	testenv.OK(t, err)
	inst := testenv.Must(launcher.Launch(t.Context(), spec))(t)
	defer inst.Stop(context.Background(), time.Second)
	testenv.OK(t, testenv.Err(ready.Wait(t.Context(), inst, ready.Question{Timeout: 20 * time.Second}, nil)))
	running := testenv.Must(Running(t.Context(), inst, RunningOptions{Spec: spec, Names: names}))(t)
	results = append(results, running...)
	results = append(results, StillResponds(t.Context(), inst, contact.Way{}, "/"))
	stop := testenv.Must(inst.Stop(t.Context(), ExitWithin))(t)
	results = append(results, Stopped(stop))
	for _, r := range results {
		t.Logf("%-30s %-8s %s (%s)", r.Name, r.Status, r.Value, r.Detail)
	}
	return results
}

func testRun(t *testing.T) string {
	return fmt.Sprintf("check-%d-%s", os.Getpid(), strings.ToLower(t.Name()))
}

// buildReference builds a static binary of the reference contender.
func buildReference(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "service")
	cmd := exec.Command("go", "build", "-race=false", "-o", out, "github.com/locbench/locbench/services/go-nethttp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	msg, err := cmd.CombinedOutput()
	testenv.Need(t, err == nil, "build: %v\n%s", err, msg)
	return out
}

func importImage(t *testing.T, binary, image string) {
	t.Helper()
	data, err := os.ReadFile(binary)
	testenv.OK(t, err)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	testenv.OK(t, w.WriteHeader(&tar.Header{Name: "service", Mode: 0o755, Size: int64(len(data))}))
	testenv.OK(t, testenv.Err(w.Write(data)))
	testenv.OK(t, w.Close())
	cmd := exec.Command("docker", "import", "--change", `ENTRYPOINT ["/service"]`, "-", image)
	cmd.Stdin = &archive
	msg, err := cmd.CombinedOutput()
	testenv.Need(t, err == nil, "import: %v\n%s", err, msg)
	t.Cleanup(func() {
		msg, err := exec.Command("docker", "rmi", image).CombinedOutput()
		testenv.Check(t, err == nil, "rmi: %v\n%s", err, msg)
	})
}

// listenAsStore responds to the first round trip of a contender, on an address of this machine.
func listenAsStore(t *testing.T, host string) string {
	t.Helper()
	l := testenv.Must(net.Listen("tcp", net.JoinHostPort(host, "0")))(t)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) })}
	served := make(chan struct{})
	go func() { defer close(served); s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-served })
	return "http://" + l.Addr().String()
}

func fileSize(t *testing.T, name string) int64 {
	t.Helper()
	info := testenv.Must(os.Stat(name))(t)
	return info.Size()
}
