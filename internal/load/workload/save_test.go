package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
)

// What is saved of responses, and what is not.
func TestSave(t *testing.T) {
	head := "Content-Type: text/x\r\nX-Id:  7 \r\nset-cookie: other=1\r\nSet-Cookie: sid=ab%20c; Path=/\r\n" +
		"Location: /orders/17\r\nSet-Cookie: gone=1\r\nSet-Cookie: lang=; Max-Age=0\r\nSet-Cookie: gone=; Max-Age=0\r\n" +
		"Set-Cookie: lang=en\r\nSet-Cookie: lang=; Path=/old; Max-Age=0\r\nX-Tab: a\tb\r\nX-Bell: a\x07b\r\n"
	body := `{"token":"t\"1","n":1.5,"list":[{"id":3}],"none":[],"null":null,"next":"/list?page=2&q=a%20b","odd":"a b\r\n",` +
		`"text":"null","empty":"","zero":0,"lines":["a\r\nb"],"quoted":"a%20b","seventeen":17,"html":"<a href=\"/x/42\">",` +
		`"same":{"b":1,"b":2},"once":{"b":1},"x":[{"once":1}],"twice":{"b":1},"\u0074wice":{"b":2},` +
		`"most":"` + strings.Repeat("x", maxSaved-2) + `","more":"` + strings.Repeat("x",
		maxSaved-1) + `","over":"` + strings.Repeat("x", maxSaved+1) + `"}`
	once := []values.Use{{}}
	save := func(from bench.Source, of, regex string) bench.Save {
		return bench.Save{From: from, Of: of, Regex: regex}
	}
	var b strings.Builder
	for _, test := range []struct {
		save bench.Save
		uses []values.Use
	}{
		{save(bench.FromJSON, "token", ""), []values.Use{{}, {JSON: true}, {Raw: true}, {Number: true}}},
		{save(bench.FromJSON, "list[0].id", ""), []values.Use{{Number: true}}},
		{save(bench.FromJSON, "list", ""), []values.Use{{JSON: true}}},
		{save(bench.FromJSON, "list[*].id", ""), once}, {save(bench.FromJSON, "none[*].id", ""), once},
		{save(bench.FromJSON, "tok", ""), once}, {save(bench.FromJSON, "null", "."), once},
		{save(bench.FromJSON, "null", ""), []values.Use{{}, {JSON: true}}},
		{save(bench.FromJSON, "text", ""), []values.Use{{}, {JSON: true}}},
		{save(bench.FromJSON, "empty", ""), []values.Use{{}, {JSON: true}}},
		{save(bench.FromJSON, "zero", ""), []values.Use{{}, {JSON: true}}},
		{save(bench.FromJSON, "next", ""), []values.Use{{Raw: true}}},
		{save(bench.FromJSON, "next", `page=(\d+)`), []values.Use{{JSON: true}}},
		{save(bench.FromJSON, "odd", ""), []values.Use{{}, {Raw: true}, {Header: true}, {JSON: true},
			{JSON: true, Header: true}, {JSON: true, Raw: true}}},
		{save(bench.FromJSON, "lines", ""), []values.Use{{JSON: true}, {JSON: true, Number: true}}},
		{save(bench.FromJSON, "quoted", ""), []values.Use{{JSON: true, Raw: true}}},
		{save(bench.FromJSON, "seventeen", ""), []values.Use{{JSON: true, Number: true}}},
		{save(bench.FromJSON, "same.b", ""), once}, {save(bench.FromJSON, "once.b", ""), once},
		{save(bench.FromJSON, "twice.b", ""), once},
		{save(bench.FromJSON, "most", ""), []values.Use{{}, {JSON: true}}},
		{save(bench.FromJSON, "more", ""), []values.Use{{}, {JSON: true}}},
		{save(bench.FromJSON, "over", ""), once},
		{save(bench.FromHeader, "Content-Type", ""), []values.Use{{JSON: true}}},
		{save(bench.FromHeader, "x-id", ""), []values.Use{{}, {JSON: true}}},
		{save(bench.FromHeader, "X", ""), once}, {save(bench.FromHeader, "X-Tab", ""), []values.Use{{Header: true}}},
		{save(bench.FromHeader, "X-Bell", ""), []values.Use{{Header: true}}},
		{save(bench.FromHeader, "Location", "/([0-9]+)$"), []values.Use{{Number: true}}},
		{save(bench.FromHeader, "Location", "[a-z]+/$"), once}, {save(bench.FromHeader, "Location", "x*"), once},
		{save(bench.FromCookie, "sid", ""), once}, {save(bench.FromCookie, "sid", "^ab"), once},
		{save(bench.FromCookie, "si", ""), once},
		{save(bench.FromCookie, "gone", ""), once}, {save(bench.FromCookie, "lang", ""), once},
		{save(bench.FromRegex, `/x/(\d+)`, ""), once}, {save(bench.FromRegex, `"n":1`, ""), once},
		{save(bench.FromRegex, "zzz", ""), once},
		{save(bench.FromRegex, "(y)|token", ""), once}, {save(bench.FromRegex, `({)"token`, ""), once},
	} {
		for _, use := range test.uses {
			s, err := newSave(test.save, 0, use)
			testenv.OK(t, err)
			var to slot
			err = s.take(Response{Head: []byte(head), Body: []byte(body)}, &to)
			fmt.Fprintf(&b, "%s %s %s, %+v: %.30q, JSON %.30q, %v\n", test.save.From, test.save.Of, test.save.Regex,
				use, to.text, to.json, err)
		}
	}
	for _, spec := range []bench.Save{{From: bench.FromHeader}, {From: bench.FromCookie}, {From: "body"},
		save(bench.FromJSON, "a[", ""), save(bench.FromHeader, "a", "(")} {
		fmt.Fprintf(&b, "%+v: %v\n", spec, CheckSave(spec))
	}
	for _, text := range []string{"", "text", "\x00", strings.Repeat("x", 1001)} {
		fmt.Fprintf(&b, "%.5q is shown as %s\n", text, shown([]byte(text)))
	}
	testenv.Golden(t, "testdata/save.txt", b.String())
}

