package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
)

// A use is what ten requests or sessions ask of a site, and what comes of it in every loop.
type use struct {
	requests []bench.Request
	respond  func(r *visit) string
	prepare  func(p *Plan)
	want     string          // in facts; none has failed if they do not say
	lines    []string        // of the journal, each ten times; nil: any
	kind     bench.ErrorKind // of ten failures, or of bodies that were not looked at
	example  string          // text of kind
}

const uses = 10

// shop speaks by cookies, links and redirects.
func shop(r *visit) string {
	body := fmt.Sprintf("\n\n"+`{"path":%q,"next":"?page=2"}`, r.URL.Path)
	signedIn := strings.Contains(r.Header.Get("Cookie"), "sid=ok")
	switch path := r.URL.Path; {
	case path == "/form-login":
		return "302\nLocation: /home\nSet-Cookie: sid=; Path=/; Max-Age=0\nSet-Cookie: sid=ok; Path=/; HttpOnly"
	case path == "/home" && !signedIn, path == "/private" && !signedIn:
		return "401"
	case path == "/orders":
		return "201\nLocation: http://" + r.Host + "/orders/7?view=full"
	case path == "/elsewhere":
		return "201\nLocation: http://127.0.0.1:1/orders/7"
	case path == "/away":
		return "302\nLocation: http://127.0.0.1:1/stolen"
	case path == "/loop":
		return "302\nLocation: /loop"
	case len(path) == 4 && path[1] == '3':
		return path[1:] + "\nLocation: there"
	}
	return "200" + body
}

// limiter responds to one in five requests with 200, to the others with 429.
func limiter(r *visit) string {
	if r.n%5 == 0 {
		return hello
	}
	return "429\n\nslow down"
}

func always(text string) func(*visit) string { return func(*visit) string { return text } }

// in returns requests of one session.
func in(requests ...bench.Request) []bench.Request {
	for i := range requests {
		requests[i].Session = "s"
		requests[i].Name = cmp.Or(requests[i].Name, string(rune('a'+i)))
	}
	return requests
}

func save(name string, from bench.Source, of string) []bench.Save {
	return []bench.Save{{Name: name, From: from, Of: of}}
}

