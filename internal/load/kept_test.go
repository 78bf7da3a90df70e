package load

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/testenv"
)

// A ladder over living connections opens each of them once, up and down again, closed loop and
// open.
func TestConnectionsAreKeptBetweenSteps(t *testing.T) {
	server := newCounting(t, hello)
	var keep Kept
	defer keep.Close()
	e := Engine{Keep: &keep}
	succeeded := int64(0)
	step := func(s bench.Step, connections int64) {
		t.Helper()
		p := plan(server.URL, 0, 0)
		p.Step = s
		l := run(t, e, p)
		succeeded += l.Succeeded
		if n := server.connections.Load(); n != connections {
			t.Errorf("%+v: %d connections so far, want %d", s, n, connections)
		}
		if l.Succeeded == 0 || len(l.Failed) > 0 || strings.Contains(l.Warnings.Join("\n"), "opened again") {
			t.Errorf("%d succeeded, failed %v, %q", l.Succeeded, l.Failed, l.Warnings)
		}
	}
	const long = time.Minute
	step(bench.Step{Connections: 2, MaxRequests: 200, Duration: long}, 2)
	step(bench.Step{Connections: 8, MaxRequests: 200, Duration: long}, 8)
	step(bench.Step{Connections: 3, MaxRequests: 200, Duration: long}, 8)
	step(bench.Step{Rate: 200, MaxConnections: 5, MaxRequests: 20, Duration: long}, 8)
	step(bench.Step{Connections: 8, MaxRequests: 200, Duration: long}, 8)
	if succeeded != server.count(200) {
		t.Errorf("%d succeeded, the server answered %d", succeeded, server.count(200))
	}
}

// What the contender has closed meanwhile is opened again before the clock starts.
func TestKeptConnectionsThatWereClosed(t *testing.T) {
	var answered, closed atomic.Int64
	url := raw(t, func(conn net.Conn, _ string) bool {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
		if answered.Add(1) != 2 {
			return true
		}
		time.Sleep(20 * time.Millisecond)
		conn.Close()
		closed.Add(1)
		return false
	})
	var keep Kept
	defer keep.Close()
	p := plan(url, 1, time.Minute)
	p.Step.MaxRequests = 2
	run(t, Engine{Keep: &keep}, p)
	testenv.Until(t, 10*time.Second, "the connection is closed", func() bool { return closed.Load() > 0 })
	p.Step.MaxRequests = 5
	if l := run(t, Engine{Keep: &keep}, p); l.Succeeded != 5 || len(l.Failed) > 0 {
		t.Errorf("%d succeeded, failed %v %v", l.Succeeded, l.Failed, l.Examples)
	}
}

func TestKeptConnectionsAreClosed(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	var ended atomic.Int64
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			ended.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	var keep Kept
	p := plan(server.URL, 4, time.Minute)
	p.Step.MaxRequests = 40
	run(t, Engine{Keep: &keep}, p)
	keep.Close()
	run(t, Engine{Keep: &keep}, p) // keeps nothing any more
	testenv.Until(t, 10*time.Second, "8 connections are closed", func() bool { return ended.Load() >= 8 })
}

func TestOpenLoopSpeaksTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	defer server.Close()
	var keep Kept
	defer keep.Close()
	e := Engine{Keep: &keep, TLS: &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}}
	for range 2 {
		p := openPlan(server.URL, 30, 2, 400*time.Millisecond) // with pauses in which connections are idle
		// The last one is due 33 ms before the end: a handshake may take longer.
		if l := runOpen(t, e, p); l.Succeeded+l.Drain != 12 || len(l.Failed) > 0 {
			t.Errorf("%d succeeded, %d after the end, failed %v %v", l.Succeeded, l.Drain, l.Failed, l.Examples)
		}
	}
}