// A regular expression is bounded, and so is what it sees of a body.
func TestRegularExpressionsAreBounded(t *testing.T) {
	for pattern, want := range map[string]string{
		`name="csrf" value="([^"]+)"`: "", strings.Repeat("a", maxPattern+1): "write at most 1000",
		"(abc?){1,900}": "write at most 2000",
		"a{1000}b{998}": "", "a{1000}b{999}": "a regular expression of 2001 states",
		strings.Repeat("a", maxPattern): "",
	} {
		err := CheckSave(bench.Save{Name: "t", From: bench.FromRegex, Of: pattern})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	body := append(bytes.Repeat([]byte("a"), MaxChecked-10), `id=17`...)
	for pattern, want := range map[string]string{`id=(\d+)`: "",
		`(?:b?c?d?){100}id=(\d+)`: "does not match the first"} {
		s, err := newSave(bench.Save{Name: "t", From: bench.FromRegex, Of: pattern}, 0, values.Use{})
		testenv.OK(t, err)
		var to slot
		err = s.take(Response{Body: body}, &to)
		if want == "" && string(to.text) != "17" || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", pattern, to.text, err)
		}
	}
}

// No response ends saving, and what is saved fits where it is used.
func FuzzSave(f *testing.F) {
	for i, of := range []string{"a.b[0]", "X-Id", "sid", `id=(\d+)|(b)`, `(a*)*$`, "$", `["a\"]`} {
		for _, body := range []string{`{"a":{"b":["\ud800"]}}`, `{"a":{"b":[1e999],"b":[]}}`, `id=7`, `"`, `[[[[`,
			"\"\xff\"", `{"a":{"b":["x\r\ny"]}}`} {
			f.Add(uint8(i), of, []byte("X-Id: 7\r\nSet-Cookie: sid=a;b\r\n"), []byte(body), uint8(i))
		}
	}
	kinds := []bench.Source{bench.FromJSON, bench.FromHeader, bench.FromCookie, bench.FromRegex}
	f.Fuzz(func(t *testing.T, kind uint8, of string, head, body []byte, use uint8) {
		spec := bench.Save{Name: "v", From: kinds[int(kind)%len(kinds)], Of: of}
		u := values.Use{Header: use&1 > 0, Number: use&2 > 0, JSON: use&4 > 0}
		if CheckSave(spec) != nil || len(body) > MaxChecked {
			return
		}
		s := testenv.Must(newSave(spec, 0, u))(t)
		var to slot
		if s.take(Response{Head: head, Body: body}, &to) != nil {
			return
		}
		switch {
		case len(to.text) == 0 || len(to.text) > maxSaved || len(to.json) > maxSaved:
			t.Fatalf("%d and %d bytes", len(to.text), len(to.json))
		case u.JSON && !json.Valid(to.json):
			t.Fatalf("not JSON: %q", to.json)
		case u.Header && bytes.ContainsAny(to.text, "\r\n\x00"):
			t.Fatalf("a header of several lines: %q", to.text)
		}
	})
}

