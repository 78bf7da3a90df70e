package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
)

// orders responds as a service with a login.
func orders(r *visit) string {
	var in struct {
		User, Password, Note string
		Item                 int
	}
	err := json.Unmarshal([]byte(r.body), &in)
	switch item, ok := strings.CutPrefix(r.URL.Path, "/items/"); {
	case ok:
		r.state["items"]++
		r.state["item "+item]++
		return "200\n\n" + `{"id":` + item + `}`
	case r.URL.Path == "/search":
		r.state["words"]++
		r.check(slices.Contains([]string{"lamp", "bed & sofa", "žlutý"}, r.FormValue("q")), "search for %q", r.FormValue("q"))
		return "200\n\n" + `{"found":[]}`
	case r.URL.Path == "/login":
		r.state["logins"]++
		r.check(err == nil && in.Password == "secret of "+in.User, "login %+v %v", in, err)
		return "200\n\n" + fmt.Sprintf(`{"data":{"token":"token-%d"}}`, r.state["logins"])
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer token-")
	if n, _ := strconv.Atoi(token); n < 1 || n > r.state["logins"] {
		r.state["refused"]++
		return "401"
	}
	r.state["orders"]++
	r.state["order "+token]++
	r.check(err == nil && in.Item > 0 && len(in.Note) == 36 && r.Header.Get("Content-Type") == "application/json" && r.state["order "+token] == 1, "order %+v %v", in, err)
	return "201\n\n" + fmt.Sprintf(`{"order":%d}`, in.Item)
}

// ordersPlan returns 70% items, 20% searches and 10% orders with a login.
func ordersPlan(t *testing.T, url string, connections int, units int64) Plan {
	t.Helper()
	users := filepath.Join(t.TempDir(), "users.csv")
	testenv.OK(t, os.WriteFile(users, []byte("name,password,unused\nada,secret of ada,1\n\"bob \"\"b\"\"\",\"secret of bob \"\"b\"\"\",2\n"), 0o600))
	p := counted(url, connections, units)
	p.IDs = nil
	p.Variables = []bench.Variable{
		{Name: "item", Range: &bench.Range{From: 1, To: 100}, Draw: bench.DrawRandom},
		{Name: "word", List: []string{"lamp", "bed & sofa", "žlutý"}, Draw: bench.DrawRandom},
		{Name: "user", File: users, Draw: bench.DrawInTurn}, {Name: "key", Make: bench.GenerateUUID},
	}
	p.Requests = []bench.Request{
		{Name: "item", Weight: 7, Path: "/items/{item}"},
		{Name: "search", Weight: 2, Path: "/search?q={word}"},
		{Name: "login", Session: "order", Method: "POST", Path: "/login", Encoding: bench.JSONBody, Body: `{"user":"{user.name}","password":"{user.password}"}`,
			Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "data.token"}}},
		{Name: "order", Session: "order", Method: "POST", Path: "/orders", ExpectStatus: 201, Encoding: bench.JSONBody, Body: `{"item":"{item:number}","note":"{key}"}`,
			Header: map[string]string{"Authorization": "Bearer {token}"}},
	}
	p.Sessions = []bench.Session{{Name: "order", Weight: 1}}
	p.Data = testenv.Must(values.OpenData(p.Variables, p.Requests))(t)
	return p
}

// The counts are those of the server, of requests and of sessions, over 1 to 512 connections: each unit of
// the mix was sent once, and each order has the token of its login.
func TestCountsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	for _, connections := range []int{1, 8, 64, 512} {
		t.Run(fmt.Sprint(connections), func(t *testing.T) {
			eachWay(t, func(t *testing.T, e Engine, open bool) {
				s := newSite(t, orders)
				p := ordersPlan(t, s.URL, connections, 300)
				if open {
					p.Step = openCounted("", 20_000, connections, 300).Step
				}
				l := run(t, e, p)
				holds(t, l, s, "asked=sent failed=0 cut=0 odd=0 site.refused=0 site.items+site.words+site.logins+dropped=300 "+
					"s0.begun=site.logins s0.completed=site.orders")
				if !open {
					holds(t, l, s, "dropped=0 site.items>site.words site.words>site.orders site.orders>0")
				}
				testenv.Check(t, s.odd == nil, "%.3q", s.odd)
			})
		})
	}
}

// A failure in a session is a failure of the request in which it happened, and counted as often as
// the server saw it.
func TestSessionsThatFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(p *Plan)
		want    string
		kind    bench.ErrorKind
		example string
	}{
		"wrong token": {func(p *Plan) { p.Requests[1].Header = map[string]string{"Authorization": "Bearer x{token}"} },
			"fail.s0.order=90 site.refused=90", "4xx", "401 Unauthorized"},
		"value missing": {func(p *Plan) { p.Requests[0].Save[0].Of = "data.jeton" }, "fail.s0.login=90 site.orders+site.refused=0", bench.ErrSave,
			`session "order", step "login": nothing to save as "token", since data.jeton is not in ` + "`" + `{"data":{"token":"***"}}`},
		"wrong body": {func(p *Plan) {
			p.CheckEvery, p.Check = 1, func(a Response) error {
				if a.Request == "order" && !bytes.HasPrefix(a.Body, []byte(`{"number"`)) {
					return errors.New("`number` is missing")
				}
				return nil
			}
		}, "fail.s0.order=90 site.orders=90", bench.ErrWrong, "`number` is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				s := newSite(t, orders)
				p := ordersPlan(t, s.URL, 3, 90)
				p.Requests = p.Requests[2:]
				test.change(&p)
				l := run(t, e, p)
				holds(t, l, s, "failed=90 s0.begun=90 s0.completed=0 site.logins=90 "+test.want)
				testenv.Equal(t, l.Failed[test.kind], 90, test.kind)
				testenv.Contains(t, l.Examples[test.kind], test.example)
			})
		})
	}
}

