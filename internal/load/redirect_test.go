package load

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
)

// shop is a service that speaks by cookies, links and redirects. Its journal has each request.
type shop struct {
	*httptest.Server
	mu      sync.Mutex
	journal map[string]int // "GET /home sid=ok 200"
	other   *counting      // another host, to which no request may be sent
}

func newShop(t *testing.T, http2 bool) *shop {
	s := &shop{journal: map[string]int{}, other: newCounting(t, hello)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		status := s.respond(w, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.journal[strings.TrimSpace(fmt.Sprintf("%s %s %s%s%d", r.Method, r.URL, said(r.Header.Get("Cookie")), said(string(body)+r.Header.Get("Content-Type")), status))]++
	}))
	if http2 {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func said(text string) string {
	if text == "" {
		return ""
	}
	return text + " "
}

func (s *shop) respond(w http.ResponseWriter, r *http.Request) (status int) {
	defer func() {
		w.WriteHeader(status)
		if status == http.StatusOK {
			fmt.Fprintf(w, `{"path":%q,"next":"?page=2"}`, r.URL.Path)
		}
	}()
	to := func(status int, where string) int {
		w.Header().Set("Location", where)
		return status
	}
	signedIn := strings.Contains(r.Header.Get("Cookie"), "sid=ok")
	switch path := r.URL.Path; {
	case path == "/form-login":
		w.Header().Add("Set-Cookie", "sid=; Path=/; Max-Age=0")
		w.Header().Add("Set-Cookie", "sid=ok; Path=/; HttpOnly")
		return to(http.StatusFound, "/home")
	case path == "/home" && !signedIn, path == "/private" && !signedIn:
		return http.StatusUnauthorized
	case path == "/orders":
		return to(http.StatusCreated, s.URL+"/orders/7?view=full")
	case path == "/elsewhere":
		return to(http.StatusCreated, s.other.URL+"/orders/7")
	case path == "/away":
		return to(http.StatusFound, s.other.URL+"/stolen")
	case path == "/loop":
		return to(http.StatusFound, "/loop")
	case len(path) == 4 && path[1] == '3':
		var status int
		fmt.Sscan(path[1:], &status)
		return to(status, "there")
	}
	return http.StatusOK
}

func (s *shop) plan(requests ...bench.Request) Plan {
	p := counted(s.URL, 3, 30)
	p.Requests, p.IDs = requests, nil
	if requests[0].Session != "" {
		p.Sessions = []bench.Session{{Name: requests[0].Session, Weight: 1}}
	}
	p.Data.Uses = values.Uses(requests)
	return p
}

// sessions, cookies, links and redirects: each request that the load counts is in the journal of
// the server, with the cookies, methods and bodies of a browser.
func TestWhatUsersFollow(t *testing.T) {
	t.Parallel()
	one := func(method, path string, follow int) bench.Request {
		return bench.Request{Name: "r", Method: method, Path: path, Follow: follow, Body: `a={x}`, Encoding: bench.FormBody}
	}
	get := func(path string, follow int) bench.Request {
		return bench.Request{Name: "r", Path: path, Follow: follow}
	}
	const form = "a=5application/x-www-form-urlencoded"
	for _, c := range []struct {
		name     string
		requests []bench.Request
		want     []string // each 30 times
		failed   bench.ErrorKind
		example  string
	}{
		{"a session keeps cookies", []bench.Request{{Name: "in", Session: "s", Method: "POST", Path: "/form-login", ExpectStatus: 302}, {Name: "p", Session: "s", Path: "/private"}},
			[]string{"POST /form-login 302", "GET /private sid=ok 200"}, "", ""},
		{"a form login is followed", []bench.Request{{Name: "in", Session: "s", Method: "POST", Path: "/form-login", Follow: 10, Body: "a={x}", Encoding: bench.FormBody},
			{Name: "p", Session: "s", Path: "/private"}},
			[]string{"POST /form-login " + form + " 302", "GET /home sid=ok 200", "GET /private sid=ok 200"}, "", ""},
		{"by a single request", []bench.Request{one("POST", "/form-login", 1)}, []string{"POST /form-login " + form + " 302", "GET /home sid=ok 200"}, "", ""},
		{"a cookie of a redirect is saved", []bench.Request{{Name: "in", Session: "s", Method: "POST", Path: "/form-login", Follow: 1, Save: []bench.Save{{Name: "sid", From: bench.FromCookie, Of: "sid"}}},
			{Name: "p", Session: "s", Path: "/by/{sid}", Header: map[string]string{"Cookie": ""}}}, []string{"POST /form-login 302", "GET /home sid=ok 200", "GET /by/ok 200"}, "", ""},
		{"303 of PUT", []bench.Request{one("PUT", "/303", 10)}, []string{"PUT /303 " + form + " 303", "GET /there 200"}, "", ""},
		{"not followed", []bench.Request{get("/302", 0)}, []string{"GET /302 302"}, "3xx", "302 Found (Location: there; `follow: true` follows it)"},
		{"a bound", []bench.Request{get("/loop", 2)}, []string{"GET /loop 302", "GET /loop 302", "GET /loop 302"}, "3xx", "302 Found after 2 redirects in a row, Location: /loop"},
		{"another host", []bench.Request{get("/away", 2)}, []string{"GET /away 302"}, bench.ErrLink, "/stolen` leads to another host than http://127.0.0.1:"},
		{"a saved link", []bench.Request{{Name: "new", Session: "s", Method: "POST", Path: "/orders", ExpectStatus: 201, Save: []bench.Save{{Name: "where", From: bench.FromHeader, Of: "Location"}}},
			{Name: "read", Session: "s", Path: "{where}", Save: []bench.Save{{Name: "next", From: bench.FromJSON, Of: "next"}}}, {Name: "more", Session: "s", Path: "{next}"}},
			[]string{"POST /orders 201", "GET /orders/7?view=full 200", "GET /orders/7?page=2 200"}, "", ""},
		{"a saved link elsewhere", []bench.Request{{Name: "new", Session: "s", Method: "POST", Path: "/elsewhere", ExpectStatus: 201, Save: []bench.Save{{Name: "where", From: bench.FromHeader, Of: "Location"}}},
			{Name: "read", Session: "s", Path: "{where}"}}, []string{"POST /elsewhere 201"}, bench.ErrLink, "session \"s\", step \"new\": `http://127.0.0.1:"},
		{"a header Cookie", []bench.Request{{Name: "in", Session: "s", Method: "POST", Path: "/form-login", ExpectStatus: 302}, {Name: "p", Session: "s", Path: "/x", Header: map[string]string{"Cookie": "sid=mine"}},
			{Name: "q", Session: "s", Path: "/y", Header: map[string]string{"Cookie": "a=b:c"}}, {Name: "z", Session: "s", Path: "/z", Header: map[string]string{"Cookie": ""}},
			{Name: "e", Session: "s", Path: "/e", Header: map[string]string{"Cookie": "{empty}"}}, {Name: "f", Session: "s", Path: "/f", Header: map[string]string{"Cookie": "a={x}"}}},
			[]string{"POST /form-login 302", "GET /x sid=mine 200", "GET /y a=b:c; sid=ok 200", "GET /z 200", "GET /e sid=ok 200", "GET /f a=5; sid=ok 200"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			each := func(t *testing.T, e Engine, http2, open bool) {
				s := newShop(t, http2)
				p := s.plan(c.requests...)
				if p.HTTP2 = http2; open {
					p.Step = bench.Step{Name: "open", Rate: 5000, MaxConnections: 30, Duration: time.Hour, MaxRequests: 30}
				}
				p.Variables = []bench.Variable{{Name: "x", List: []string{"5"}}, {Name: "empty", List: []string{""}}}
				l := run(t, e, p)
				want, total := map[string]int{}, int64(0)
				for _, line := range c.want {
					want[line] += 30
					total += 30
				}
				testenv.Until(t, 30*time.Second, "the server has seen all", func() bool {
					s.mu.Lock()
					defer s.mu.Unlock()
					return total <= int64(sum(s.journal))
				})
				s.mu.Lock()
				defer s.mu.Unlock()
				if !maps.Equal(s.journal, want) || l.Sent != total || len(s.other.statuses) > 0 {
					t.Errorf("%d sent; the server saw %v, want %v; another host %v", l.Sent, s.journal, want, s.other.statuses)
				}
				failed := int64(0)
				if c.failed != "" {
					failed = 30
				}
				if l.FailedTotal() != failed || l.Failed[c.failed] != failed || !strings.Contains(l.Examples[c.failed], c.example) {
					t.Errorf("failed %v %v, want %s %q", l.Failed, l.Examples, c.failed, c.example)
				}
				for _, of := range l.Sessions {
					if of.Begun != 30 || of.Completed != 30-failed {
						t.Errorf("sessions %+v", of)
					}
				}
			}
			eachWay(t, func(t *testing.T, e Engine, open bool) { each(t, e, false, open) })
			t.Run("HTTP/2", func(t *testing.T) { each(t, Engine{Name: bench.EngineVegeta}, true, false) })
		})
	}
}

// What the setup got is sent with each session and each single request; sessions change only their
// own cookies.
func TestCookiesOfTheSetup(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		s, trial := newShop(t, false), &TrialState{}
		p := s.plan(bench.Request{Name: "in", Session: "setup", Method: "POST", Path: "/form-login", Follow: 5, Save: []bench.Save{{Name: "link", From: bench.FromJSON, Of: "next"}}})
		p.Requests = append(p.Requests, bench.Request{Name: "x", Session: "setup", Path: "{link}"})
		p.Data.Uses, p.Life, p.Step.Request = values.Uses(p.Requests), trial, "setup"
		p.Sessions[0].Weight = 0
		testenv.OK(t, e.Once(t.Context(), p, func(a Asked) { trial.Saved = a.Saved }))
		p = s.plan(bench.Request{Name: "a", Weight: 1, Path: "/private"}, bench.Request{Name: "b", Session: "s", Path: "/private", Save: nil},
			bench.Request{Name: "c", Weight: 1, Path: "{link}"})
		p.Life, p.Sessions = trial, []bench.Session{{Name: "s", Weight: 1}}
		l := run(t, e, p)
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := s.journal["GET /private sid=ok 200"] + s.journal["GET /home?page=2 sid=ok 200"]; l.FailedTotal() > 0 || n != 31 {
			t.Errorf("%v, the server saw %v", l.Failed, s.journal)
		}
	})
}

