package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

var (
	oneSession = []bench.Session{{Name: "s"}}
	form       = map[string]string{"X-A": "1", "Content-Language": "en", "Host": "other.test"}
	token      = []bench.Save{{Name: "token", From: bench.FromJSON, Of: "token"}}
	loggedIn   = "200\nSet-Cookie: sid=Abcdef123456; Path=/\nSet-Cookie: t=Zyxwvu987654\n\n" + `{"token":"secret-1","next":"/next?p=2","n":7,"q":"a\"b"}`
	setUps     = []string{
		loggedIn, "200\n\n" + `{"token":"secret-2","next":"/other"}`,
		"200\nSet-Cookie: b=2; Path=/\n\n" + `{"token":"3","next":"x"}`,
	}
)

// upTo is a check of the body, which names what it gets.
func upTo(a Response) error {
	text := fmt.Sprintf("%s: id %d, language %q, %q", a.Request, a.ID, a.Language, a.Body)
	for _, name := range []string{"v", "token", "other"} {
		if a.Value != nil {
			text += fmt.Sprintf(", %s %q", name, a.Value(name))
		}
	}
	switch {
	case a.Unread != nil:
		return a.Unread
	case string(a.Body) == "unknown":
		return ErrNotKnown
	case strings.Contains(string(a.Body), "good"):
		return nil
	}
	return errors.New(text)
}