// A variable whose values may be taken once ends the load when they are used up: each was sent,
// none twice.
func TestVariableThatRunsOut(t *testing.T) {
	eachWay(t, func(t *testing.T, e Engine, open bool) {
		s := newSite(t, orders)
		p := ordersPlan(t, s.URL, 3, 1000)
		if open {
			p.Step = openPlan("", 5000, 3, time.Minute).Step
		}
		p.Requests, p.Sessions = p.Requests[:1], nil
		p.Variables[0] = bench.Variable{Name: "item", Range: &bench.Range{From: 1, To: 50}, Draw: bench.DrawOnce}
		l, err := e.Run(t.Context(), p, nil)
		testenv.Fails(t, err, `request "item": variable "item" has no value left: all 50 were taken; give it more values, or write `+"`draw: in_turn`")
		for n := range 50 {
			holds(t, l, s, fmt.Sprintf("site.items=50 site.item_%d=1", n+1))
		}
	})
}

// The same seed sends the same requests, byte for byte, in every loop.
func TestLoopsSendTheSame(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked strings.Builder
	server := accepting(t, func(c net.Conn) {
		defer c.Close()
		var sent bytes.Buffer
		in := bufio.NewReader(io.TeeReader(c, &sent))
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			mu.Lock()
			_, _ = sent.WriteTo(&asked)
			mu.Unlock()
			body, status := fmt.Sprintf(`{"data":{"token":"t %s\u00e9"}}`, r.URL.Path), "200 OK"
			if r.URL.Path == "/orders" {
				status = "201 Created"
			}
			fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
		}
	})
	p := ordersPlan(t, server.url, 1, 300)
	p.Variables = append(p.Variables, bench.Variable{Name: "code", Make: bench.GenerateString, Length: 8},
		bench.Variable{Name: "n", Make: bench.GenerateSequence}, bench.Variable{Name: "often", Range: &bench.Range{To: 9}, Draw: bench.DrawZipf, Exponent: 1.5})
	p.Requests[0].Header = map[string]string{"X-Code": "{code}", "X-Often": "{often}"}
	p.Requests[1].Method, p.Requests[1].Encoding, p.Requests[1].Body = "POST", bench.FormBody, "n={n}&word={word}"
	var first string
	eachLoop(t, func(t *testing.T, e Engine) {
		mu.Lock()
		asked.Reset()
		mu.Unlock()
		holds(t, run(t, e, p), nil, "failed=0")
		mu.Lock()
		defer mu.Unlock()
		if first == "" {
			first = asked.String()
		}
		same(t, strings.Split(asked.String(), "\r\n"), strings.Split(first, "\r\n"))
	})
	if strings.Count(first, "POST /orders") < 10 || strings.Contains(first, "{") && !strings.Contains(first, `{"`) {
		t.Errorf("%.3000q", first)
	}
}

// same reports the first line that differs.
func same(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%d lines, want %d; from line %d on\n%q, want\n%q", len(got), len(want), i, got[i:min(i+2, len(got))], want[i:min(i+2, len(want))])
			return
		}
	}
}

// Users send the same requests in each protocol, with and without TLS, with values saved from
// bodies, headers and cookies. A missing value is an error that names session and step.
func TestUsersOfEachProtocol(t *testing.T) {
	t.Parallel()
	mute := false
	respond := func(r *visit) string {
		switch {
		case r.URL.Path == "/login" && !mute:
			return fmt.Sprintf("200\nX-Tag: tag %d\nSet-Cookie: sid=sid-%[1]d\n\n"+`{"data":{"token":"t %[1]d\u00e9"}}`, r.n)
		case r.URL.Path == "/orders":
			return "201"
		}
		return hello
	}
	var first []string
	for i, name := range []string{"HTTP/1.1", "HTTP/1.1 over TLS", "HTTP/2", "HTTP/2 over TLS"} {
		t.Run(name, func(t *testing.T) {
			s := &site{respond: respond, noted: []string{"Authorization", "X-Tag", "Host"}}
			e := s.start(t, i%2 == 1, i > 1)
			p := ordersPlan(t, s.URL, 1, 150)
			p.HTTP2 = i > 1
			p.Requests[1].Method, p.Requests[1].Encoding, p.Requests[1].Body = "POST", bench.FormBody, "word={word}"
			p.Requests[2].Save = append(p.Requests[2].Save, bench.Save{Name: "tag", From: bench.FromHeader, Of: "X-Tag"}, bench.Save{Name: "sid", From: bench.FromCookie, Of: "sid"})
			p.Requests[3].Header = map[string]string{"Authorization": "Bearer {token}", "X-Tag": "{tag}", "Cookie": "sid={sid}", "Host": "shop.example"}
			for i := range 3 {
				p.Requests[i].Header = map[string]string{"Host": "shop.example"}
			}
			mute = false
			l := run(t, e, p)
			holds(t, l, s, "failed=0 s0.begun>=5 s0.completed=s0.begun all=asked")
			if first == nil {
				first = s.lines
			}
			same(t, s.lines, first)
			mute = true
			l = run(t, e, p)
			holds(t, l, s, "fail.missing_value=s0.begun fail.s0.login=s0.begun")
			testenv.Contains(t, l.Examples[bench.ErrSave], `session "order", step "login": nothing to save as "token"`)
		})
	}
	testenv.Contains(t, strings.Join(first, "\n"), "POST /orders sid=sid-", " Bearer t ", "é tag ", "shop.example")
}