func allUses() map[string]use {
	one := func(r bench.Request) []bench.Request {
		r.Name = "r"
		return []bench.Request{r}
	}
	get := func(path string, follow int) []bench.Request { return one(bench.Request{Path: path, Follow: follow}) }
	sends := func(method, path string, follow int) []bench.Request {
		return one(bench.Request{Method: method, Path: path, Follow: follow, Body: `a={x}`, Encoding: bench.FormBody})
	}
	login := bench.Request{Method: "POST", Path: "/form-login", ExpectStatus: 302}
	followed := bench.Request{Method: "POST", Path: "/form-login", Follow: 10, Body: "a={x}", Encoding: bench.FormBody}
	private := bench.Request{Path: "/private"}
	cookie := func(path, value string) bench.Request {
		return bench.Request{Path: path, Header: map[string]string{"Cookie": value}}
	}
	made := func(path string) bench.Request {
		return bench.Request{Name: "new", Method: "POST", Path: path, ExpectStatus: 201, Save: save("where", bench.FromHeader, "Location")}
	}
	const form = "a=5application/x-www-form-urlencoded"
	all := map[string]use{
		"a session keeps cookies": {requests: in(login, private), lines: []string{"POST /form-login 302", "GET /private sid=ok 200"}},
		"a form login is followed": {requests: in(followed, private),
			lines: []string{"POST /form-login " + form + " 302", "GET /home sid=ok 200", "GET /private sid=ok 200"}},
		"by a single request": {requests: sends("POST", "/form-login", 1), lines: []string{"POST /form-login " + form + " 302", "GET /home sid=ok 200"}},
		"a cookie of a redirect is saved": {requests: in(bench.Request{Method: "POST", Path: "/form-login", Follow: 1, Save: save("sid", bench.FromCookie, "sid")},
			cookie("/by/{sid}", "")), lines: []string{"POST /form-login 302", "GET /home sid=ok 200", "GET /by/ok 200"}},
		"303 of PUT":   {requests: sends("PUT", "/303", 10), lines: []string{"PUT /303 " + form + " 303", "GET /there 200"}},
		"not followed": {requests: get("/302", 0), lines: []string{"GET /302 302"}, kind: "3xx", example: "302 Found (Location: there; `follow: true` follows it)"},
		"a bound":      {requests: get("/loop", 2), lines: []string{"GET /loop 302", "GET /loop 302", "GET /loop 302"}, kind: "3xx", example: "302 Found after 2 redirects in a row, Location: /loop"},
		"another host": {requests: get("/away", 2), lines: []string{"GET /away 302"}, kind: bench.ErrLink, example: "/stolen` leads to another host than http://127.0.0.1:"},
		"a saved link": {requests: in(made("/orders"), bench.Request{Path: "{where}", Save: save("next", bench.FromJSON, "next")}, bench.Request{Path: "{next}"}),
			lines: []string{"POST /orders 201", "GET /orders/7?view=full 200", "GET /orders/7?page=2 200"}},
		"a saved link elsewhere": {requests: in(made("/elsewhere"), bench.Request{Path: "{where}"}), lines: []string{"POST /elsewhere 201"},
			kind: bench.ErrLink, example: "session \"s\", step \"new\": `http://127.0.0.1:1"},
		"a header Cookie": {requests: in(login, cookie("/x", "sid=mine"), cookie("/y", "a=b:c"), cookie("/z", ""), cookie("/e", "{empty}"), cookie("/f", "a={x}")),
			lines: []string{"POST /form-login 302", "GET /x sid=mine 200", "GET /y a=b:c; sid=ok 200", "GET /z 200", "GET /e sid=ok 200", "GET /f a=5; sid=ok 200"}},

		// Rejected requests do not count as throughput.
		"200 or 429": {requests: one(bench.Request{Path: "/", ExpectStatus: 200, MoreStatuses: []int{429}}), respond: limiter, want: "all=2 rejected=8 rejected.429=8 failed=0"},
		"429 or 200": {requests: one(bench.Request{Path: "/", ExpectStatus: 429, MoreStatuses: []int{200}}), respond: limiter, want: "all=2 rejected=8 rejected.429=8 failed=0"},
		"both are success": {requests: one(bench.Request{Path: "/", ExpectStatus: 200, MoreStatuses: []int{429}, Success: []int{200, 429}}), respond: limiter,
			want: "all=10 rejected=0 failed=0"},
		"only 200 is expected": {requests: one(bench.Request{Path: "/", ExpectStatus: 200}), respond: limiter, want: "all=2 rejected=0 failed=8 fail.4xx=8"},
		// A rejected response is not compared, no value is saved of it, and its session ends.
		"a rejected session": {requests: in(bench.Request{Path: "/cart", MoreStatuses: []int{429}, Save: save("cart", bench.FromJSON, "id")}, bench.Request{Path: "/order/{cart}"}),
			respond: func(r *visit) string {
				if r.URL.Path != "/cart" {
					r.state["orders"]++
					return hello
				} else if r.state["carts"]++; r.state["carts"]%2 == 0 {
					return "200\n\n" + `{"id": 7}`
				}
				return "429"
			}, prepare: func(p *Plan) {
				p.CheckEvery, p.Check = 1, func(a Response) error {
					if a.Status == 429 {
						return errors.New("a rejected response is compared")
					}
					return nil
				}
			}, want: "failed=0 rejected=5 s0.rejected=5 s0.begun=10 s0.completed=5 site.orders=5"},
	}
	const token = `t0ken-ä"of/the-session-0123456789`
	for name, response := range map[string]string{ // an example does not show what a session has saved, also where it was cut
		"a secret in a status":      "500\n\n" + `{"error":"t0ken-\u00e4\"of\/the-session-0123456789 is expired"}`,
		"a secret in a status, cut": "500\n\n" + strings.Repeat("x", 100) + token,
		"a secret where none is":    "200\n\n" + `{"error":"` + strings.Repeat("x", 40) + token + `"}`,
	} {
		kind := bench.ErrSave
		if response[0] == '5' {
			kind = "5xx"
		}
		all[name] = use{requests: in(bench.Request{Path: "/login", Save: save("sid", bench.FromJSON, "id")},
			bench.Request{Path: "/order", Header: map[string]string{"Cookie": "sid={sid}"}, Save: save("order", bench.FromJSON, "order")}),
			respond: func(r *visit) string {
				if r.URL.Path == "/login" {
					return "200\n\n" + `{"id":"t0ken-\u00e4\"of/the-session-0123456789"}`
				}
				return response
			}, kind: kind, example: "***"}
	}
	// A packed body is unpacked for the check, and measured as it came. What cannot be unpacked or is
	// too long is counted, and neither right nor wrong.
	body, long := []byte(strings.Repeat(`{"id":7}`, 100)), bytes.Repeat([]byte("x"), workload.MaxChecked+1)
	for name, of := range map[string]struct {
		encoding string
		body     []byte
		kind     bench.ErrorKind // ErrWrong, or why it is not looked at; "": right
		example  string
	}{
		"gzip":         {"gzip", packed("gzip", body), "", ""},
		"deflate":      {"deflate", packed("deflate", body), "", ""},
		"raw":          {"deflate", packed("raw", body), "", ""},
		"several":      {"gzip, deflate", packed("deflate", packed("gzip", body)), "", ""},
		"another text": {"gzip", packed("gzip", []byte("no")), bench.ErrWrong, "no"},
		"a bomb":       {"gzip", packed("gzip", long), bench.UnreadLong, "longer than 1 MiB"},
		"cut short":    {"gzip", packed("gzip", body)[:20], bench.UnreadBroken, "gzip body could not be unpacked: it ends too early"},
		"text":         {"br", body, bench.UnreadBroken, "br body could not be unpacked: it is broken"},
		"unknown":      {"zip", body, bench.UnreadEncoding, `encoding "zip" is not gzip, deflate, br or zstd`},
		"long as sent": {"zip", long, bench.UnreadLong, "longer than 1 MiB"},
		"not packed":   {"", body, "", ""},
		"too long":     {"", long, bench.UnreadLong, "longer than 1 MiB"},
		"the longest":  {"", long[1:], bench.ErrWrong, "xxxxxxxxxx"},
	} {
		want := "checked=10 unread=0 warn.not_looked_at=0"
		if of.kind != "" && of.kind != bench.ErrWrong {
			want = "failed=0 checked=0 unread=10 warn.not_looked_at=1"
		}
		if of.kind != bench.ErrWrong {
			want += fmt.Sprint(" bytes=", uses*len(of.body))
		}
		all["packed: "+name] = use{requests: get("/", 0), respond: always("200\nContent-Encoding: " + of.encoding + "\n\n" + string(of.body)),
			prepare: func(p *Plan) {
				p.CheckEvery, p.Check = 1, func(a Response) error {
					if a.Unread == nil && !bytes.Equal(a.Body, body) {
						return fmt.Errorf("%.10s", a.Body)
					}
					return a.Unread
				}
			}, want: want, kind: of.kind, example: of.example}
	}
	// A value is saved from the unpacked body. If there is none the reason is the body, not the value.
	const notLookedAt = `"id", since the body was not looked at: `
	pad := strings.Repeat("x", workload.MaxChecked)
	last, first := []byte(`{"pad":"`+pad+`","id":"x7"}`), []byte(`{"id":"x7","pad":"`+pad+`"}`)
	for name, of := range map[string]struct{ encoding, body, example string }{
		"gzip":           {"gzip", string(packed("gzip", []byte(`{"id":"x7"}`))), ""},
		"broken":         {"gzip", `{"id":"x7"}`, notLookedAt + "gzip body could not be unpacked: it is broken"},
		"long":           {"", string(last), notLookedAt + "longer than 1 MiB"},
		"long, unpacked": {"gzip", string(packed("gzip", last)), notLookedAt + "longer than 1 MiB"},
		"long, at first": {"gzip", string(packed("gzip", first)), ""},
	} {
		u := use{requests: in(bench.Request{Path: "/", Save: save("id", bench.FromJSON, "id")}, bench.Request{Path: "/{id}"}),
			respond: func(r *visit) string {
				if r.URL.Path == "/x7" {
					return "200"
				}
				return "200\nContent-Encoding: " + of.encoding + "\n\n" + of.body
			}, lines: []string{"GET / 200", "GET /x7 200"}}
		if of.example != "" {
			u.kind, u.example, u.lines = bench.ErrSave, of.example, u.lines[:1]
		}
		all["saved from packed: "+name] = u
	}
	// The example of an unexpected status is text too, and of what cannot be shown its size.
	stock := packed("gzip", []byte(`{"error":"no stock"}`))
	for encoding, example := range map[string]string{"gzip": `{"error":"no stock"}`, "x": fmt.Sprintf("(%d bytes, x)", len(stock))} {
		all["an error in "+encoding] = use{requests: get("/", 0), respond: always("500\nContent-Encoding: " + encoding + "\n\n" + string(stock)),
			kind: "5xx", example: "500 Internal Server Error " + example}
	}
	return all
}

