package portable

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func sum(r bench.RequestPhases) time.Duration {
	return r.Name + r.Connect + r.TLS + r.Send + r.FirstByte + r.Receive
}

// serve passes each connection to handle, which ends with the test.
func serve(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}

// listener accepts connections made in this process.
type listener chan net.Conn

func (l listener) Accept() (net.Conn, error) {
	if conn, ok := <-l; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l listener) Close() error { return nil }

func (l listener) Addr() net.Addr { return &net.TCPAddr{} }

// Every phase has its own delay, and is exactly that long, in virtual time; so none includes part
// of another.
func TestEachPhaseHasItsOwnTime(t *testing.T) {
	const name, connect, handshake, send, first, receive = 11 * time.Millisecond, 13 * time.Millisecond, 17 * time.Millisecond,
		19 * time.Millisecond, 23 * time.Millisecond, 29 * time.Millisecond
	const body = 1 << 20
	certified := httptest.NewTLSServer(nil) // for its certificate
	certificate := certified.TLS.Certificates[0]
	trust := certified.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.ServerName = "example.com"
	certified.Close()
	synctest.Test(t, func(t *testing.T) {
		l := make(listener)
		server := &http.Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(send) // nothing is read meanwhile, so the client cannot continue writing
				n, _ := io.Copy(io.Discard, r.Body)
				testenv.Check(t, n == body, "%d bytes came", n)
				time.Sleep(first)
				w.Header().Set("Content-Length", "10")
				fmt.Fprint(w, "hello")
				w.(http.Flusher).Flush()
				time.Sleep(receive)
				fmt.Fprint(w, "world")
			}),
			TLSConfig: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				time.Sleep(handshake)
				return &certificate, nil
			}},
		}
		go server.ServeTLS(l, "", "")
		defer server.Close()
		defer close(l) // Close waits for it
		p, err := Phases(t.Context(), PhasesPlan{
			BaseURL: "https://contender.test:443", Requests: 1, TLS: trust,
			Request: bench.Request{Name: "upload", Method: "POST", Path: "/", Body: strings.Repeat("x", body)},
			Resolve: func(_ context.Context, host string) ([]net.IP, error) {
				if host != "contender.test" {
					return nil, errors.New(host)
				}
				time.Sleep(name)
				return []net.IP{net.IPv4(127, 0, 0, 1)}, nil
			},
			Dial: func(context.Context, string, string) (net.Conn, error) {
				time.Sleep(connect)
				conn, other := net.Pipe()
				l <- other
				return conn, nil
			},
		})
		testenv.Need(t, err == nil && len(p.Kept) == 1 && len(p.New) == 1 && p.Request == "upload", "%+v, %v", p, err)
		if first, kept, last := p.First, p.Kept[0], p.New[0]; p.Started.IsZero() || first.Start != 0 || kept.Start != first.Total || last.Start != kept.Start+kept.Total {
			t.Errorf("they start at %s, %s and %s after %s, the first two took %s and %s", first.Start, kept.Start, last.Start, p.Started, first.Total, kept.Total)
		}
		for what, r := range map[string]bench.RequestPhases{"first": p.First, "kept": p.Kept[0], "new": p.New[0]} {
			testenv.Check(t, r.Err == "" && r.Status == 200 && r.Bytes == 10, "%s: %+v", what, r)
			testenv.Check(t, sum(r) == r.Total,
				"%s: the phases are %s together, the total is %s", what, sum(r), r.Total)
			testenv.Check(t, r.Send == send && r.FirstByte == first && r.Receive == receive,
				"%s: sent in %s, first byte after %s, received in %s", what, r.Send, r.FirstByte, r.Receive)
			isNew := what != "kept"
			testenv.Check(t, r.New == isNew && (!isNew || (r.Name == name && r.Connect == connect && r.TLS == handshake)) && (isNew || r.Name+r.Connect+r.TLS == 0),
				"%s: new %t, name %s, connect %s, TLS %s", what, r.New, r.Name, r.Connect, r.TLS)
		}
	})
}

// An IP address is not looked up, and a plain connection has no TLS.
func TestPlainAddress(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String()) // requests are sequential
	}))
	defer server.Close()
	p, err := Phases(t.Context(), PhasesPlan{BaseURL: server.URL, Requests: 2, IDs: []int64{7},
		Request: bench.Request{Name: "get", Path: "/get?id={id}&l={language}", Languages: []string{"cs", "en"}},
		Resolve: func(context.Context, string) ([]net.IP, error) { return nil, errors.New("an address was looked up") }})
	testenv.OK(t, err)
	for _, r := range append(append([]bench.RequestPhases{p.First}, p.Kept...), p.New...) {
		testenv.Check(t, r.Err == "" && r.Name == 0 && r.TLS == 0 && r.New == (r.Connect > 0) && sum(r) == r.Total,
			"%+v", r)
	}
	if got := strings.Join(asked, " "); got != "/get?id=7&l=cs /get?id=7&l=en /get?id=7&l=cs /get?id=7&l=en /get?id=7&l=cs" {
		t.Errorf("asked %s", got)
	}
}

