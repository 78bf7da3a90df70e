//go:build acceptance

package hostusage_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/contender/docker/dockertest"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/contender/ready"
	"github.com/locbench/locbench/internal/testenv"
)

// obedient starts containers of the helper that does what it is asked to, on a local engine.
type obedient struct {
	engine *docker.Engine
	docker *launch.Docker
	image  string
}

func newObedient(t testing.TB) *obedient {
	t.Helper()
	e := dockertest.Engine(t)
	if !e.SameHost() {
		t.Skip("the engine is not on this machine: its cgroup files cannot be read by hand")
	}
	o := &obedient{engine: e, image: dockertest.Image(t, e)}
	var err error
	if o.docker, err = launch.NewDocker(t.Context(), e, "sample-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(time.Now().UnixNano(), 36), false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		testenv.OK(t, o.docker.Close(context.Background()))
	})
	return o
}

func (o *obedient) start(t testing.TB, limits bench.Limits) bench.Instance {
	t.Helper()
	inst, err := o.docker.Launch(t.Context(), bench.LaunchSpec{
		RunID: "sample", Name: "trial", Artifact: bench.Artifact{Image: o.image, Command: []string{"obey", "8080"}}, Port: 8080, Limits: limits,
	})
	testenv.OK(t, err)
	t.Cleanup(func() {
		testenv.OK(t, testenv.Err(inst.Stop(context.Background(), 0)))
	})
	testenv.OK(t,
		testenv.Err(ready.Wait(t.Context(), inst, ready.Question{Lenient: true, Timeout: 30 * time.Second}, nil)))
	return inst
}

func ask(t testing.TB, inst bench.Instance, what string, n int) {
	t.Helper()
	resp := testenv.Must(http.Get(inst.BaseURL() + "/" + what + "?n=" + strconv.Itoa(n)))(t)
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %d: %s %.200s, %v", what, n, resp.Status, text, err)
	}
}
