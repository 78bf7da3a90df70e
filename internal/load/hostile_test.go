package load

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/wire"
)

// reset makes the closing of conn a reset.
func reset(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }

// Each of these servers has its kind of error, which every request to it meets, and the step ends.
// They send three times what a head may have, which to a client is as good as endless; how much is
// read and kept of what has no end is counted in portable and fast.
func TestHostileServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	const most = 3 * wire.MaxHead
	long := func(begin, piece string, pause time.Duration) func(net.Conn, string) bool {
		return func(conn net.Conn, _ string) bool {
			_, err := io.WriteString(conn, begin)
			for sent := 0; err == nil && piece != "" && sent < most; sent += len(piece) {
				time.Sleep(pause)
				_, err = io.WriteString(conn, piece)
			}
			io.Copy(io.Discard, conn) // until the client hangs up
			return false
		}
	}
	cut := func(answer string) func(net.Conn, string) bool {
		return func(conn net.Conn, _ string) bool {
			io.WriteString(conn, answer)
			time.Sleep(5 * time.Millisecond) // so that it is mostly read before the reset overtakes it
			reset(conn)
			return false
		}
	}
	block := strings.Repeat("x", 16<<10)
	for _, test := range []struct {
		name  string
		serve func(net.Conn, string) bool
		kind  bench.ErrorKind
	}{
		{"endless header", long(ok, "X-Header: "+block+"\r\n", 0), bench.ErrOther},
		{"endless header line", long(ok+"X-Header: ", block, 0), bench.ErrOther},
		{"endless body", long(ok+"\r\n", block, 0), bench.ErrTimeout},
		{"endless chunks", long(ok+"Transfer-Encoding: chunked\r\n\r\n", "4000\r\n"+block+"\r\n", 0), bench.ErrTimeout},
		{"slow drip of a header", long(ok, "X: y\r\n", 10*time.Millisecond), bench.ErrTimeout},
		{"slow drip of a body", long(ok+"Content-Length: 100000\r\n\r\n", "x", 10*time.Millisecond), bench.ErrTimeout},
		{"silence", long("", "", 0), bench.ErrTimeout},
		{"reset at once", cut(""), bench.ErrReset},
		{"reset in the status line", cut("HTTP/1.1 2"), bench.ErrReset},
		{"reset in a header", cut(ok + "Content-Le"), bench.ErrReset},
		{"reset in the body", cut(ok + "Content-Length: 10\r\n\r\nhello"), bench.ErrReset},
		{"reset in a chunk", cut(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhe"), bench.ErrReset},
		{"reset instead of the end", cut(ok + "\r\nhello"), bench.ErrReset},
		{"garbage", long("\x00\xff\x16\x03\x01", "\x00\n\xff", 0), bench.ErrOther},
		{"100,000 interim answers", long(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100_000), "", 0), bench.ErrOther},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eachLoop(t, func(t *testing.T, e Engine) {
				t.Parallel()
				p := counted(raw(t, test.serve), 4, 8)
				if test.kind == bench.ErrTimeout {
					p.Timeout = 100 * time.Millisecond
				}
				l := run(t, e, p)
				if l.Sent != 8 || l.Succeeded != 0 || l.Failed[test.kind] != 8 {
					t.Errorf("%d succeeded of %d, failed %v %v", l.Succeeded, l.Sent, l.Failed, l.Examples)
				}
			})
		})
	}
}
