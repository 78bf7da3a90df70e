package load

import (
	"bufio"
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

// raw is a server that does with a connection what no HTTP library would. serve handles one request
// whose head has been read, and tells whether the connection stays open.
func raw(t *testing.T, serve func(conn net.Conn, request string) (keep bool)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for {
					var head strings.Builder
					for {
						line, err := r.ReadString('\n')
						if err != nil {
							return
						}
						if line == "\r\n" {
							break
						}
						head.WriteString(line)
					}
					if !serve(conn, head.String()) {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return "http://" + listener.Addr().String()
}

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
			var answered atomic.Int64
			url := raw(t, func(conn net.Conn, _ string) bool {
				answered.Add(1)
				io.WriteString(conn, test.answer)
				return test.keep
			})
			p := plan(url, 2, time.Minute)
			p.Step.MaxRequests = 20
			l := run(t, Engine{}, p)
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
	}
}

func TestRunWithAServerThatClosesAfterEachAnswer(t *testing.T) {
	server := newCounting(t, hello)
	server.Config.SetKeepAlivesEnabled(false)
	p := plan(server.URL, 4, time.Minute)
	p.Step.MaxRequests = 200
	l := run(t, Engine{}, p)
	if l.Succeeded != 200 || server.count(200) != 200 || server.connections.Load() != 200 {
		t.Errorf("%d succeeded, the server answered %d on %d connections", l.Succeeded, server.count(200), server.connections.Load())
	}
	if !strings.Contains(l.Warnings.Join("\n"), "opened again 196 times") {
		t.Errorf("warnings: %q", l.Warnings)
	}
}

func TestRunOnARefusingPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	l := run(t, Engine{}, plan("http://"+listener.Addr().String(), 4, 300*time.Millisecond))
	// After 1, 2, 4 … 64 ms there is one attempt each 100 ms: 9 on each of 4 connections, and never
	// many more.
	if n := l.Failed[bench.ErrRefused]; n != l.Sent || n < 4 || n > 60 {
		t.Errorf("failed %v of %d sent", l.Failed, l.Sent)
	}
	if l.ErrorRatio() != 1 || l.Throughput() != 0 {
		t.Errorf("error ratio %g, throughput %g", l.ErrorRatio(), l.Throughput())
	}
}

func TestRunWithAServerThatDies(t *testing.T) {
	var self atomic.Pointer[counting]
	var died sync.WaitGroup
	var asked atomic.Int64
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		time.Sleep(time.Millisecond)
		if asked.Add(1) == 500 {
			died.Go(func() {
				self.Load().Listener.Close()
				self.Load().CloseClientConnections()
			})
		}
		return hello(w, r)
	})
	self.Store(server)
	l := run(t, Engine{}, plan(server.URL, 8, time.Second))
	died.Wait()
	// At most the 8 answers in flight were written by the handler, but cut off.
	if n, all := server.count(200), l.AllSucceeded(); l.Succeeded == 0 || all > n || all < n-8 {
		t.Errorf("%d succeeded, the server answered %d", all, n)
	}
	if l.Failed[bench.ErrReset] == 0 || l.Failed[bench.ErrRefused] == 0 || len(l.Failed) != 2 {
		t.Errorf("failed: %v", l.Failed)
	}
	if l.Elapsed != time.Second {
		t.Errorf("elapsed %s: the time without answers counts as well", l.Elapsed)
	}
}

func TestRunWithAServerThatHangs(t *testing.T) {
	hang := make(chan struct{})
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		<-hang
		return hello(w, r)
	})
	defer close(hang)
	p := plan(server.URL, 3, 200*time.Millisecond)
	p.Timeout = 1500 * time.Millisecond
	l := run(t, Engine{}, p)
	if n := l.Failed[bench.ErrTimeout]; n < 3 || n > 6 || n != l.Sent {
		t.Errorf("failed: %v of %d sent", l.Failed, l.Sent)
	}
	if l.Timeouts.Min < p.Timeout || l.Timeouts.Max > 10*time.Second || l.Failures.Count != 0 {
		t.Errorf("time-outs took %s to %s, %d other failures", l.Timeouts.Min, l.Timeouts.Max, l.Failures.Count)
	}
	if l.Elapsed != p.Step.Duration || l.Succeeded != 0 || l.LeadIn < p.Timeout {
		t.Errorf("elapsed %s after a lead-in of %s: time-outs after the end do not lengthen it", l.Elapsed, l.LeadIn)
	}
}

func TestRunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	var asked atomic.Int64
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		time.Sleep(10 * time.Millisecond)
		if asked.Add(1) == 90 {
			cancel(cause)
		}
		return hello(w, r)
	})
	var got []bench.Window
	began := time.Now()
	l, err := chosen(Engine{Grace: 10 * time.Second, Window: 20 * time.Millisecond}).Run(ctx, plan(server.URL, 8, time.Minute), func(w bench.Window) { got = append(got, w) })
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), `load step "8 connections"`) {
		t.Errorf("error %v", err)
	}
	consistent(t, l, got)
	if l.AllSucceeded() != server.count(200) || l.AllSucceeded() < 90 || l.Sent != l.AllSucceeded() || l.Succeeded == 0 {
		t.Errorf("%d succeeded of %d, the server answered %d", l.Succeeded, l.Sent, server.count(200))
	}
	if l.Elapsed <= 0 || l.Elapsed > time.Since(began) {
		t.Errorf("elapsed %s", l.Elapsed)
	}
}

func TestRunIsInterruptedWhileTheServerHangs(t *testing.T) {
	for _, when := range []string{"before the end", "after the end"} {
		t.Run(when, func(t *testing.T) {
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
			p := plan(url, 5, time.Minute)
			p.Timeout = time.Minute
			if when == "after the end" {
				p.Step.MaxRequests = 15
			}
			l, err := chosen(Engine{Grace: 50 * time.Millisecond}).Run(ctx, p, nil)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if l.AllSucceeded() != 10 || l.Sent != 15 || len(l.Failed) > 0 {
				t.Errorf("%d succeeded of %d, failed: %v", l.Succeeded, l.Sent, l.Failed)
			}
			if len(l.Warnings) == 0 || !strings.Contains(l.Warnings[0].Text, "5 requests in flight were cut off") {
				t.Errorf("warnings %q", l.Warnings)
			}
			if l.Elapsed > 30*time.Second {
				t.Errorf("elapsed %s", l.Elapsed)
			}
		})
	}
}

func TestRunIsInterruptedWhileConnecting(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	e := Engine{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	l, err := e.Run(ctx, plan("http://127.0.0.1:1", 100, time.Minute), nil)
	if !errors.Is(err, context.DeadlineExceeded) || l.Sent != 0 {
		t.Errorf("error %v, %d sent", err, l.Sent)
	}
}

func TestRunIsInterruptedWhileConnectingAgain(t *testing.T) {
	var dials atomic.Int64
	e := Engine{Grace: 20 * time.Millisecond, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		if dials.Add(1) <= 2 {
			return nil, errors.New("no")
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	l, err := e.Run(ctx, plan("http://127.0.0.1:1", 2, time.Minute), nil)
	if !errors.Is(err, context.DeadlineExceeded) || l.Sent != 1 || l.Cut != 1 || l.FailedTotal() != 0 { // the others begin when the first one has its answer
		t.Errorf("error %v, %d sent, failed %v", err, l.Sent, l.Failed)
	}
}
