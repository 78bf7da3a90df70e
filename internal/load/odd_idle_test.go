package load

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// idler is a server that ends the unused connections when the first request arrives, and responds
// after that.
type idler struct {
	*oddServer
	connections int            // number of connections by then
	end         func(net.Conn) // nil: it ends none
	before      func()         // the first response; may be nil
	asked       atomic.Int64
	late        atomic.Int64 // requests on connections that it had ended

	mu    sync.Mutex
	conns []net.Conn
	ended []net.Conn
}

// start makes s accept connections. Its other fields are set before.
func (s *idler) start(t *testing.T, config *tls.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oddServer = accepting(t, func(conn net.Conn) {
		if config != nil {
			conn = tls.Server(conn, config)
			_ = conn.(*tls.Conn).Handshake()
		}
		s.serve(conn)
	})
	if config != nil {
		s.url = "https" + s.url[len("http"):]
	}
}

func (s *idler) serve(conn net.Conn) {
	s.mu.Lock()
	s.conns = append(s.conns, conn)
	s.mu.Unlock()
	for head := make([]byte, 1<<10); ; {
		if _, err := conn.Read(head); err != nil { // a short request arrives at once
			return
		}
		if s.asked.Add(1) == 1 {
			s.endOthers(conn)
		}
		s.mu.Lock()
		ended := slices.Contains(s.ended, conn)
		s.mu.Unlock()
		if ended {
			s.late.Add(1)
			continue
		}
		if _, err := io.WriteString(conn, okResponse); err != nil {
			return
		}
	}
}

func (s *idler) endOthers(conn net.Conn) {
	for there := 0; there < s.connections; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		there = len(s.conns)
		s.mu.Unlock()
	}
	s.mu.Lock()
	for _, other := range s.conns {
		if other != conn && s.end != nil {
			s.ended = append(s.ended, other)
			s.end(other)
		}
	}
	s.mu.Unlock()
	time.Sleep(20 * time.Millisecond) // the others begin after that
	if s.before != nil {
		s.before()
	}
}

// A connection that the server ended before its first request is replaced, without a failure. The
// first response comes late enough for all of them.
func TestConnectionsThatEndBeforeTheyAreUsed(t *testing.T) {
	half := func(conn net.Conn) { _ = conn.(interface{ CloseWrite() error }).CloseWrite() }
	writes := func(text string) func(net.Conn) { return func(conn net.Conn) { io.WriteString(conn, text) } }
	secure := httptest.NewTLSServer(nil)
	t.Cleanup(secure.Close)
	trusted := Engine{TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig}
	for name, end := range map[string]func(net.Conn){
		"closed":      closes,
		"half closed": half,
		"reset":       resets,
		"408 and closed": func(conn net.Conn) {
			io.WriteString(conn, gaveUp)
			conn.Close()
		},
		"408 and half closed": func(conn net.Conn) {
			io.WriteString(conn, gaveUp)
			half(conn)
		},
		"408 and open":          writes(gaveUp),
		"interim response":      writes("HTTP/1.1 100 Continue\r\n\r\n"),
		"a byte":                writes("x"),
		"a whole good response": writes(okResponse),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachOf(t, slices.Concat(loops(), []driver{{bench.LoopVegeta + " TLS", trusted}}), func(t *testing.T, e Engine) {
				t.Parallel()
				const connections = 4
				var config *tls.Config
				if e.TLS != nil {
					config = secure.TLS
				}
				server := &idler{connections: connections, end: end}
				server.start(t, config)
				l := run(t, e, plan(server.url, connections, 100*time.Millisecond))
				if l.FailedTotal() != 0 || l.Sent == 0 || l.Sent != server.asked.Load() || server.late.Load() != 0 {
					t.Errorf("%d sent, failed %v %v, the server got %d requests, after the end %d",
						l.Sent, l.Failed, l.Examples, server.asked.Load(), server.late.Load())
				}
				server.sees(t, 2*connections-1)
				if n := l.Reconnects; l.Succeeded > 0 && n != connections-1 {
					t.Errorf("%q: %d sent, %d succeeded, %d in the lead-in", l.Warnings, l.Sent, l.Succeeded, l.Lead)
				}
			})
		})
	}
}

// The connections of a ramp are opened when they start, so none is idle before.
func TestRampOpensConnectionsWhenTheyBegin(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		t.Parallel()
		const from, to = 2, 5
		var early atomic.Int64
		server := &idler{connections: from}
		server.before = func() { early.Store(server.accepted.Load()) }
		server.start(t, nil)
		p := plan(server.url, to, 200*time.Millisecond)
		p.Step.RampFrom = from
		l := run(t, e, p)
		if early.Load() != from || l.FailedTotal() != 0 || l.Reconnects != 0 || server.accepted.Load() > to {
			t.Errorf("%d connections at first, %d in all, failed %v, %q",
				early.Load(), server.accepted.Load(), l.Failed, l.Warnings)
		}
	})
}