// What users send, and what locbench makes of the responses.
func TestFlow(t *testing.T) {
	get := func(path string) bench.Request { return bench.Request{Name: path, Path: path} }
	step := func(name, path string) bench.Request { return bench.Request{Name: name, Session: "s", Path: path} }
	post := func(encoding bench.Encoding, body string) bench.Request {
		return bench.Request{Name: body, Session: "s", Method: "POST", Path: "/", Encoding: encoding, Body: body}
	}
	column := func(name, file, column string, draw bench.Draw) bench.Variable {
		return bench.Variable{Name: name, File: file, Column: column, Draw: draw, Exponent: 1.1}
	}
	const users = "name,city\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n8,8\n9,9\n"
	all := map[string]flow{
		"values": {
			times: 6, files: map[string]string{"rows.csv": "name,city\na,Brno\nb,Žďár/n\n", "list.json": `["x y","z"]`},
			spec: Plan{
				Seed: 3, Variables: []bench.Variable{
					{Name: "n", Range: &bench.Range{From: 7, To: 70}, Draw: bench.DrawRandom},
					{Name: "t", List: []string{"a/b", `"q" & é`, "\u0001"}, Draw: bench.DrawInTurn},
					{Name: "row", File: "rows.csv", Draw: bench.DrawInTurn},
					{Name: "cell", File: "list.json", Draw: bench.DrawInTurn},
					{Name: "z", Range: &bench.Range{From: 1, To: 9}, Draw: bench.DrawZipf, Exponent: 1.5},
					{Name: "uuid", Make: bench.GenerateUUID}, {Name: "str", Make: bench.GenerateString, Length: 5},
					{Name: "seq", Make: bench.GenerateSequence}, {Name: "now", Make: bench.GenerateNow},
					{Name: "unix", Make: bench.GenerateUnix},
				},
				IDs: []int64{-5, 6, 7},
				Requests: []bench.Request{
					{
						Name: "json", Weight: 3, Method: "POST",
						Path:      "/{t}/{id}/{language}/{row.city}?t={t}&n={n}&u={uuid}&id={id}&now={now}",
						Languages: []string{"cs", "x/y"}, IDs: bench.IDSpec{Distribution: "zipf"},
						Encoding: bench.JSONBody,
						Body:     `{"t":"{t}","n":"{n:number}","m":"{n}","cell":"{cell}","z":[{"a":"{z:json}"},"{{z}}"],"é":"{row.name}"}`,
						Header:   map[string]string{"X-Seq": "{seq} {str}", "X-Unix": "{unix}"},
					},
					{
						Name: "form", Weight: 1, Method: "PUT", Path: "/form?", Encoding: bench.FormBody,
						Body: "t={t}&row={row.city}",
						Header: map[string]string{"Authorization": "mine", "Cookie": "", "Host": "{str}.test",
							"content-type": "text/x"},
					},
				},
			},
		},
		"ids": {times: 5, spec: Plan{Requests: []bench.Request{
			{Name: "id", Method: "HEAD", Path: "/{id}", IDs: bench.IDSpec{Distribution: "fixed",
				Fixed: []int64{4, -2}}},
		}}},
		"multipart": {files: map[string]string{"f.bin": "é {v}"}, spec: Plan{
			Variables: []bench.Variable{{Name: "v", List: []string{`a"b` + "\r\n"}}},
			Requests: []bench.Request{{Name: "up", Method: "POST", Path: "/", Multipart: []bench.Field{
				{Name: `fie"ld`, Value: "is {v}"}, {Name: "file", File: "f.bin", FileName: `n"{v}`, Type: "image/png"},
			}}},
		}},
		"file": {files: map[string]string{"f.bin": "{v} as written"}, spec: Plan{
			Requests: []bench.Request{{Name: "up", Method: "PATCH", Path: "/", BodyFile: "f.bin",
				Header: map[string]string{"X-A": "xLocbenchPlace0x"}}},
		}},
		"limits of sessions": {times: 2, responses: []string{
			loggedIn, "200\nLocation: /made/1\n\n<b>42</b>", "429", loggedIn, "500\n\nt=Zyxwvu987654 for secret-1",
		}, spec: Plan{
			Sessions: oneSession, Requests: []bench.Request{
				{Name: "in", Session: "s", Method: "POST", Path: "/in", Body: "x", Save: append([]bench.Save{
					{Name: "next", From: bench.FromJSON, Of: "next"}, {Name: "n", From: bench.FromJSON, Of: "n"},
					{Name: "q", From: bench.FromJSON, Of: "q"},
					{Name: "sid", From: bench.FromCookie, Of: "sid"},
				}, token...)},
				{Name: "two", Session: "s", Method: "POST", Path: "{next}",
					Body:     `{"n":"{n:json}","t":"{token}","q":["{q}","{q:json}"]}`,
					Encoding: bench.JSONBody, Header: map[string]string{"Authorization": "Bearer {token}",
						"X-Q": "{q}", "Cookie": "own=1"},
					Save: []bench.Save{
						{Name: "at", From: bench.FromHeader, Of: "location"},
						{Name: "b", From: bench.FromRegex, Of: `<b>(\d+)`},
					}},
				{Name: "three", Session: "s", Path: "{at}?b={b}&t={next:raw}&q={q}", MoreStatuses: []int{429, 404},
					Think: bench.Think{Min: time.Second, Max: time.Second}},
				step("four", "/not/{token}"),
			},
		}},
		"not saved": {times: 6, responses: []string{"200\n\n" + `{"data":{"token":"clear"}}`, "200\n\n" + `{"token":"https://evil.test/"}`,
			"200 cut\n\n" + `{"token":"a",`,
			"200 cut\nContent-Encoding: x\n\n" + `{"token":"b"}`,
			"200 cut\nContent-Encoding: gzip\n\nx", "200\nContent-Encoding: gzip\n\nx"}, spec: Plan{
			Sessions: oneSession, Requests: []bench.Request{{Name: "a", Session: "s", Path: "/", Save: token},
				step("b", "{token}")},
		}},
		"redirects of POST": {responses: []string{
			"301\nLocation: /to\nSet-Cookie: a=1; Path=/", "200\n", "302\nLocation: to", "200", "303\nLocation: ?x",
			"200", "307\nLocation: //shop.test:8080/é",
			"308\nLocation: http://other.test:80/x", "303\nLocation: x", "200", "302",
			"308\nLocation: https://Shop.test:8080", "300",
		}, times: 8, spec: Plan{Requests: []bench.Request{
			{Name: "post", Method: "POST", Path: "/from/{v}", Body: "<{v}>", Header: form, Follow: 3},
		}, Variables: []bench.Variable{{Name: "v", List: []string{"1"}}}}},
		"redirects of PUT": {responses: []string{"302\nLocation: /a", "303\nLocation: /b", "200"},
			spec: Plan{Requests: []bench.Request{
				{Name: "put", Method: "PUT", Path: "/from", Body: "body", Follow: 3},
			}}},
		"redirects of HEAD": {responses: []string{"303\nLocation: /a", "302\nLocation: /b", "301\nLocation: /c"},
			times: 2, spec: Plan{
				Requests: []bench.Request{{Name: "head", Method: "HEAD", Path: "/from", Follow: 2}},
			}},
		"redirects of GET": {responses: []string{"303\nLocation: /a\nSet-Cookie: sid=7; Path=/", "307\nLocation: /b",
			"200\n\n{}"}, spec: Plan{
			Sessions: oneSession, Requests: []bench.Request{
				{Name: "get", Session: "s", Path: "/from", Follow: 2, Header: map[string]string{"Cookie": "own=1"},
					Save: []bench.Save{{Name: "sid", From: bench.FromCookie, Of: "sid"},
						{Name: "x", From: bench.FromCookie, Of: "y"}}},
			},
		}},
		"not followed": {responses: []string{"302\nLocation: /a"}, spec: Plan{Requests: []bench.Request{get("/")}}},
		"expected redirects": {responses: []string{"302\nLocation: /a", "301\nLocation: /a", "304\nLocation: /a"},
			times: 3, spec: Plan{
				Requests: []bench.Request{{Name: "get", Path: "/", Follow: 1, ExpectStatus: 302, MoreStatuses: []int{307}}},
			}},
		"repeated": {responses: []string{"202\n\nnot yet", "202\n\ndone {v}", "200\n\nnot yet", "200\n\ndone {v}",
			"200\n\nb"}, times: 2, spec: Plan{
			Sessions: oneSession, Variables: []bench.Variable{{Name: "v", List: []string{"1"}}},
			Until: func(a Response) error {
				if string(a.Body) != "done {v}" || a.Value("v") != "1" {
					return fmt.Errorf("%s has %q", a.Request, a.Body)
				}
				return nil
			},
			Requests: []bench.Request{{
				Name: "wait", Session: "s", Path: "/wait", MoreStatuses: []int{202},
				Think: bench.Think{Min: time.Second, Max: time.Second},
				Repeat: &bench.Repeat{Status: []int{200}, Until: bench.Expectation{"contains": "done {v}"},
					Every: 2 * time.Second, Most: 4},
			}, step("b", "/b")},
		}},
		"repeated too often": {responses: []string{"202", "409"}, spec: Plan{Requests: []bench.Request{{
			Name: "wait", Path: "/wait", MoreStatuses: []int{202, 409},
			Repeat: &bench.Repeat{Status: []int{200, 201}, Every: 1, Most: 3},
		}}}},
		"repeated at the end": {responses: []string{"202"}, over: true, spec: Plan{Requests: []bench.Request{{
			Name: "wait", Path: "/wait", MoreStatuses: []int{202},
			Repeat: &bench.Repeat{Status: []int{200}, Every: time.Second, Most: 3},
		}}}},
		"a session at the end": {over: true, spec: Plan{
			Sessions: oneSession, Requests: []bench.Request{step("a", "/"), step("b", "/")},
		}},
		"repeated after a redirect": {responses: []string{"302\nLocation: /to", "202", "302\nLocation: /to", "200"},
			spec: Plan{
				Until: func(Response) error { return errors.New("not asked for") },
				Requests: []bench.Request{{
					Name: "wait", Path: "/wait", Follow: 1, MoreStatuses: []int{202},
					Repeat: &bench.Repeat{Status: []int{200}, Every: time.Second, Most: 3},
				}},
			}},
		"checks": {responses: []string{"200\n\n" + `{"token":"good"}`, "200\n\nbad", "200\n\nbad", "200\n\nunknown",
			"200 cut\n\nlong", "200 cut\nContent-Encoding: gzip\n\ncut", "200\nContent-Encoding: x\n\nx"},
			times: 6, spec: Plan{
				Check: upTo, CheckEvery: 1, Sessions: oneSession, IDs: []int64{11},
				Variables: []bench.Variable{{Name: "v", List: []string{"a/b"}}},
				Requests: []bench.Request{{
					Name: "one", Session: "s", Path: "/{id}/{language}/{v}", Languages: []string{"cs", "en"},
					Expect: bench.Expectation{"json": map[string]any{"a": "{v} {v} {id}"}}, Save: token,
				}, {Name: "two", Session: "s", Path: "/", Expect: bench.Expectation{"contains": "{token} {v}"}}},
			}},
		"not checked": {responses: []string{"200\n\nbad"}, spec: Plan{
			Check: upTo, CheckEvery: 1, Checks: func(name string) bool { return name == "one" },
			Requests: []bench.Request{get("/two")},
		}},
		"users of a closed loop": {users: 2, times: 2, setUp: setUps, responses: []string{"200\nX: 8", "200\nX: 9"},
			spec: userSpec(bench.Step{})},
		"users of a rate": {times: 4, setUp: setUps, responses: []string{"200\nX: 8", "200\nX: 9"},
			spec: userSpec(bench.Step{Rate: 1, MaxConnections: 3})},
		"users who arrive": {users: 2, times: 2, setUp: setUps, responses: []string{"200\nX: 8"},
			spec: userSpec(bench.Step{Arrivals: &bench.Arrivals{Users: 2, Over: time.Second, Requests: 2}})},
		"users of one request": {users: 3, times: 1, setUp: setUps, responses: []string{"200\nX: 8", "200\nX: 9"},
			spec: userSpec(bench.Step{MaxRequests: 1})},
		"what the setup saved": {spec: Plan{
			Life: func() *TrialState {
				s := &TrialState{}
				jar := &Jar{}
				keepCookies(jar, "http://shop.test:8080/", "setup=1; Path=/")
				s.Keep(Saved{Values: map[string]string{"a": "old"}})
				s.Keep(Saved{
					Values: map[string]string{"a": "x/y z", "where": "/w?x=1"}, JSON: map[string]string{"a": `{"x":1}`},
					Links: map[string]string{"where": "/w?x=1"}, Cookies: jar,
				})
				return s
			}(),
			Variables: []bench.Variable{{Name: "none", List: []string{""}}},
			Requests: []bench.Request{{Name: "link", Path: "{where}&a={a}&raw={a:raw}", Method: "POST",
				Body: `{"a":"{a}","j":"{a:json}"}`, Encoding: bench.JSONBody,
				Weight: 1, Header: map[string]string{"Cookie": "{none}"}}},
		}},
		"paces": {times: 3, responses: []string{"200", "200"}, spec: Plan{
			Sessions: []bench.Session{{Name: "s", Pace: 3 * time.Second}}, Requests: []bench.Request{
				step("a", "/a"), {Name: "b", Session: "s", Path: "/b",
					Think: bench.Think{Min: 2 * time.Second, Max: 5 * time.Second}},
			},
		}},
		"a pace of one request": {times: 6, spec: Plan{Requests: []bench.Request{
			{Name: "a", Path: "/a", Weight: 1, Pace: time.Second,
				Think: bench.Think{Min: 100 * time.Millisecond, Max: 200 * time.Millisecond}},
			{Name: "b", Path: "/b", Weight: 1},
		}}},
		"a cookie of another response": {responses: []string{"200\nSet-Cookie: sid=1; Path=/", "200"}, spec: Plan{
			Sessions: oneSession, Requests: []bench.Request{
				step("a", "/"), {Name: "b", Session: "s", Path: "/",
					Save: []bench.Save{{Name: "x", From: bench.FromCookie, Of: "sid"}}},
			},
		}},
		"checks of drawn values": {times: 4, responses: []string{"200\n\nbad", "200\nContent-Encoding: gzip\n\n"},
			spec: Plan{
				Check: upTo, CheckEvery: 1, IDs: []int64{5}, Requests: []bench.Request{
					{Name: "id", Path: "/{id}", Weight: 1}, {Name: "language", Path: "/{language}",
						Languages: []string{"cs"}, Weight: 1},
				},
			}},
		"weights": {times: 8, spec: Plan{Seed: 1, Requests: []bench.Request{
			{Name: "a", Path: "/a", Weight: 1}, {Name: "b", Path: "/b", Weight: 2},
			{Name: "c", Session: "s", Path: "/c"},
		}, Sessions: []bench.Session{{Name: "s", Weight: 1}}}},
		"one of all": {times: 2, spec: Plan{
			Step: bench.Step{Request: "s2"}, Requests: []bench.Request{get("/a"), step("b", "/b"),
				{Name: "c", Session: "s2", Path: "/c"}},
			Sessions: []bench.Session{{Name: "s"}, {Name: "s2"}},
		}},
		"columns of a file": {times: 3, files: map[string]string{"a.csv": users, "b.csv": users}, spec: Plan{
			Variables: []bench.Variable{
				column("a", "a.csv", "name", bench.DrawRandom), column("b", "a.csv", "city", bench.DrawRandom),
				column("c", "b.csv", "name", bench.DrawRandom), column("d", "b.csv", "name", bench.DrawRandom),
				column("e", "a.csv", "city", bench.DrawZipf), column("f", "a.csv", "name", bench.DrawZipf),
				column("g", "a.csv", "name", bench.DrawInTurn), column("h", "a.csv", "city", bench.DrawOnce),
			},
			Requests: []bench.Request{get("/columns/{a}-{b}/twice/{c}-{d}/zipf/{e}-{f}/in-turn/{g}/once/{h}")},
		}},
		"elements": {times: 8,
			responses: []string{"200\n\n" + `{"items":[{"id":0},{"id":"1"},{"id":2},{"x":{},"id":3}]}`}, spec: Plan{
				Sessions: oneSession, Requests: []bench.Request{
					{Name: "a", Session: "s", Path: "/", Save: []bench.Save{
						{Name: "i", From: bench.FromJSON, Of: "items[*].id"},
						{Name: "j", From: bench.FromJSON, Of: "items[*].id"},
					}}, step("b", "/{i}/{j}"),
				},
			}},
		"packed": {responses: []string{"200\nContent-Encoding: gzip\n\n" + `{"done":true,"token":"x7"}`}, spec: Plan{
			Sessions: oneSession, Until: func(a Response) error {
				return json.Unmarshal(a.Body,
					new(any))
			}, Requests: []bench.Request{
				{Name: "wait", Session: "s", Path: "/",
					Repeat: &bench.Repeat{Until: bench.Expectation{"contains": "done"}, Most: 2},
					Save:   append([]bench.Save{{Name: "r", From: bench.FromRegex, Of: `x\d`}}, token...)},
				step("two", "/{token}/{r}"),
			},
		}},
		"bodies": {spec: Plan{
			Sessions: oneSession, Variables: []bench.Variable{
				{Name: "n", Range: &bench.Range{From: 7, To: 7}}, {Name: "tags", List: []string{`["a",{"b":null}]`}},
				{Name: "s", List: []string{`a"b`}},
			},
			Requests: []bench.Request{
				post(bench.JSONBody, `{"n":"{n:number}","m":"{n}","k":[1,"{n:number}"]}`),
				post(bench.JSONBody, `{"t":"{tags:json}","u":"{s}"}`),
				post(bench.JSONBody, `{"n":"no {n:number}."}`), post(bench.JSONBody, `{"n":"{{n}}"}`),
				post(bench.PlainText, `<{s}>{n}`),
				post(bench.PlainText, `{"a": {"b": 1}}`), post(bench.JSONBody, `{n:number}`),
				post(bench.JSONBody, `5{n:number}`), post(bench.JSONBody, `["{n:number}","{n:number}"]`),
			},
		}},
		"no value left": {times: 3, responses: []string{"200\nX: 1"}, spec: Plan{
			Variables: []bench.Variable{{Name: "w", Range: &bench.Range{From: 8, To: 9}, Draw: bench.DrawInTurn},
				{Name: "v", Range: &bench.Range{From: 1, To: 2}, Draw: bench.DrawOnce}}, Sessions: oneSession,
			Requests: []bench.Request{
				{Name: "a", Session: "s", Path: "/a",
					Save: []bench.Save{{Name: "x", From: bench.FromHeader, Of: "X"}}}, step("b", "/{w}"),
				step("c", "/{v}"),
			},
		}},
	}
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				testenv.Golden(t,
					"testdata/"+strings.ReplaceAll(name, " ", "-")+".txt", f.run(t))
			})
		})
	}
}

// userSpec is of sessions with a setup.
func userSpec(step bench.Step) Plan {
	return Plan{
		Step: step, Sessions: []bench.Session{{Name: "s", Pace: time.Minute}}, Variables: []bench.Variable{
			{Name: "user", List: []string{"ann", "bob", "eve"}, Draw: bench.DrawInTurn},
			{Name: "n", Range: &bench.Range{From: 1, To: 99}, Draw: bench.DrawInTurn},
			{Name: "seq", Make: bench.GenerateSequence},
		},
		Requests: []bench.Request{
			{Name: "in", Session: "s", SetUp: true, Method: "POST", Path: "/in", Body: "{user} {n} {seq}",
				Save: append([]bench.Save{
					{Name: "next", From: bench.FromJSON, Of: "next"},
				}, token...)},
			{Name: "get", Session: "s", Path: "/{n}/{user}/{token}/{seq}"},
			{Name: "next", Session: "s", Path: "{next}",
				Save: []bench.Save{{Name: "new", From: bench.FromHeader, Of: "X"}}},
		},
	}
}
