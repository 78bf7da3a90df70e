package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/wire"
)

func TestRunOfRawAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	tests := []struct {
		name   string
		answer string
		keep   bool
		kind   bench.ErrorKind // "" for success
		text   string          // in the example
	}{
		{"plain", ok, true, "", ""},
		{"silent close", ok, false, bench.ErrReset, ""}, // every second one: the next request meets the closed connection
		{"announced close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", false, "", ""},
		{"HTTP/1.0 until the end", "HTTP/1.0 200 OK\r\n\r\nhello", false, "", ""},
		{"interim answer", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok, true, "", ""},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", true, "", ""},
		{"chunked with a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n", true, "", ""},
		{"surplus bytes", ok + "surplus", false, "", ""},
		{"nothing", "", false, bench.ErrReset, "closed the connection before the whole answer"},
		{"half a head", "HTTP/1.1 200 OK\r\nContent-", false, bench.ErrReset, "closed the connection before the whole answer"},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", false, bench.ErrReset, "body of the answer"},
		{"half a body of an error", "HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nhello", false, bench.ErrReset, "body of the answer"},
		{"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", false, bench.ErrReset, "body of the answer"},
		{"no chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n", false, bench.ErrBody, "chunk"},
		{"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", false, bench.ErrOther, "malformed"},
		{"half a status line", "HTTP/1.", false, bench.ErrReset, "closed the connection"},
		{"endless headers", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Header: "+strings.Repeat("x", 1000)+"\r\n", 1100), false, bench.ErrOther, "headers of the answer over"},
		{"interim answers without end", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20), false, bench.ErrOther, "interim"},
		{"status 999", "HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", true, bench.ErrOther, "999"},
		{"switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", false, "1xx", "101"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eachLoop(t, func(t *testing.T, e Engine) {
				t.Parallel()
				var answered atomic.Int64
				url := raw(t, func(conn net.Conn, _ string) bool {
					answered.Add(1)
					io.WriteString(conn, test.answer)
					return test.keep
				})
				l := run(t, e, counted(url, 2, 20))
				switch {
				case test.kind == "" && (l.Succeeded != 20 || answered.Load() != 20):
					t.Errorf("%d succeeded, the server answered %d, failed: %v", l.Succeeded, answered.Load(), l.Examples)
				case test.name == "silent close" && (l.Succeeded != answered.Load() || l.Failed[test.kind] == 0):
					t.Errorf("%d succeeded, the server answered %d, failed: %v", l.Succeeded, answered.Load(), l.Failed)
				case test.name == "silent close":
				case test.kind != "" && l.Failed[test.kind] != 20:
					t.Errorf("failed: %v %v", l.Failed, l.Examples)
				case !strings.Contains(l.Examples[test.kind], test.text):
					t.Errorf("example %q", l.Examples[test.kind])
				}
				if len(l.Examples[test.kind]) > wire.MaxExample+8 {
					t.Errorf("example of %d bytes", len(l.Examples[test.kind]))
				}
			})
		})
	}
}

func TestRunWithAServerThatClosesAfterEachAnswer(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		server := newCounting(t, hello)
		server.Config.SetKeepAlivesEnabled(false)
		l := run(t, e, counted(server.URL, 4, 200))
		server.answered(t, 200, 200)
		server.opened(t, 200)
		if l.Succeeded != 200 {
			t.Errorf("%d succeeded, failed %v", l.Succeeded, l.Failed)
		}
		if !strings.Contains(l.Warnings.Join("\n"), "opened again 196 times") {
			t.Errorf("warnings: %q", l.Warnings)
		}
	})
}

func TestRunOnARefusingPort(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		l := run(t, e, counted("http://"+refusing(t), 4, 16))
		if l.Sent != 16 || l.Failed[bench.ErrRefused] != 16 {
			t.Errorf("failed %v of %d sent", l.Failed, l.Sent)
		}
		if l.ErrorRatio() != 1 || l.Throughput() != 0 {
			t.Errorf("error ratio %g, throughput %g", l.ErrorRatio(), l.Throughput())
		}
	})
}

func TestRunWithAServerThatDies(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		const before, connections = 500, 8
		var self atomic.Pointer[counting]
		var died sync.WaitGroup
		var asked atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			if asked.Add(1) == before {
				died.Go(func() {
					self.Load().Listener.Close()
					self.Load().CloseClientConnections()
				})
				<-r.Context().Done() // this one is in flight for sure when the server dies
			}
			return hello(w, r)
		})
		self.Store(server)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		e.Window, e.Grace = 10*time.Millisecond, time.Minute
		l, err := e.Run(ctx, plan(server.URL, connections, time.Hour), func(w bench.Window) {
			if w.Failed[bench.ErrRefused] > 0 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		died.Wait()
		// Of each connection one answer at most was written by the handler, but cut off.
		if n, all := server.count(200), l.AllSucceeded(); all > n || all < n-connections {
			t.Errorf("%d succeeded, the server answered %d", all, n)
		}
		if n := l.Failed[bench.ErrReset]; n < 1 || n > connections || l.Failed[bench.ErrReset]+l.Failed[bench.ErrRefused] != l.FailedTotal() {
			t.Errorf("failed: %v", l.Failed)
		}
	})
}

// An end that comes in the middle: what is in flight then is answered within the grace, and all is
// counted as lead-in, interval or drain.
func TestRunIsInterrupted(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		var measured atomic.Bool
		var asked atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			if measured.Load() && asked.Add(1) == 90 {
				cancel(cause)
			}
			return hello(w, r)
		})
		var got []bench.Window
		e.Grace, e.Window = time.Minute, 20*time.Millisecond
		p := plan(server.URL, 8, time.Hour)
		p.OnStart = func() { measured.Store(true) }
		l, err := e.Run(ctx, p, func(w bench.Window) { got = append(got, w) })
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), `load step "8 connections"`) {
			t.Errorf("error %v", err)
		}
		consistent(t, l, got)
		server.answered(t, 200, l.AllSucceeded())
		if l.Sent != l.AllSucceeded() || l.Lead < 8 || l.Succeeded == 0 || l.Elapsed <= 0 || l.Scheduled != l.Sent {
			t.Errorf("%d + %d + %d succeeded of %d, elapsed %s", l.Lead, l.Succeeded, l.Drain, l.Sent, l.Elapsed)
		}
	})
}

func TestRunIsInterruptedWhileTheServerHangs(t *testing.T) {
	for _, when := range []string{"before the end", "after the end"} {
		t.Run(when, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				hang := make(chan struct{})
				defer close(hang)
				var asked atomic.Int64
				url := raw(t, func(conn net.Conn, _ string) bool {
					switch n := asked.Add(1); {
					case n <= 10:
						fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
						return true
					case n == 15: // and that is all: five connections hang now
						cancel()
					}
					<-hang
					return false
				})
				p := plan(url, 5, time.Hour)
				p.Timeout = time.Hour
				if when == "after the end" {
					p.Step.MaxRequests = 15
				}
				e.Grace = 50 * time.Millisecond
				l, err := e.Run(ctx, p, nil)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				if l.AllSucceeded() != 10 || l.Sent != 15 || len(l.Failed) > 0 {
					t.Errorf("%d succeeded of %d, failed: %v", l.Succeeded, l.Sent, l.Failed)
				}
				if len(l.Warnings) == 0 || !strings.Contains(l.Warnings[0].Text, "5 requests in flight were cut off") {
					t.Errorf("warnings %q", l.Warnings)
				}
			})
		})
	}
}