// What users do and see is the same in every loop, closed and (if no large body is packed) open, and over HTTP/2; and Once says the same.
func TestUses(t *testing.T) {
	all := allUses()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := all[name]
			if of.respond == nil {
				of.respond = shop
			}
			eachLoop(t, func(t *testing.T, e Engine) { of.comesOf(t, e, counted("", 3, uses)) })
			if !strings.Contains(name, "packed: ") {
				eachLoop(t, func(t *testing.T, e Engine) { of.comesOf(t, e, openCounted("", 5000, uses, uses)) })
			}
			t.Run("HTTP/2", func(t *testing.T) { of.comesOf(t, Engine{}, plan2("", 3, uses)) })
		})
	}
}

func (of use) comesOf(t *testing.T, e Engine, p Plan) {
	s := &site{respond: of.respond}
	s.start(t, false, p.HTTP2)
	p.BaseURL, p.IDs, p.Requests = s.URL, nil, slices.Clone(of.requests)
	if p.Requests[0].Session != "" {
		p.Sessions = []bench.Session{{Name: "s", Weight: 1}}
	}
	p.Variables = []bench.Variable{{Name: "x", List: []string{"5"}}, {Name: "empty", List: []string{""}}}
	p.Data.Uses = values.Uses(p.Requests)
	if of.prepare != nil {
		of.prepare(&p)
	}
	l := run(t, e, p)
	want := of.want + " asked=sent statuses=asked status.200=got.200 status.429=got.429"
	if of.kind != "" {
		testenv.Equal(t, l.Failed[of.kind]+l.Unread[of.kind], uses, of.kind)
	}
	if !strings.Contains(want, "failed=") {
		want += fmt.Sprint(" failed=", l.Failed[of.kind])
	}
	if p.Sessions != nil && of.want == "" {
		want += fmt.Sprint(" s0.begun=10 s0.completed=", uses-l.Failed[of.kind])
	}
	holds(t, l, s, want)
	testenv.Contains(t, l.Examples[of.kind], of.example)
	testenv.Contains(t, fmt.Sprint(l.Examples), "!t0ken", "!session-0")
	if of.lines != nil {
		lines := map[string]int{}
		for _, line := range of.lines {
			lines[line] += uses
		}
		testenv.Equal(t, s.saw(), lines)
	}
	if p.Step.Open() || of.example == "***" {
		return
	}
	var last Asked
	if err := e.Once(t.Context(), p, func(a Asked) { last = a }); l.FailedTotal() == uses {
		testenv.Fails(t, err, of.example)
	} else if l.FailedTotal() == 0 {
		testenv.OK(t, err)
		if of.kind != "" {
			testenv.Contains(t, last.Unread, of.example)
		}
	}
}

