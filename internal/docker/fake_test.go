package docker

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// reply returns a scripted response.
func reply(status int, body string) fakedocker.Response {
	return fakedocker.Response{Status: status, Body: body}
}

const (
	refused = `{"message":"x"}`
	failed  = "Error response from daemon: x"
	ours    = "/containers/" + fakedocker.ID
	bridge  = "/networks/" + fakedocker.NetworkID
)

// engineOf returns the Engine of a fake, without a socket, so time can be virtual.
func engineOf(t *testing.T, f *fakedocker.Engine) *Engine {
	t.Helper()
	cli := testenv.Must(endpoint{host: "tcp://engine:2375", version: f.API, transport: f.Transport()}.client())(t)
	t.Cleanup(func() { cli.Close() })
	return &Engine{cli: cli, host: "tcp://engine:2375", patience: infoTimeout}
}

// groupOf returns what the run r1 has in a fake.
func groupOf(t *testing.T, f *fakedocker.Engine) *Group {
	t.Helper()
	return &Group{Engine: engineOf(t, f), id: "r1", owner: "o"}
}

// containerOf returns the fake's container, as Run returns it once it has started.
func containerOf(t *testing.T, f *fakedocker.Engine) *Container {
	t.Helper()
	c := &Container{engine: engineOf(t, f), id: fakedocker.ID, started: f.Started(), startedAt: time.Now(),
		copied: make(chan struct{}), exited: make(chan struct{}), cancel: func() {}, signal: "SIGTERM"}
	close(c.copied)
	return c
}

// ends follows a container until it has exited.
func ends(t *testing.T, c *Container) bench.Exit {
	t.Helper()
	c.wait(t.Context())
	return *c.Exit()
}
