package load

import (
	"fmt"
	"io"
	"math"
	"net"
	"testing"

	"golang.org/x/net/http2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
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

// odd2 is a server of HTTP/2 with rare behavior; see odd.
type odd2 struct {
	name, method   string
	serve          func(stream)
	kind           bench.ErrorKind
	failed, opened int64
	again          int64 // see odd
}

func (o odd2) repeated(n int64) odd2 {
	o.again = n
	return o
}

func (o odd2) by(method string) odd2 {
	o.method = method
	return o
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
	resetsStream := func(s stream) { _ = s.WriteRSTStream(s.id, http2.ErrCodeInternal) }
	refuses := func(s stream) { _ = s.WriteRSTStream(s.id, http2.ErrCodeRefusedStream) }
	closes := func(s stream) { s.conn.Close() }
	goneBefore := func(s stream) { s.goesAway(s.id - 2) }
	halfABody := func(s stream) {
		s.headers(0x88)
		_ = s.WriteData(s.id, false, []byte("hel"))
	}
	then := func(first, second func(stream)) func(stream) {
		return func(s stream) { first(s); second(s) }
	}
	goes := func(s stream) { s.goesAway(s.id) }
	works := func(name string, opened int64, serve func(stream)) odd2 {
		return odd2{name: name, serve: serve, opened: opened}
	}
	lost := func(name string, opened int64, serve func(stream)) odd2 {
		return odd2{name: name, serve: serve, kind: bench.ErrReset, failed: all, opened: opened}
	}
	for _, test := range []odd2{
		works("plain", once, stream.responds),
		works("interim response", once, then(func(s stream) { s.headers(0x08, 3, '1', '0', '3') }, stream.responds)),
		works("GOAWAY after the response", each, then(stream.responds, goes)),
		works("GOAWAY before the response", each, then(goes, stream.responds)),
		works("GOAWAY and close", each, then(then(stream.responds, goes), closes)).repeated(-1),
		works("silent close", each, then(stream.responds, closes)).repeated(-1),
		works("silent reset", each, then(stream.responds, func(s stream) { resets(s.conn) })).repeated(-1),
		works("silent half close", each, then(stream.responds, func(s stream) { halfCloses(s.conn) })).repeated(-1),
		works("GOAWAY instead", each, instead(goneBefore)),
		works("GOAWAY instead, POST", each, instead(goneBefore)).by("POST"),
		works("refused", each, instead(refuses)),
		works("refused, POST", each, instead(refuses)).by("POST"),
		works("close instead", each, instead(closes)).repeated(each - 1),
		{
			name: "close instead, POST", method: "POST", serve: instead(closes),
			kind: bench.ErrReset, failed: all / 2, opened: each / 2,
		},

		lost("close at once", twice, nil).repeated(-1),
		lost("no response", twice, closes).repeated(1),
		lost("all refused", twice, refuses),
		lost("GOAWAY at once", twice, func(s stream) { s.goesAway(0) }),
		lost("reset stream", each, resetsStream), // the connection, too, is not used again
		{name: "half a body", serve: then(halfABody, closes), kind: bench.ErrCut, failed: all, opened: each},
		{name: "half a body, reset stream", serve: then(halfABody, resetsStream), kind: bench.ErrCut, failed: all, opened: each},
		{name: "silence", serve: func(stream) {}, kind: bench.ErrTimeout, failed: all, again: -1}, // how many it opens depends on timing
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := newOdd2(t, test.serve)
			p := plan2(server.url, 1, oddRequests)
			p.Requests[0].Method = test.method
			if test.kind == bench.ErrTimeout {
				p.Timeout = 50 * ms
			}
			l := run(t, Engine{}, p)
			holds(t, l, nil, fmt.Sprintf("sent=%d failed=%d", oddRequests, test.failed))
			testenv.Equal(t, l.Failed[test.kind], test.failed, test.kind)
			server.opens(t, l, test.opened, test.again)
		})
	}
}