// What the setup got is sent with each session and each single request; sessions change only their
// own cookies.
func TestCookiesOfTheSetup(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		s, trial := newSite(t, shop), &TrialState{}
		p := counted(s.URL, 3, 30)
		p.Sessions, p.IDs, p.Step.Request, p.Life = []bench.Session{{Name: "s"}}, nil, "s", trial
		p.Requests = in(bench.Request{Method: "POST", Path: "/form-login", Follow: 5, Save: save("link", bench.FromJSON, "next")}, bench.Request{Path: "{link}"})
		p.Data.Uses = values.Uses(p.Requests)
		testenv.OK(t, e.Once(t.Context(), p, func(a Asked) { trial.Saved = a.Saved }))
		p.Requests = append(in(bench.Request{Path: "/private"}), bench.Request{Name: "x", Weight: 1, Path: "/private"}, bench.Request{Name: "y", Weight: 1, Path: "{link}"})
		p.Sessions[0].Weight, p.Step.Request, p.Data.Uses = 1, "", values.Uses(p.Requests)
		holds(t, run(t, e, p), s, "failed=0")
		saw := s.saw()
		testenv.Equal(t, saw["GET /private sid=ok 200"]+saw["GET /home?page=2 sid=ok 200"], 31, saw)
	})
}

// A path that is sent unescaped arrives unchanged, also one that is not a URL.
func TestUnescapedPaths(t *testing.T) {
	all := []string{"items/1?q=a%2Fb&page=2", "a%zz?b=%&{x}|^", "//evil.test/", "?", "a/../b/."}
	eachLoop(t, func(t *testing.T, e Engine) {
		var mu sync.Mutex
		seen, want := map[string]int{}, map[string]int{}
		url := raw(t, func(conn net.Conn, request string) bool {
			line, _, _ := strings.Cut(request, "\r\n")
			mu.Lock()
			seen[line]++
			mu.Unlock()
			return testenv.Err(conn.Write([]byte(okResponse))) == nil
		})
		p := counted(url+"/api", 2, 20)
		p.Requests = []bench.Request{{Name: "a", Weight: 1, Path: "/{p:raw}"}}
		p.Variables = []bench.Variable{{Name: "p", List: all, Draw: bench.DrawInTurn}}
		holds(t, run(t, e, p), nil, "sent=20 failed=0")
		for _, value := range all {
			want["GET /api/"+value+" HTTP/1.1"] = 4
		}
		testenv.Equal(t, seen, want)
	})
}

