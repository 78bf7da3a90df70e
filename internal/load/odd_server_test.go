package load

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/load/wire"
)

// response is what a server does for request n on a connection, from 1, whose head it has read. It
// returns whether the server continues reading.
type response func(conn net.Conn, n int) bool

// says sends text as the response to each request, and continues.
func says(text string) response {
	return func(conn net.Conn, _ int) bool {
		_, err := io.WriteString(conn, text)
		return err == nil
	}
}

// ends does the same, and ends the connection in one way or another.
func (a response) ends(way func(net.Conn)) response {
	return func(conn net.Conn, n int) bool {
		a(conn, n)
		way(conn)
		return false
	}
}

// then does b from the second request of a connection on.
func (a response) then(b response) response {
	return func(conn net.Conn, n int) bool {
		if n == 1 {
			return a(conn, n)
		}
		return b(conn, n)
	}
}

// endless sends a beginning, and then pieces: three times as much as a head may have, which a
// client cannot distinguish from endless. Then it waits until the client hangs up.
func endless(begin, piece string, pause time.Duration) response {
	return func(conn net.Conn, _ int) bool {
		_, err := io.WriteString(conn, begin)
		for sent := 0; err == nil && piece != "" && sent < 3*wire.MaxHead; sent += len(piece) {
			time.Sleep(pause)
			_, err = io.WriteString(conn, piece)
		}
		io.Copy(io.Discard, conn)
		return false
	}
}

// inPieces sends a response byte by byte.
func inPieces(text string) response {
	return func(conn net.Conn, _ int) bool {
		for i := range len(text) {
			if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
				return false
			}
			time.Sleep(50 * time.Microsecond)
		}
		return true
	}
}

// The ways to end a connection.

func closes(conn net.Conn) { conn.Close() }

// resets closes conn with a reset.
func resets(conn net.Conn) {
	below := conn
	if secure, ok := conn.(*tls.Conn); ok {
		below = secure.NetConn()
	}
	_ = below.(*net.TCPConn).SetLinger(0)
	below.Close()
}

// truncates closes conn without the end that TLS has.
func truncates(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	conn.Close()
}

// halfCloses sends no more, and reads whatever still comes.
func halfCloses(conn net.Conn) {
	_ = conn.(interface{ CloseWrite() error }).CloseWrite()
	io.Copy(io.Discard, conn)
}

// leaves keeps conn open, and neither reads nor sends.
func leaves(net.Conn) {}

// soon resets conn a little later, so most of what was sent is read before the reset overtakes it.
func soon(conn net.Conn) {
	time.Sleep(5 * time.Millisecond)
	resets(conn)
}

// newOdd starts o, over TLS if there is a config.
func newOdd(t *testing.T, o odd, config *tls.Config) *oddServer {
	s := accepting(t, func(conn net.Conn) {
		if o.body > 1<<20 { // larger than the buffers in between
			_ = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		if config != nil {
			conn = tls.Server(conn, config)
		}
		if o.accept != nil && !o.accept(conn, 0) {
			return
		}
		r := bufio.NewReader(conn)
		for n := 1; ; n++ {
			for line := ""; line != "\r\n"; {
				var err error
				if line, err = r.ReadString('\n'); err != nil {
					conn.Close()
					return
				}
			}
			if o.body <= 1<<20 {
				_, _ = io.CopyN(io.Discard, r, int64(o.body))
			}
			if !o.serve(conn, n) {
				return
			}
		}
	})
	if config != nil {
		s.url = "https" + strings.TrimPrefix(s.url, "http")
	}
	return s
}
