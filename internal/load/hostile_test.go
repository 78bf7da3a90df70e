package load

import (
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
)

// reset makes the closing of conn a reset.
func reset(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }

// Each of these servers has its kind of error, takes a bounded amount of memory, and the step ends
// on time.
func TestHostileServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	forever := func(begin, piece string, pause time.Duration) func(net.Conn, string) bool {
		return func(conn net.Conn, _ string) bool {
			_, err := io.WriteString(conn, begin)
			for err == nil {
				time.Sleep(pause)
				_, err = io.WriteString(conn, piece)
			}
			return false
		}
	}
	then := func(answer string) func(net.Conn, string) bool {
		return func(conn net.Conn, _ string) bool {
			io.WriteString(conn, answer)
			time.Sleep(5 * time.Millisecond) // so that it is read before the reset overtakes it
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
		{"endless header", forever(ok, "X-Header: "+block+"\r\n", 0), bench.ErrOther},
		{"endless header line", forever(ok+"X-Header: ", block, 0), bench.ErrOther},
		{"endless body", forever(ok+"\r\n", block, 0), bench.ErrTimeout},
		{"endless chunks", forever(ok+"Transfer-Encoding: chunked\r\n\r\n", "4000\r\n"+block+"\r\n", 0), bench.ErrTimeout},
		{"slow drip of a header", forever(ok, "X: y\r\n", 10*time.Millisecond), bench.ErrTimeout},
		{"slow drip of a body", forever(ok+"Content-Length: 100000\r\n\r\n", "x", 10*time.Millisecond), bench.ErrTimeout},
		{"silence", forever("", "", 10*time.Millisecond), bench.ErrTimeout},
		{"reset at once", then(""), bench.ErrReset},
		{"reset in the status line", then("HTTP/1.1 2"), bench.ErrReset},
		{"reset in a header", then(ok + "Content-Le"), bench.ErrReset},
		{"reset in the body", then(ok + "Content-Length: 10\r\n\r\nhello"), bench.ErrReset},
		{"reset in a chunk", then(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhe"), bench.ErrReset},
		{"reset instead of the end", then(ok + "\r\nhello"), bench.ErrReset},
		{"garbage", forever("\x00\xff\x16\x03\x01", "\x00\n\xff", 0), bench.ErrOther},
		{"100,000 interim answers", then(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100_000)), bench.ErrOther},
	} {
		for _, portable := range []bool{false, true} {
			name := test.name
			if portable {
				name += ", portable"
			}
			t.Run(name, func(t *testing.T) {
				url := raw(t, func(conn net.Conn, request string) bool {
					// Nobody writes for ever to a client that is gone, nor waits for one that does
					// not read.
					conn.SetWriteDeadline(time.Now().Add(slack * 2 * time.Second))
					return test.serve(conn, request)
				})
				p := plan(url, 4, 200*time.Millisecond)
				p.Timeout = 10 * time.Second // so that a slow machine does not make a time-out of it
				if test.kind == bench.ErrTimeout {
					p.Timeout = 300 * time.Millisecond
				}
				// What is kept is to be seen, not what a busy machine has not collected yet.
				defer debug.SetGCPercent(debug.SetGCPercent(10))
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				began := time.Now()
				l := run(t, Engine{Portable: portable}, p)
				took := time.Since(began)
				runtime.ReadMemStats(&after)
				if l.Succeeded != 0 || l.Failed[test.kind] == 0 || l.Failed[test.kind] != l.Sent {
					t.Errorf("%d succeeded of %d, failed %v %v", l.Succeeded, l.Sent, l.Failed, l.Examples)
				}
				if took > slack*(p.Step.Duration+p.Timeout+time.Second) {
					t.Errorf("took %s", took)
				}
				if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
					t.Errorf("%d bytes more on the heap", grown)
				}
			})
		}
	}
}