// Each request of a mix has its own latencies.
func TestKindsOfRequestsHaveTheirLatencies(t *testing.T) {
	eachWay(t, func(t *testing.T, e Engine, open bool) {
		p := counted("", 4, 60)
		if open {
			p = openCounted("", 500, 0, 60)
		}
		p.BaseURL = raw(t, func(conn net.Conn, request string) bool {
			if strings.HasPrefix(request, "GET /slow") {
				time.Sleep(20 * ms)
			}
			return testenv.Err(conn.Write([]byte(okResponse))) == nil
		})
		p.Requests = []bench.Request{{Name: "fast", Path: "/fast", Weight: 3}, {Name: "slow", Path: "/slow", Weight: 1}}
		l := run(t, e, p)
		if fast, slow := l.Requests[0].Latency, l.Requests[1].Latency; slow.Min < 20*ms*99/100 || fast.Min >= slow.Min {
			t.Errorf("fast ones took at least %s, slow ones %s", fast.Min, slow.Min)
		}
	})
}

// What is expected of a body may depend on the request.
func TestBodiesAreChecked(t *testing.T) {
	t.Parallel()
	eachLoop(t, func(t *testing.T, e Engine) {
		for _, length := range []string{"", "\nTransfer-Encoding: chunked"} {
			s := newSite(t, func(r *visit) string {
				id := r.URL.Query().Get("id")
				if id == "3" {
					r.state["wrong"]++
					id = "4"
				}
				return "200" + length + "\n\ncity " + id + " in " + r.URL.Query().Get("language")
			})
			p := counted(s.URL, 4, 200)
			p.Requests[0].Path += "&language={language}"
			p.Requests[0].Languages = []string{"cs", "de"}
			p.CheckEvery, p.Check = 1, func(a Response) error {
				if want := fmt.Sprintf("city %d in %s", a.ID, a.Language); string(a.Body) != want || a.Request != "get" {
					return fmt.Errorf("%s: %q, want %q", a.Request, a.Body, want)
				}
				return nil
			}
			l := run(t, e, p)
			holds(t, l, s, "checked=200 fail.unexpected_body=site.wrong failed=site.wrong site.wrong>0")
			testenv.Contains(t, l.Examples[bench.ErrWrong], `get: "city 4 in `)
			p.CheckEvery = 0
			holds(t, run(t, e, p), nil, "checked<=30") // about 2
			p.CheckEvery, p.CheckQuota = 1<<30, 100
			holds(t, run(t, e, p), nil, "checked>=95 checked<=105")
		}
	})
}