// A path that is sent unescaped arrives unchanged, also one that is not a URL.
func TestUnescapedPaths(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"items/1?q=a%2Fb&page=2", "a%zz?b=%&{x}|^", "//evil.test/", "?", "a/../b/."} {
		eachLoop(t, func(t *testing.T, e Engine) {
			var mu sync.Mutex
			seen := map[string]int{}
			url := raw(t, func(conn net.Conn, request string) bool {
				line, _, _ := strings.Cut(request, "\r\n")
				mu.Lock()
				seen[line]++
				mu.Unlock()
				_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				return err == nil
			})
			p := counted(url+"/api", 2, 20)
			p.Requests = []bench.Request{{Name: "a", Weight: 1, Path: "/{p:raw}"}}
			p.Variables = []bench.Variable{{Name: "p", List: []string{value}}}
			l := run(t, e, p)
			mu.Lock()
			defer mu.Unlock()
			if want := map[string]int{"GET /api/" + value + " HTTP/1.1": 20}; !maps.Equal(seen, want) || l.Sent != 20 {
				t.Errorf("%d sent, the server saw %v, want %v", l.Sent, seen, want)
			}
		})
	}
}

// A secure cookie is sent over https, and redirects are followed there.
func TestSecureCookies(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Cookie"))]++
		mu.Unlock()
		if r.URL.Path == "/login" {
			w.Header().Add("Set-Cookie", "__Host-sid=1; Path=/; Secure; HttpOnly")
			w.Header().Set("Location", "https://"+r.Host+"/home")
			w.WriteHeader(http.StatusSeeOther)
		}
	}))
	defer server.Close()
	p := counted(server.URL, 2, 20)
	p.Requests = []bench.Request{{Name: "in", Session: "s", Method: "POST", Path: "/login", Follow: 1}, {Name: "x", Session: "s", Path: "/x"}}
	p.Sessions = []bench.Session{{Name: "s", Weight: 1}}
	l := run(t, Engine{TLS: server.Client().Transport.(*http.Transport).TLSClientConfig}, p)
	if want := map[string]int{"/login": 20, "/home __Host-sid=1": 20, "/x __Host-sid=1": 20}; !maps.Equal(seen, want) || l.Sent != 60 || l.FailedTotal() > 0 {
		t.Errorf("%d sent, failed %v, the server saw %v", l.Sent, l.Examples, seen)
	}
}