// A session with cookies, saved values and a followed redirect allocates nothing once its buffers
// are large enough.
func TestSessionsDoNotAllocate(t *testing.T) {
	all := []bench.Request{
		{Name: "in", Session: "s", Method: "POST", Path: "/login", Body: "a={x}", Follow: 3,
			Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "items[*].id"}}},
		{Name: "new", Session: "s", Method: "POST", Path: "/orders/{token}",
			Save: []bench.Save{{Name: "where", From: bench.FromHeader, Of: "Location"},
				{Name: "sid", From: bench.FromCookie, Of: "sid"}}},
		{Name: "read", Session: "s", Path: "{where}"},
	}
	m, err := NewMix(Plan{
		BaseURL: "http://127.0.0.1:1", Step: bench.Step{Connections: 1, Duration: bench.Duration(1e9)}, Requests: all,
		Sessions: []bench.Session{{Name: "s", Weight: 1}}, Data: values.Data{Uses: values.Uses(all)},
		Variables: []bench.Variable{{Name: "x", List: []string{"1"}}},
	})
	testenv.OK(t, err)
	responses := []Response{
		{Status: 302, Head: []byte("Location: /home\r\nSet-Cookie: sid=1; Path=/\r\n")},
		{Status: 200, Head: []byte("Set-Cookie: lang=en; Max-Age=600\r\n"),
			Body: []byte(`{"items":[{"id":"a"},{"id":"b"}]}`)},
		{Status: 200, Head: []byte("Location: http://127.0.0.1:1/orders/7\r\nSet-Cookie: sid=2; Path=/\r\n")},
		{Status: 200},
	}
	var u User
	dst := make([]byte, 0, 1000)
	session := func() {
		testenv.OK(t, m.Begin(&u))
		var r *Request
		for _, a := range responses {
			r, dst = m.Write(&u, dst[:0])
			kind := bench.ErrorKind("")
			if r.Follows(a.Status) {
				kind, _ = m.Follow(&u, r, a)
			} else {
				_, kind, _ = m.CheckResponse(&u, r, a)
			}
			if kind != "" { // Need would allocate
				t.Fatal(kind)
			}
			u.Done(false)
		}
	}
	n := testing.AllocsPerRun(500, session)
	testenv.Check(t, n <= 0 && !u.Begun(), "%v allocations in 4 requests", n)
	want := "GET /orders/7 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nUser-Agent: locbench\r\nCookie: sid=2; lang=en\r\n\r\n"
	testenv.Check(t, string(dst) == want, "%q, want %q", dst, want)
}
