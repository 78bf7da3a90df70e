package ready

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/contact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// instance is the part of an instance that Wait looks at.
type instance struct {
	bench.Instance
	url string
	// address of another port
	readyAddress string
	started      time.Time
	exited       chan struct{}
	exit         *bench.Exit
	logs         []bench.LogLine
}

func (i *instance) BaseURL() string { return i.url }
func (i *instance) Info() bench.InstanceInfo {
	return bench.InstanceInfo{StartedAt: i.started, ReadyAddress: i.readyAddress}
}
func (i *instance) Exited() <-chan struct{} { return i.exited }
func (i *instance) Exit() *bench.Exit       { return i.exit }
func (i *instance) Logs() []bench.LogLine   { return i.logs }

// network is a network in memory, so time can be virtual. response returns what serves the n-th
// connection, counted from 1, or why it fails.
type network struct {
	response func(n int) (serve func(net.Conn), err error)
	dials    atomic.Int32
}

func (w *network) dial(_ context.Context, network, _ string) (net.Conn, error) {
	serve, err := w.response(int(w.dials.Add(1)))
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		serve(there)
	}()
	return here, nil
}

func refuse(int) (func(net.Conn), error) { return nil, syscall.ECONNREFUSED }

func accept(serve func(net.Conn)) func(int) (func(net.Conn), error) {
	return func(int) (func(net.Conn), error) { return serve, nil }
}

// says responds to one request.
func says(status string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status)
		}
	}
}

// hangs reads until the other side closes.
func hangs(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// closes reads the request and closes the connection.
func closes(c net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(c)) }

// TestWait_Requests: each Wait sends one request to a real server.
func TestWait_Requests(t *testing.T) {
	var requests atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		testenv.Equal(t, r.URL.RequestURI(), "/health?x=1", "requested")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	for _, path := range []string{"/health?x=1", "health?x=1"} {
		if _, err := Wait(t.Context(), &instance{url: s.URL, exited: make(chan struct{})}, Question{Path: path, Status: 503}, nil); err != nil {
			t.Error(err)
		}
	}
	testenv.Equal(t, requests.Load(), 2)
	redirect := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound))
	defer redirect.Close()
	_, err := Wait(t.Context(), &instance{url: redirect.URL, exited: make(chan struct{})}, Question{}, nil)
	testenv.Check(t, err == nil, "a redirect is a response: %v", err)
}

// TestWait_StartUp: the time counts from the instance's start to the first response, with an
// accuracy of a tenth.
func TestWait_StartUp(t *testing.T) {
	for name, tt := range map[string]struct {
		before      time.Duration // from its start to Wait
		listens     time.Duration // from Wait until it listens
		least, most time.Duration
	}{
		"at once":            {0, 0, 0, 0},
		"started before":     {time.Hour, 0, time.Hour, time.Hour},
		"listens late":       {0, 100 * time.Millisecond, 100 * time.Millisecond, 112 * time.Millisecond},
		"listens very late":  {0, 20 * time.Second, 20 * time.Second, 20*time.Second + lastPause},
		"started, then late": {time.Minute, time.Second, 61 * time.Second, 61*time.Second + lastPause},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				w := &network{response: func(int) (func(net.Conn), error) {
					if time.Since(began) < tt.listens {
						return nil, syscall.ECONNREFUSED
					}
					return says("204 No Content"), nil
				}}
				i := &instance{url: "http://in.memory", started: began.Add(-tt.before), exited: make(chan struct{})}
				up, err := Wait(t.Context(), i, Question{Timeout: time.Minute, Way: contact.Way{Dial: w.dial}}, nil)
				if d := up.StartUp; err != nil || d < tt.least || d > tt.most {
					t.Errorf("%v, %v; want %v to %v", d, err, tt.least, tt.most)
				}
			})
		})
	}
}

func TestWait_Timeout(t *testing.T) {
	for name, tt := range map[string]struct {
		url      string
		response func(int) (func(net.Conn), error)
		timeout  time.Duration
		want     string
	}{
		"refuses":              {"http://in.memory", refuse, 12 * time.Second, "connection refused"},
		"hangs":                {"http://in.memory", accept(hangs), 12 * time.Second, "timeout after 5s"},
		"hangs from the start": {"http://in.memory", accept(hangs), 150 * time.Millisecond, "no response"},
		"closes":               {"http://in.memory", accept(closes), 12 * time.Second, "connection closed without response"},
		"no URL":               {"http://name.invalid\x1b[31m:bad/", refuse, time.Second, "parse "},
		"something else": {"http://in.memory", func(int) (func(net.Conn), error) { return nil, errors.New("\x1b[31mno route") }, time.Second,
			`Get "http://in.memory/": dial tcp: ␛[31mno route`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &network{response: tt.response}
				began := time.Now()
				_, err := Wait(t.Context(), &instance{url: tt.url, exited: make(chan struct{})}, Question{Timeout: tt.timeout, Way: contact.Way{Dial: w.dial}}, nil)
				timeout, ok := errors.AsType[net.Error](err)
				testenv.Check(t, ok && timeout.Timeout(), "%T is not a timeout", err)
				want := fmt.Sprintf("not ready after %v: GET /: %s", tt.timeout, tt.want)
				if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
					t.Errorf("%v, want %q", err, want)
				}
				testenv.Equal(t, time.Since(began), tt.timeout, "it took")
			})
		})
	}
}

// TestWait_Late: late gets the last reason once a second.
func TestWait_Late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := &network{response: func(int) (func(net.Conn), error) {
			switch since := time.Since(began); {
			case since < 1500*time.Millisecond:
				return nil, syscall.ECONNREFUSED
			case since < 3500*time.Millisecond:
				return closes, nil
			}
			return says("200 OK"), nil
		}}
		var reported []string
		late := func(last string) {
			reported = append(reported, fmt.Sprintf("%.0f s: %s", time.Since(began).Seconds(), last))
		}
		_, err := Wait(t.Context(), &instance{url: "http://in.memory", exited: make(chan struct{})}, Question{Timeout: time.Minute, Way: contact.Way{Dial: w.dial}}, late)
		want := []string{"1 s: connection refused", "2 s: connection closed without response", "3 s: connection closed without response"}
		testenv.OK(t, err)
		testenv.Equal(t, reported, want)
	})
}

func TestWait_Exit(t *testing.T) {
	refused := &network{response: refuse}
	started := time.Now().Add(-120 * time.Millisecond)
	logs := []bench.LogLine{{Text: "shown once, after the failure"}}
	i := &instance{
		url: "http://in.memory", started: started, exited: make(chan struct{}), logs: logs,
		exit: &bench.Exit{Code: 3, At: started.Add(120 * time.Millisecond)},
	}
	close(i.exited)
	_, err := Wait(t.Context(), i, Question{Timeout: time.Minute, Way: contact.Way{Dial: refused.dial}}, nil)
	testenv.Check(t, err != nil && err.Error() == "exited: exit code 3 after 120ms", "%v", err)
	i.logs, i.exit = nil, &bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true, At: started}
	_, err = Wait(t.Context(), i, Question{Timeout: time.Minute, Way: contact.Way{Dial: refused.dial}}, nil)
	testenv.Check(t, err != nil && err.Error() == "exited: killed by SIGKILL (out of memory) after 0s", "%v", err)
}

func TestWait_Cancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("interrupted")
		time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
		w := &network{response: refuse}
		if _, err := Wait(ctx, &instance{url: "http://in.memory", exited: make(chan struct{})}, Question{Timeout: time.Minute, Way: contact.Way{Dial: w.dial}}, nil); !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
	})
}
