package load

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A connection that the server ended before its first request is replaced, without a failure. The
// first response comes late enough for all of them.
func TestConnectionsThatEndBeforeTheyAreUsed(t *testing.T) {
	half := func(conn net.Conn) { _ = conn.(interface{ CloseWrite() error }).CloseWrite() }
	writes := func(text string, then func(net.Conn)) func(net.Conn) {
		return func(conn net.Conn) { io.WriteString(conn, text); then(conn) }
	}
	secure := &site{}
	trusted := secure.start(t, true, false)
	for name, end := range map[string]func(net.Conn){
		"closed": closes, "half closed": half, "reset": resets, "408 and closed": writes(gaveUp, closes), "408 and half closed": writes(gaveUp, half),
		"408 and open": writes(gaveUp, leaves), "interim response": writes("HTTP/1.1 100 Continue\r\n\r\n", leaves), "a byte": writes("x", leaves),
		"a whole good response": writes(okResponse, leaves),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachOf(t, slices.Concat(loops(), []driver{{bench.LoopVegeta + " TLS", trusted}}), func(t *testing.T, e Engine) {
				t.Parallel()
				const connections = 4
				s := &idler{end: end, connections: connections}
				server := accepting(t, func(conn net.Conn) {
					if e.TLS != nil {
						conn = tls.Server(conn, secure.TLS)
						_ = conn.(*tls.Conn).Handshake()
					}
					s.serve(conn)
				})
				url := server.url
				if e.TLS != nil {
					url = "https" + url[len("http"):]
				}
				l := run(t, e, plan(url, connections, 100*ms))
				s.mu.Lock()
				defer s.mu.Unlock()
				holds(t, l, nil, fmt.Sprintf("failed=0 sent>0 sent=%d", s.asked))
				testenv.Equal(t, s.late, 0, "requests on connections that have ended")
				server.sees(t, 2*connections-1)
				testenv.Check(t, l.Succeeded == 0 || l.Reconnects == connections-1, "%d opened again: %q", l.Reconnects, l.Warnings)
			})
		})
	}
}

// idler ends the unused connections when the first request arrives, and responds after that.
type idler struct {
	connections int // by then
	end         func(net.Conn)

	mu           sync.Mutex
	conns, ended []net.Conn
	asked, late  int
}

func (s *idler) serve(conn net.Conn) {
	s.mu.Lock()
	s.conns = append(s.conns, conn)
	s.mu.Unlock()
	for head := make([]byte, 1<<10); testenv.Err(conn.Read(head)) == nil; { // a short request arrives at once
		s.mu.Lock()
		if s.asked++; s.asked == 1 {
			s.endOthers(conn)
		}
		ended := slices.Contains(s.ended, conn)
		if ended {
			s.late++
		}
		if s.mu.Unlock(); ended {
			continue
		}
		if _, err := io.WriteString(conn, okResponse); err != nil {
			return
		}
	}
}

func (s *idler) endOthers(conn net.Conn) {
	for len(s.conns) < s.connections {
		s.mu.Unlock()
		time.Sleep(ms)
		s.mu.Lock()
	}
	for _, other := range s.conns {
		if other != conn {
			s.ended = append(s.ended, other)
			s.end(other)
		}
	}
	time.Sleep(20 * ms) // the others begin after that
}
