package ready

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/contact"
)

// TestQuestion_Accepts checks which responses say that a contender is ready.
func TestQuestion_Accepts(t *testing.T) {
	for _, c := range []struct {
		q    Question
		good []int
		bad  []int
	}{
		{Question{}, []int{200, 204, 301, 304, 399}, []int{199, 400, 404, 500, 503}},
		{Question{Status: 404}, []int{404}, []int{200, 302, 503}},
		{Question{Lenient: true}, []int{200, 302, 400, 401, 404}, []int{500, 503}},
	} {
		for _, status := range c.good {
			testenv.Check(t, c.q.accepts(status), "%+v does not accept %d", c.q, status)
		}
		for _, status := range c.bad {
			testenv.Check(t, !c.q.accepts(status), "%+v accepts %d", c.q, status)
		}
	}
}

// TestWait_Boot: a contender that responds with 503 while it boots is ready at its first 200. The
// time of its first response is kept as well.
func TestWait_Boot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := &network{response: func(int) (func(net.Conn), error) {
			switch since := time.Since(began); {
			case since < 10*time.Millisecond:
				return nil, syscall.ECONNREFUSED
			case since < 3*time.Second:
				return says("503 Service Unavailable"), nil
			}
			return says("200 OK"), nil
		}}
		var reported []string
		i := &instance{url: "http://in.memory", started: began, exited: make(chan struct{})}
		up, err := Wait(t.Context(), i, Question{Way: contact.Way{Dial: w.dial}}, func(last string) { reported = append(reported, last) })
		testenv.Need(t, err == nil && up.StartUp >= 3*time.Second && up.StartUp <= 3*time.Second+lastPause,
			"%+v, %v", up, err)
		if f := up.FirstResponse; f == nil || f.Status != 503 || f.After < 10*time.Millisecond || f.After > 12*time.Millisecond || !strings.HasSuffix(f.String(), ": 503") {
			t.Errorf("first response: %v", f)
		}
		testenv.Check(t, len(reported) != 0 && reported[0] == "503 Service Unavailable; expected a 2xx or 3xx",
			"reported: %q", reported)
	})
}

// TestWait_Hopeless: an error that does not go away by waiting is returned at once, with its fix,
// for servers with TLS and for one without.
func TestWait_Hopeless(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // for handshakes that fail
	secure.StartTLS()
	defer secure.Close()
	clear := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer clear.Close()
	pool := x509.NewCertPool()
	pool.AddCert(secure.Certificate())
	at := func(scheme string, s *httptest.Server) string { return scheme + "://" + s.Listener.Addr().String() }
	for name, c := range map[string]struct {
		url  string
		tls  *tls.Config
		want string // "": ready
	}{
		"not trusted":     {at("https", secure), nil, "not trusted (x509: certificate signed by unknown authority): add its CA with --cacert FILE"},
		"another name":    {at("https", secure), &tls.Config{RootCAs: pool, ServerName: "shop.test"}, "is for another name"},
		"any certificate": {at("https", secure), &tls.Config{InsecureSkipVerify: true}, ""},
		"its certificate": {at("https", secure), &tls.Config{RootCAs: pool}, ""},
		"https for http":  {at("https", clear), nil, "speaks http, not https: use http://127.0.0.1:"},
		"http for https":  {at("http", secure), nil, "speaks https, not http: use https://127.0.0.1:"},
		"unknown host":    {"http://no.such.host.invalid", nil, `unknown host "no.such.host.invalid"`},
	} {
		t.Run(name, func(t *testing.T) {
			q := Question{Timeout: time.Hour, Way: contact.Way{TLS: c.tls}}
			if strings.Contains(c.url, "invalid") { // no request leaves this machine
				q.Way.Dial = (&network{response: func(int) (func(net.Conn), error) {
					return nil, &net.DNSError{Err: "no such host", Name: "no.such.host.invalid", IsNotFound: true}
				}}).dial
			}
			_, err := Wait(t.Context(), &instance{url: c.url, exited: make(chan struct{})}, q, nil)
			if text := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && !strings.Contains(text, c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestWait_OtherProtocol: a server that gives no response in HTTP/2 may speak HTTP/1.1 only.
func TestWait_OtherProtocol(t *testing.T) {
	for http2, want := range map[bool]string{true: "(without --http2, if it speaks HTTP/1.1 only)", false: "connection closed without response"} {
		synctest.Test(t, func(t *testing.T) {
			w := &network{response: accept(closes)}
			q := Question{Lenient: true, Timeout: time.Minute, Way: contact.Way{HTTP2: http2, Dial: w.dial}}
			_, err := Wait(t.Context(), &instance{url: "http://in.memory", exited: make(chan struct{})}, q, nil)
			testenv.Fails(t, err, "not ready after 1m0s", want)
			testenv.Equal(t, strings.Contains(err.Error(), "--http2"), http2, err)
		})
	}
}

// TestWait_Protocol: the requests use the protocol of the load.
func TestWait_Protocol(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			testenv.Equal(t, r.ProtoMajor == 2, http2, r.Proto)
		}))
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(!http2)
		s.Config.Protocols.SetUnencryptedHTTP2(http2)
		s.Start()
		inst := &instance{url: s.URL, exited: make(chan struct{})}
		_, err := Wait(t.Context(), inst, Question{Way: contact.Way{HTTP2: http2}}, nil)
		testenv.Check(t, err == nil, "HTTP/2 %v: %v", http2, err)
		s.Close()
	}
}
