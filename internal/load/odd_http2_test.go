package load

import (
	"io"
	"math"
	"net"
	"testing"

	"golang.org/x/net/http2"

	"github.com/locbench/locbench/internal/bench"
)

// stream is a request over HTTP/2: the n-th on its connection, from 1.
type stream struct {
	*http2.Framer
	conn net.Conn
	id   uint32
	n    int
	last *uint32 // on its connection, of those that the server takes
}

// responds ends the stream with status 200 and five bytes.
func (s stream) responds() {
	s.headers(0x88) // :status 200
	_ = s.WriteData(s.id, true, []byte("hello"))
}

// headers sends a block of encoded headers.
func (s stream) headers(block ...byte) {
	_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block, EndHeaders: true})
}

// goesAway sends that streams after the last one are not taken.
func (s stream) goesAway(last uint32) {
	*s.last = last
	_ = s.WriteGoAway(last, http2.ErrCodeNo, nil)
}

// newOdd2 returns a server of HTTP/2 without TLS that does with a stream what no library would.
func newOdd2(t *testing.T, serve func(s stream)) *oddServer {
	return accepting(t, func(conn net.Conn) {
		if serve == nil {
			conn.Close()
			return
		}
		if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		framer := http2.NewFramer(conn, conn)
		_ = framer.WriteSettings()
		last := uint32(math.MaxUint32)
		for n := 0; ; {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			switch f := frame.(type) {
			case *http2.SettingsFrame:
				if !f.IsAck() {
					_ = framer.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				if f.StreamID > last {
					continue // sent before GOAWAY arrived; a client that got a response would have to use it
				}
				n++
				serve(stream{framer, conn, f.StreamID, n, &last})
			}
		}
	})
}

// The odd servers of HTTP/2, with the rules of those of HTTP/1.1. What a server says it did not
// take is sent again, whatever its method.
func TestOddServersOfHTTP2(t *testing.T) {
	const all, each, once, twice = oddRequests, oddRequests, 1, oddRequests + 1
	instead := func(of func(stream)) func(stream) { // for every request but the first on a connection
		return func(s stream) {
			if s.n == 1 {
				s.responds()
			} else {
				of(s)
			}
		}
	}
	refuses := func(s stream) { _ = s.WriteRSTStream(s.id, http2.ErrCodeRefusedStream) }
	for _, test := range []struct {
		name   string
		method string
		serve  func(stream)
		kind   bench.ErrorKind
		failed int64
		opened int64
	}{
		{name: "plain", serve: stream.responds, opened: once},
		{name: "interim response", serve: func(s stream) {
			s.headers(0x08, 3, '1', '0', '3') // :status 103
			s.responds()
		}, opened: once},
		{name: "GOAWAY after the response", serve: func(s stream) { s.responds(); s.goesAway(s.id) }, opened: each},
		{name: "GOAWAY before the response", serve: func(s stream) { s.goesAway(s.id); s.responds() }, opened: each},
		{
			name:  "GOAWAY and close",
			serve: func(s stream) { s.responds(); s.goesAway(s.id); s.conn.Close() }, opened: each,
		},
		{name: "silent close", serve: func(s stream) { s.responds(); s.conn.Close() }, opened: each},
		{name: "silent reset", serve: func(s stream) { s.responds(); resets(s.conn) }, opened: each},
		{name: "silent half close", serve: func(s stream) { s.responds(); halfCloses(s.conn) }, opened: each},
		{name: "GOAWAY instead", serve: instead(func(s stream) { s.goesAway(s.id - 2) }), opened: each},
		{
			name: "GOAWAY instead, POST", method: "POST",
			serve: instead(func(s stream) { s.goesAway(s.id - 2) }), opened: each,
		},
		{name: "refused", serve: instead(refuses), opened: each},
		{name: "refused, POST", method: "POST", serve: instead(refuses), opened: each},
		{name: "close instead", serve: instead(func(s stream) { s.conn.Close() }), opened: each},
		{
			name: "close instead, POST", method: "POST", serve: instead(func(s stream) { s.conn.Close() }),
			kind: bench.ErrReset, failed: all / 2, opened: each / 2,
		},

		{name: "close at once", kind: bench.ErrReset, failed: all, opened: twice},
		{
			name: "no response", serve: func(s stream) { s.conn.Close() },
			kind: bench.ErrReset, failed: all, opened: twice,
		},
		{name: "all refused", serve: refuses, kind: bench.ErrReset, failed: all, opened: twice},
		{
			name: "GOAWAY at once", serve: func(s stream) { s.goesAway(0) },
			kind: bench.ErrReset, failed: all, opened: twice,
		},
		{
			name: "reset stream", serve: func(s stream) { _ = s.WriteRSTStream(s.id, http2.ErrCodeInternal) },
			kind: bench.ErrReset, failed: all, opened: each, // the connection, too, is not used again
		},
		{name: "half a body", serve: func(s stream) {
			s.headers(0x88)
			_ = s.WriteData(s.id, false, []byte("hel"))
			s.conn.Close()
		}, kind: bench.ErrReset, failed: all, opened: each},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := newOdd2(t, test.serve)
			p := plan2(server.url, 1, oddRequests)
			p.Requests[0].Method = test.method
			l := run(t, Engine{}, p)
			if l.Sent != oddRequests || l.FailedTotal() != test.failed || l.Failed[test.kind] != test.failed {
				t.Errorf("%d sent, failed %v %v; want %d of kind %q", l.Sent, l.Failed, l.Examples, test.failed, test.kind)
			}
			server.sees(t, test.opened)
			if l.Succeeded > 0 && reopened(l) != test.opened-1 {
				t.Errorf("%q, want %d opened again", l.Warnings, test.opened-1)
			}
		})
	}
}
