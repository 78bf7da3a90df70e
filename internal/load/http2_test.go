package load

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// newHTTP2 returns a server of HTTP/2, with or without TLS, that counts its responses by status.
func newHTTP2(t *testing.T, secure bool, handler func(w http.ResponseWriter, r *http.Request) (status int)) (c *counting, e Engine) {
	t.Helper()
	c = countingOf(func(w http.ResponseWriter, r *http.Request) int {
		if r.ProtoMajor != 2 {
			t.Errorf("a request in %s", r.Proto)
		}
		return handler(w, r)
	})
	c.Config.ErrorLog = log.New(io.Discard, "", 0) // some handshakes fail on purpose
	if secure {
		c.EnableHTTP2 = true
		c.StartTLS()
		e.TLS = c.Client().Transport.(*http.Transport).TLSClientConfig
	} else {
		c.Config.Protocols = new(http.Protocols)
		c.Config.Protocols.SetUnencryptedHTTP2(true)
		c.Start()
	}
	t.Cleanup(c.Close)
	return c, e
}

func plan2(url string, connections int, requests int64) Plan {
	p := counted(url, connections, requests)
	p.HTTP2 = true
	return p
}

// Users send the same requests in each protocol, with and without TLS, with values saved from
// bodies, headers and cookies. A missing value is an error that names session and step.
func TestUsersOfEachProtocol(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	var mute bool
	begin := func(silent bool) (before []string) {
		mu.Lock()
		defer mu.Unlock()
		before, asked, mute = asked, nil, silent
		return before
	}
	handler := func(w http.ResponseWriter, r *http.Request) int {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, strings.Join([]string{r.Method, r.URL.RequestURI(), r.Host, r.Header.Get("Authorization"), r.Header.Get("X-Tag"), r.Header.Get("Cookie"), r.Header.Get("Content-Type"), string(body)}, " "))
		switch r.URL.Path {
		case "/login":
			if mute {
				return hello(w, r)
			}
			n := strconv.Itoa(len(asked))
			w.Header().Set("X-Tag", "tag "+n)
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "sid-" + n})
			io.WriteString(w, `{"data":{"token":"t `+n+`\u00e9"}}`)
			return 200
		case "/orders":
			w.WriteHeader(201)
			return 201
		}
		return hello(w, r)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler(w, r) }))
	defer plain.Close()
	secure := httptest.NewTLSServer(plain.Config.Handler)
	defer secure.Close()
	clear2, _ := newHTTP2(t, false, handler)
	secure2, trusted2 := newHTTP2(t, true, handler)
	var first []string
	for _, test := range []struct {
		name, url string
		http2     bool
		e         Engine
	}{
		{"HTTP/1.1", plain.URL, false, Engine{}},
		{"HTTP/1.1 over TLS", secure.URL, false, Engine{TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig}},
		{"HTTP/2", clear2.URL, true, Engine{}},
		{"HTTP/2 over TLS", secure2.URL, true, trusted2},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := ordersPlan(t, test.url, 1, 300)
			p.HTTP2 = test.http2
			p.Requests[1].Method, p.Requests[1].Encoding, p.Requests[1].Body = "POST", bench.FormBody, "word={word}"
			p.Requests[2].Save = append(p.Requests[2].Save, bench.Save{Name: "tag", From: bench.FromHeader, Of: "X-Tag"}, bench.Save{Name: "sid", From: bench.FromCookie, Of: "sid"})
			p.Requests[3].Header = map[string]string{"Authorization": "Bearer {token}", "X-Tag": "{tag}", "Cookie": "sid={sid}", "Host": "shop.example"}
			for i := range 3 {
				p.Requests[i].Header = map[string]string{"Host": "shop.example"}
			}
			begin(false)
			l := run(t, test.e, p)
			asked := begin(true)
			if len(l.Failed) > 0 || len(l.Sessions) != 1 || l.Sessions[0].Begun < 10 || l.Sessions[0].Completed != l.Sessions[0].Begun || l.AllSucceeded() != int64(len(asked)) {
				t.Errorf("%d of %d succeeded, %+v, failed: %v %v", l.AllSucceeded(), len(asked), l.Sessions, l.Failed, l.Examples)
			}
			if first == nil {
				first = asked
			}
			if !slices.Equal(asked, first) {
				t.Errorf("%d requests, %d of HTTP/1.1: %s", len(asked), len(first), difference(strings.Join(asked, "\n"), strings.Join(first, "\n")))
			}
			l = run(t, test.e, p)
			const want = `session "order", step "login": nothing to save as "token"`
			if text := l.Examples[bench.ErrSave]; l.Failed[bench.ErrSave] != l.Sessions[0].Begun || l.Sessions[0].Failed["login"] != l.Sessions[0].Begun || !strings.HasPrefix(text, want) {
				t.Errorf("%q, failed: %v, %+v", text, l.Failed, l.Sessions)
			}
		})
	}
	if all := strings.Join(first, "\n"); !strings.Contains(all, "POST /orders shop.example Bearer t ") || !strings.Contains(all, " sid=sid-") || !strings.Contains(all, "é tag ") {
		t.Errorf("%.2000s", all)
	}
}

func TestHTTP2OpenLoop(t *testing.T) {
	server, e := newHTTP2(t, false, hello)
	p := openCounted(server.URL, 1000, 8, 150)
	p.HTTP2 = true
	l := run(t, e, p)
	server.answered(t, 200, l.Sent)
	if l.Succeeded != l.Sent || l.Scheduled != 150 || l.Sent == 0 {
		t.Errorf("%d of %d succeeded, the server answered %d; failed: %v %v", l.Succeeded, l.Scheduled, server.count(200), l.Failed, l.Examples)
	}
}

func TestHTTP2IsNotSpokenByOthers(t *testing.T) {
	plain := newCounting(t, hello)
	l := run(t, Engine{}, plan2(plain.URL, 1, 3))
	if l.Succeeded != 0 || l.FailedTotal() != 3 {
		t.Errorf("over HTTP/1.1: %d succeeded, failed: %v %v", l.Succeeded, l.Failed, l.Examples)
	}
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
	secure.StartTLS()
	defer secure.Close()
	trusted := Engine{TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig}
	l = run(t, trusted, plan2(secure.URL, 1, 3))
	if l.Succeeded != 0 || l.FailedTotal() != 3 {
		t.Errorf("TLS without HTTP/2: %d succeeded, failed: %v %v", l.Succeeded, l.Failed, l.Examples)
	}
}

func TestHTTP2ConnectionsAreKeptBetweenSteps(t *testing.T) {
	server, e := newHTTP2(t, true, hello)
	var keep Kept
	defer keep.Close()
	e.Keep = &keep
	for _, connections := range []int{2, 4, 3} {
		if l := run(t, e, plan2(server.URL, connections, 60)); l.Succeeded != 60 {
			t.Errorf("%d succeeded, failed: %v %v", l.Succeeded, l.Failed, l.Examples)
		}
	}
	server.opened(t, 4)
}
