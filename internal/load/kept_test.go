package load

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Steps with more and then fewer connections open each connection once, closed loop and open.
func TestConnectionsAreKeptBetweenSteps(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		server := newCounting(t, hello)
		var keep Kept
		defer keep.Close()
		e.Keep = &keep
		succeeded := int64(0)
		step := func(p Plan, connections int64) {
			t.Helper()
			l := run(t, e, p)
			succeeded += l.Succeeded
			server.opened(t, connections)
			if l.Succeeded != p.Step.MaxRequests-l.Dropped || l.Warnings.Has(bench.WarnReopened) {
				t.Errorf("%d succeeded, failed %v, %q", l.Succeeded, l.Failed, l.Warnings)
			}
		}
		step(counted(server.URL, 2, 200), 2)
		step(counted(server.URL, 8, 200), 8)
		step(counted(server.URL, 3, 200), 8)
		step(openCounted(server.URL, 500, 5, 20), 8)
		step(counted(server.URL, 8, 200), 8)
		server.answered(t, 200, succeeded)
	})
}

// Connections that the contender closed meanwhile are opened again before the clock starts.
func TestKeptConnectionsThatWereClosed(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		var answered, closed atomic.Int64
		hangUp := make(chan struct{})
		url := raw(t, func(conn net.Conn, _ string) bool {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
			if answered.Add(1) != 2 {
				return true
			}
			<-hangUp
			conn.Close()
			closed.Add(1)
			return false
		})
		var keep Kept
		defer keep.Close()
		e.Keep = &keep
		run(t, e, counted(url, 1, 2))
		close(hangUp)
		testenv.Until(t, 10*time.Second, "the connection is closed", func() bool { return closed.Load() > 0 })
		if l := run(t, e, counted(url, 1, 5)); l.Succeeded != 5 || len(l.Failed) > 0 {
			t.Errorf("%d succeeded, failed %v %v", l.Succeeded, l.Failed, l.Examples)
		}
	})
}

func TestKeptConnectionsAreClosed(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
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
		e.Keep = &keep
		run(t, e, counted(server.URL, 4, 40))
		keep.Close()
		run(t, e, counted(server.URL, 4, 40)) // keeps nothing after Close
		testenv.Until(t, 10*time.Second, "8 connections are closed", func() bool { return ended.Load() >= 8 })
	})
}

func TestOpenLoopSpeaksTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	defer server.Close()
	var keep Kept
	defer keep.Close()
	e := Engine{Keep: &keep, TLS: &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}}
	for range 2 {
		// With pauses of 33 ms, in which idle connections are checked.
		if l := run(t, e, openCounted(server.URL, 30, 2, 8)); l.Succeeded != 8-l.Dropped || l.Succeeded == 0 {
			t.Errorf("%d succeeded, failed %v %v", l.Succeeded, l.Failed, l.Examples)
		}
	}
}
