package check

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func parse(t *testing.T, text string) *Suite {
	t.Helper()
	s := testenv.Must(ParseSuite("suite.yaml", []byte(text)))(t)
	return s
}

// Requests are sent as the file has them.
func TestRequest(t *testing.T) {
	suite := parse(t, `
suite: s
vars: {id: 3067696, city: Plzeň, ratio: 0.5, yes: true}
groups:
  g:
    - name: plain
      request: GET /a?id={{id}}&x={{ ratio }}
      expect: {status: 200}
    - name: the method may be left out
      request: /b
      expect: {status: 200}
    - name: query, escaped, in order
      request: GET /c?z=1
      query: {query: "{{city}} & Co", language: cs, id: 1}
      expect: {status: 200}
    - name: letters beyond ASCII
      request: GET /d/Plzeň?q=Łódź&r=%20
      expect: {status: 200}
    - name: any method
      request: AZ /f?q=Ā
      expect: {status: 200}
    - name: headers and body
      request: POST /e
      headers: {fastly-geo-lat: "{{ratio}} ~", Host: example.org}
      body: '{"a":"{{city}}"}'
      expect: {status: 200}
`)
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := make([]byte, 100)
		n, _ := r.Body.Read(body)
		line := r.Method + " " + r.RequestURI
		if r.Method == "POST" {
			line += " " + r.Host + " " + r.Header.Get("Fastly-Geo-Lat") + " " + string(body[:n])
		}
		got = append(got, line)
	}))
	defer server.Close()
	results := testenv.Must(HTTP(t.Context(), Options{BaseURL: server.URL + "/", Suite: suite}))(t)
	want := []string{
		"GET /a?id=3067696&x=0.5",
		"GET /b",
		"GET /c?z=1&query=Plze%C5%88+%26+Co&language=cs&id=1",
		"GET /d/Plze%C5%88?q=%C5%81%C3%B3d%C5%BA&r=%20",
		"AZ /f?q=%C4%80",
		`POST /e example.org 0.5 ~ {"a":"Plzeň"}`,
	}
	testenv.Equal(t, got, want)
	if results[0].Request != want[0] || results[0].Suite != "s" || results[0].Group != "g" || results[0].Name != "plain" ||
		results[0].Value != "200" || results[0].Took <= 0 {
		t.Errorf("%+v", results[0])
	}
}

const twoGroups = `
suite: s
groups:
  get:
    - {name: a, request: GET /a, expect: {status: 200}}
  search:
    - {name: b, request: GET /b, expect: {status: 404}}
    - {name: c, request: GET /c, expect: {status: 200}}
`

func TestHTTP_Skips(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	suite := parse(t, twoGroups)
	for _, tt := range []struct {
		endpoints []string
		want      string
	}{
		{nil, "a failed, b passed, c failed"},
		{[]string{"search"}, "a skipped, b passed, c failed"},
		{[]string{"get", "closest"}, "a failed, b skipped, c skipped"},
		{[]string{}, "a skipped, b skipped, c skipped"},
	} {
		var got []bench.CheckResult
		results, err := HTTP(t.Context(), Options{BaseURL: server.URL, Suite: suite, Endpoints: tt.endpoints,
			OnResult: func(r bench.CheckResult) { got = append(got, r) }})
		testenv.OK(t, err)
		testenv.Equal(t, outcome(results), tt.want, tt.endpoints)
		testenv.Equal(t, got, results, tt.endpoints)
	}
}

func outcome(results []bench.CheckResult) string {
	var s []string
	for _, r := range results {
		s = append(s, r.Name+" "+string(r.Status))
	}
	return strings.Join(s, ", ")
}

// A service that hangs or has exited costs a few timeouts, not one for each check.
func TestHTTP_Silence(t *testing.T) {
	var asked atomic.Int64
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hang)
	suite := parse(t, `
suite: s
groups:
  g:
    - {name: a, request: GET /a, timeout: 30ms, expect: {status: 200}}
    - {name: b, request: GET /b, expect: {status: 200}}
    - {name: c, request: GET /c, expect: {status: 200}}
    - {name: d, request: GET /d, expect: {status: 200}}
    - {name: e, request: GET /e, expect: {status: 200}}
`)
	results, err := HTTP(t.Context(), Options{BaseURL: server.URL, Suite: suite, Timeout: 40 * time.Millisecond})
	testenv.OK(t, err)
	testenv.Equal(t, outcome(results), "a failed, b failed, c failed, d skipped, e skipped")
	testenv.Check(t, results[0].Detail == "no response within 30ms" && results[1].Detail == "no response within 40ms",
		"%q, %q", results[0].Detail, results[1].Detail)
	if asked.Load() > 3 { // fewer if the timeout comes before the server sees the request
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestHTTP_Refused(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	results, err := HTTP(t.Context(), Options{BaseURL: server.URL, Suite: parse(t, twoGroups)})
	if err != nil || outcome(results) != "a failed, b failed, c failed" || !strings.Contains(results[0].Detail, "connection refused") {
		t.Errorf("%v, %+v", err, results)
	}
}

func TestHTTP_ContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b" {
			cancel()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	results, err := HTTP(ctx, Options{BaseURL: server.URL, Suite: parse(t, twoGroups)})
	testenv.Check(t, errors.Is(err, context.Canceled) && outcome(results) == "a passed",
		"%v, %s", err, outcome(results))
}

func TestHTTP_InvalidOptions(t *testing.T) {
	suite := parse(t, twoGroups)
	for _, opt := range []Options{
		{BaseURL: "http://127.0.0.1:1"},
		{BaseURL: "127.0.0.1:1", Suite: suite},
		{BaseURL: "ftp://127.0.0.1", Suite: suite},
		{BaseURL: "http://", Suite: suite},
		{BaseURL: "http://a b/", Suite: suite},
	} {
		results, err := HTTP(t.Context(), opt)
		testenv.Check(t, err != nil, "%+v: %v", opt, results)
	}
}
