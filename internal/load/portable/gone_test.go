//go:build unix

package portable

import (
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// pair returns a connection and its other end.
func pair(t *testing.T) (conn, other net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	defer listener.Close()
	conn, err = net.Dial("tcp", listener.Addr().String())
	testenv.Need(t, err == nil, "%v", err)
	other, err = listener.Accept()
	testenv.Need(t, err == nil, "%v", err)
	t.Cleanup(func() {
		conn.Close()
		other.Close()
	})
	return conn, other
}

// An idle connection is not used again after the contender has closed it, or has sent something
// without a request; an expired deadline changes nothing.
func TestGone(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(other net.Conn)
		gone bool
	}{
		{"open", func(net.Conn) {}, false},
		{"closed", func(other net.Conn) { other.Close() }, true},
		{"reset", func(other net.Conn) {
			_ = other.(*net.TCPConn).SetLinger(0)
			other.Close()
		}, true},
		{"surplus", func(other net.Conn) { io.WriteString(other, "x") }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, other := pair(t)
			testenv.Check(t, !watch(conn)(), "gone before anything has happened")
			testenv.OK(t, conn.SetDeadline(time.Unix(1, 0)))
			test.do(other)
			if !test.gone {
				testenv.Check(t, !watch(conn)(), "gone, though it is open")
				return
			}
			testenv.Until(t, 10*time.Second, "it is noticed", func() bool { return watch(conn)() })
		})
	}
}

// A connection that cannot be checked is not gone. TLS sends its own messages without a request.
func TestGone_Unknown(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	b.Close()
	testenv.Check(t, !watch(a)(), "a pipe is gone")
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	plain := testenv.Must(net.Dial("tcp", server.Listener.Addr().String()))(t)
	conn := tls.Client(&underTLS{Conn: plain}, &tls.Config{InsecureSkipVerify: true})
	defer conn.Close()
	testenv.OK(t, conn.Handshake())
	testenv.Check(t, !watch(conn)(), "a connection with TLS is gone, though it is open")
	server.CloseClientConnections()
	testenv.Until(t, 10*time.Second, "it is noticed", func() bool { return watch(conn)() })
}
