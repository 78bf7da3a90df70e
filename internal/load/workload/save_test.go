package workload

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// What a check refuses is not saved: a key that is repeated on the way to the value.
func TestRepeatedKeysAreNotSaved(t *testing.T) {
	for body, wrong := range map[string]bool{
		`{"a":{"b":1}}`: false, `{"a":{"b":1,"b":2}}`: true, `{"a":{"b":1},"x":[{"a":1}],"\u0061":{"b":2}}`: true,
		`{"x":1,"x":2,"a":{"b":1,"c":{"b":1}}}`: false,
	} {
		s, err := newSave(bench.Save{Name: "t", From: bench.FromJSON, Of: "a.b"}, 0, values.Use{})
		if err != nil {
			t.Fatal(err)
		}
		if err = s.take(Response{Body: []byte(body)}, &slot{}); (err != nil) != wrong {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A saved value fits each place that it is filled in, also where one of them takes any JSON.
func TestSavedValuesFitEachUse(t *testing.T) {
	for _, c := range []struct {
		use   values.Use
		value string
		fits  bool
	}{
		{values.Use{JSON: true}, `["a\r\nb"]`, true}, {values.Use{JSON: true, Number: true}, `17`, true}, {values.Use{JSON: true, Number: true}, `["17"]`, false},
		{values.Use{JSON: true, Header: true}, `"a\r\nb"`, false}, {values.Use{JSON: true, Raw: true}, `"a b"`, false}, {values.Use{JSON: true, Raw: true}, `"a%20b"`, true}, {values.Use{Number: true}, `"x"`, false}, {values.Use{Header: true}, `"a\r\nb"`, false},
		{values.Use{JSON: true}, `"` + strings.Repeat("x", maxSaved-2) + `"`, true}, {values.Use{JSON: true}, `"` + strings.Repeat("x", maxSaved-1) + `"`, false},
		{values.Use{}, `"` + strings.Repeat("x", maxSaved-2) + `"`, true}, {values.Use{}, `"` + strings.Repeat("x", maxSaved+1) + `"`, false},
	} {
		s, err := newSave(bench.Save{Name: "v", From: bench.FromJSON, Of: "v"}, 0, c.use)
		if err != nil {
			t.Fatal(err)
		}
		var to slot
		err = s.take(Response{Body: []byte(`{"v":` + c.value + "}")}, &to)
		if (err == nil) != c.fits || c.fits && c.use.JSON && string(to.json) != c.value {
			t.Errorf("%+v, %.30s: %v, saved %.30s", c.use, c.value, err, to.json)
		}
	}
}

// A regular expression is bounded, and so is what it sees of a body.
func TestRegularExpressionsAreBounded(t *testing.T) {
	for pattern, want := range map[string]string{
		`name="csrf" value="([^"]+)"`: "", strings.Repeat("a", maxPattern+1): "write at most 1000", "(abc?){1,900}": "write at most 2000",
		"a{1000}b{998}": "", "a{1000}b{999}": "a regular expression of 2001 states", strings.Repeat("a", maxPattern): "",
	} {
		err := CheckSave(bench.Save{Name: "t", From: bench.FromRegex, Of: pattern})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	body := append(bytes.Repeat([]byte("a"), MaxChecked-10), `id=17`...)
	for pattern, want := range map[string]string{`id=(\d+)`: "", `(?:b?c?d?){100}id=(\d+)`: "does not match the first"} {
		s, err := newSave(bench.Save{Name: "t", From: bench.FromRegex, Of: pattern}, 0, values.Use{})
		if err != nil {
			t.Fatal(err)
		}
		var to slot
		err = s.take(Response{Body: body}, &to)
		if want == "" && string(to.text) != "17" || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", pattern, to.text, err)
		}
	}
}

// An element that is saved is drawn from the seed: all elements, equally likely, the same ones again.
func TestRandomElements(t *testing.T) {
	drawn := func(seed uint64) (all []string) {
		spec := Spec{
			BaseURL: "http://127.0.0.1:1", Step: bench.Step{Connections: 1, Duration: bench.Duration(1e9)}, Seed: seed,
			Sessions: []bench.Session{{Name: "s", Weight: 1}}, Requests: []bench.Request{
				{Name: "a", Session: "s", Path: "/list", Save: []bench.Save{{Name: "i", From: bench.FromJSON, Of: "items[*].id"}, {Name: "j", From: bench.FromJSON, Of: "items[*].id"}}},
				{Name: "b", Session: "s", Path: "/{i}/{j}"},
			}}
		m, err := NewMix(spec)
		if err != nil {
			t.Fatal(err)
		}
		var u User
		for range 2000 {
			if err := m.Begin(&u); err != nil {
				t.Fatal(err)
			}
			r, _ := m.Write(&u, nil)
			if _, kind, why := m.CheckResponse(&u, r, Response{Status: 200, Body: []byte(`{"items":[{"id":0},{"id":"1"},{"id":2},{"x":{},"id":3}]}`)}); kind != "" {
				t.Fatal(why)
			}
			u.Done(false)
			_, sent := m.Write(&u, nil)
			u.Done(false)
			all = append(all, string(targetOf(sent)))
		}
		return all
	}
	first := drawn(1)
	if !slices.Equal(first, drawn(1)) || slices.Equal(first, drawn(2)) {
		t.Error("the seed does not decide")
	}
	counts := map[string]int{}
	for _, one := range first {
		counts[one]++
	}
	if len(counts) != 16 {
		t.Errorf("%v", counts)
	}
	for pair, n := range counts {
		if n < 80 || n > 180 { // 125 expected
			t.Errorf("%s %d times", pair, n)
		}
	}
}

// No response ends saving, and what is saved fits where it is used.
func FuzzSave(f *testing.F) {
	for i, of := range []string{"a.b[0]", "X-Id", "sid", `id=(\d+)|(b)`, `(a*)*$`, "$", `["a\"]`} {
		for _, body := range []string{`{"a":{"b":["\ud800"]}}`, `{"a":{"b":[1e999],"b":[]}}`, `id=7`, `"`, `[[[[`, "\"\xff\"", `{"a":{"b":["x\r\ny"]}}`} {
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
		s, err := newSave(spec, 0, u)
		if err != nil {
			t.Fatal(err)
		}
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

// A session with cookies, saved values and a followed redirect allocates nothing once its buffers are
// large enough.
func TestSessionsDoNotAllocate(t *testing.T) {
	all := []bench.Request{
		{Name: "in", Session: "s", Method: "POST", Path: "/login", Body: "a={x}", Follow: 3, Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "items[*].id"}}},
		{Name: "new", Session: "s", Method: "POST", Path: "/orders/{token}", Save: []bench.Save{{Name: "where", From: bench.FromHeader, Of: "Location"}, {Name: "sid", From: bench.FromCookie, Of: "sid"}}},
		{Name: "read", Session: "s", Path: "{where}"},
	}
	m, err := NewMix(Spec{
		BaseURL: "http://127.0.0.1:1", Step: bench.Step{Connections: 1, Duration: bench.Duration(1e9)}, Requests: all,
		Sessions: []bench.Session{{Name: "s", Weight: 1}}, Data: values.Data{Uses: values.Uses(all)}, Variables: []bench.Variable{{Name: "x", List: []string{"1"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	responses := []Response{
		{Status: 302, Head: []byte("Location: /home\r\nSet-Cookie: sid=1; Path=/\r\n")},
		{Status: 200, Head: []byte("Set-Cookie: lang=en; Max-Age=600\r\n"), Body: []byte(`{"items":[{"id":"a"},{"id":"b"}]}`)},
		{Status: 200, Head: []byte("Location: http://127.0.0.1:1/orders/7\r\nSet-Cookie: sid=2; Path=/\r\n")}, {Status: 200},
	}
	var u User
	dst := make([]byte, 0, 1000)
	session := func() {
		if err := m.Begin(&u); err != nil {
			t.Fatal(err)
		}
		var r *Request
		for _, a := range responses {
			r, dst = m.Write(&u, dst[:0])
			kind := bench.ErrorKind("")
			if r.Follows(a.Status) {
				kind, _ = m.Follow(&u, r, a)
			} else {
				_, kind, _ = m.CheckResponse(&u, r, a)
			}
			if kind != "" {
				t.Fatal(kind)
			}
			u.Done(false)
		}
	}
	if n := testing.AllocsPerRun(500, session); n > 0 || u.Begun() {
		t.Errorf("%v allocations in 4 requests", n)
	}
	if want := "GET /orders/7 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nUser-Agent: locbench\r\nCookie: sid=2; lang=en\r\n\r\n"; string(dst) != want {
		t.Errorf("%q, want %q", dst, want)
	}
}
