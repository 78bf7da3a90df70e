//go:build acceptance && engine

package docker_test

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/contender/docker/dockertest"
)

// proxy forwards connections to an engine's socket until it is cut: an engine that goes away, while
// the real one keeps running.
type proxy struct {
	l      net.Listener
	target string
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "engine.sock"))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, target: target}
	p.wg.Go(p.accept)
	t.Cleanup(func() { l.Close(); p.cut(); p.wg.Wait() })
	return p
}

func (p *proxy) accept() {
	for {
		in, err := p.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("unix", p.target)
		if err != nil {
			in.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, in, out)
		p.mu.Unlock()
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			p.wg.Go(func() {
				io.Copy(pair[0], pair[1])
				pair[0].Close()
			})
		}
	}
}

// cut breaks all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func TestLostEngine(t *testing.T) {
	real := dockertest.Engine(t)
	socket, ok := strings.CutPrefix(real.Host(), "unix://")
	if !ok {
		t.Skip("the engine is not reached through a socket file")
	}
	image := dockertest.Image(t, real)
	p := newProxy(t, socket)
	t.Setenv("DOCKER_HOST", "unix://"+p.l.Addr().String())
	e, err := docker.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	defer func() { // with the real engine: what was lost is found by its label
		if _, err := real.Clean(context.Background(), runID(t), nil); err != nil {
			t.Error(err)
		}
		if left := dockertest.Left(t, real, runID(t)); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}()

	// Connections break, but the engine runs: the exit of the container is still reported.
	c, _, err := e.Run(t.Context(), spec(t, image, "deaf", "serve", "8080"))
	if err != nil {
		t.Fatal(err)
	}
	waitLog(t, c, "listening")
	p.cut()
	select {
	case <-c.Exited():
		t.Fatalf("a broken connection was taken for the end: %+v", c.Exit())
	case <-time.After(500 * time.Millisecond):
	}
	if r, err := c.Stop(t.Context(), 0); err != nil || !r.Killed || r.Exit.Code != 137 {
		t.Errorf("%+v, %v", r, err)
	}

	// The engine does not come back: the instance counts as exited, and its log says why.
	c, _, err = e.Run(t.Context(), spec(t, image, "deaf", "serve", "8080"))
	if err != nil {
		t.Fatal(err)
	}
	waitLog(t, c, "listening")
	p.l.Close()
	p.cut()
	if exit := ended(t, c); exit.Code != -1 {
		t.Errorf("%+v", exit)
	}
	if logs := c.Logs(); !strings.Contains(logs[len(logs)-1].Text, "lost contact with the container") {
		t.Errorf("%v", logs)
	}
	if _, err := c.Usage(t.Context()); err == nil {
		t.Error("counters of a lost container")
	}
	if r, err := c.Stop(t.Context(), time.Second); err == nil || !r.ExitedBeforeStop {
		t.Errorf("%+v, %v", r, err)
	}
}