// Whatever a server does, each failed request gives its reason, and the next ones are sent.
func TestHostileServers(t *testing.T) {
	read := func(conn net.Conn) bool {
		_, err := http.ReadRequest(bufio.NewReader(conn))
		return err == nil
	}
	for name, test := range map[string]struct {
		handle func(net.Conn)
		want   string
	}{
		"closes":      {func(c net.Conn) { read(c) }, "closed the connection before the end of the response"},
		"garbage":     {func(c net.Conn) { read(c); fmt.Fprint(c, "\x1b[31mhello\r\n\r\n") }, "malformed HTTP"},
		"silent":      {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "timeout"},
		"half a body": {func(c net.Conn) { read(c); fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") }, "unexpected EOF"},
		"refuses":     {func(c net.Conn) { read(c); fmt.Fprint(c, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"); read(c) }, "status 503, expected 200"},
		"interim": {func(c net.Conn) {
			read(c)
			_, _ = io.WriteString(c, strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20))
		}, "more than 8 interim responses"},
		"endless head": {func(c net.Conn) {
			read(c)
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for err == nil {
				_, err = io.WriteString(c, "X: "+strings.Repeat("y", 4000)+"\r\n")
			}
		}, "headers of the response over 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			timeout := 30 * time.Second
			if name == "silent" {
				timeout = 50 * time.Millisecond
			}
			p, err := Phases(t.Context(), PhasesPlan{BaseURL: "http://" + serve(t, test.handle), Request: bench.Request{Path: "/"}, Requests: 1, Timeout: timeout})
			if err != nil || len(p.Kept) != 1 || len(p.New) != 1 {
				t.Errorf("%s: %+v, %v", name, p, err)
				return
			}
			for _, r := range []bench.RequestPhases{p.First, p.New[0]} {
				if !strings.Contains(r.Err, test.want) || strings.Contains(r.Err, "\x1b") || sum(r) != r.Total || !r.New {
					t.Errorf("%s: %+v, want %q", name, r, test.want)
				}
			}
		})
	}
}

func TestConnectionRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	l.Close()
	p, err := Phases(t.Context(), PhasesPlan{BaseURL: "http://" + l.Addr().String(), Request: bench.Request{Path: "/"}})
	testenv.Check(t, err == nil && strings.Contains(p.First.Err, "refused") && p.First.Total == p.First.Connect,
		"%+v, %v", p, err)
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	address := serve(t, func(c net.Conn) {
		cancel(errors.New("enough"))
		_, _ = io.Copy(io.Discard, c)
	})
	_, err := Phases(ctx, PhasesPlan{BaseURL: "http://" + address, Request: bench.Request{Path: "/"}, Requests: 5})
	testenv.Check(t, err != nil && err.Error() == "enough", "%v", err)
}

func TestMistakes(t *testing.T) {
	for want, plan := range map[string]PhasesPlan{
		"base URL: must be":            {BaseURL: "127.0.0.1:80"},
		"there are no ids":             {BaseURL: "http://x", Request: bench.Request{Path: "/{id}"}},
		"the request has no languages": {BaseURL: "http://x", Request: bench.Request{Path: "/{language}"}},
		"invalid URL escape":           {BaseURL: "http://user:secret@x", Request: bench.Request{Path: "/%zz"}},
		`invalid method "BAD ONE"`:     {BaseURL: "http://x", Request: bench.Request{Path: "/", Method: "BAD ONE"}},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := Phases(t.Context(), plan); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// slowCut is a connection that takes a second to end its requests, and meanwhile their response comes.
type slowCut struct {
	net.Conn
	cutting chan struct{}
}

func (s slowCut) SetDeadline(t time.Time) error {
	if t.Before(time.Now()) {
		close(s.cutting)
		time.Sleep(time.Second)
	}
	return nil
}

// A timeout that meets its response does not end the next request of the connection.
func TestLateTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cutting := make(chan struct{})
		conn, other := net.Pipe()
		defer other.Close()
		go func() {
			if _, err := http.ReadRequest(bufio.NewReader(other)); err == nil {
				<-cutting
				fmt.Fprint(other, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}()
		a, err := newPhaseTimer(PhasesPlan{
			BaseURL: "http://127.0.0.1:80", Request: bench.Request{Name: "get", Path: "/"}, Timeout: time.Second,
			Dial: func(context.Context, string, string) (net.Conn, error) { return slowCut{conn, cutting}, nil },
		})
		testenv.OK(t, err)
		defer a.slot.close()
		began := time.Now()
		r := testenv.Must(a.measure(t.Context()))(t)
		if ended := time.Since(began); r.Err != "" || r.Total != time.Second || ended != 2*time.Second {
			t.Errorf("%+v; the next request could begin after %s", r, ended)
		}
	})
}
