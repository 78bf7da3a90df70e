package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

func TestRunOnARefusingPort(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		l := run(t, e, counted("http://"+refusing(t), 4, 16))
		if l.Sent != 16 || l.Failed[bench.ErrRefused] != 16 {
			t.Errorf("failed %v of %d sent: %v", l.Failed, l.Sent, l.Examples)
		}
		if l.ErrorRate() != 1 || l.Throughput() != 0 {
			t.Errorf("error rate %g, throughput %g", l.ErrorRate(), l.Throughput())
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
				<-r.Context().Done() // this request is in flight when the server dies
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
		// At most one response per connection was written by the handler but cut off.
		if n, all := server.count(200), l.AllSucceeded(); all > n || all < n-connections {
			t.Errorf("%d succeeded, the server answered %d", all, n)
		}
		// Requests in flight are sent once more if their connection was open before.
		if n := l.Failed[bench.ErrReset]; n > connections || n+l.Failed[bench.ErrRefused] != l.FailedTotal() {
			t.Errorf("failed: %v", l.Failed)
		}
	})
}

// A run that ends in the middle: requests in flight are answered within the grace, and all are
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
					case n == 15: // no more: five connections hang now
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
				if len(l.Warnings) == 0 || l.Warnings[0].Kind != bench.WarnInterrupted || l.Warnings[0].Values["requests"] != 5 {
					t.Errorf("warnings %q", l.Warnings)
				}
			})
		})
	}
}
