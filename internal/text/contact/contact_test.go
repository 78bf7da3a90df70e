package contact

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestClient_Host: requests have the Host of the way, unless they have their own.
func TestClient_Host(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }))
	defer s.Close()
	for want, c := range map[string]struct{ way, own string }{
		s.Listener.Addr().String(): {}, "shop.test": {way: "shop.test"}, "own.test": {"shop.test", "own.test"},
	} {
		client := Way{Host: c.way}.Client()
		req := testenv.Must(http.NewRequest(http.MethodGet, s.URL, nil))(t)
		if c.own != "" {
			req.Host = c.own
		}
		resp := testenv.Must(client.Do(req))(t)
		got := testenv.Must(io.ReadAll(resp.Body))(t)
		resp.Body.Close()
		client.CloseIdleConnections()
		testenv.Equal(t, string(got), want)
	}
}

func TestRedirected(t *testing.T) {
	asked, _ := url.Parse("https://me:hidden@store.test:9200/city/_count?token=hidden")
	for name, c := range map[string]struct {
		status   int
		location string
		want     string // "": no redirect
	}{
		"another port":     {301, "https://store.test:9201/", "https://store.test:9201/"},
		"in clear":         {307, "http://store.test/x", "http://store.test/x"},
		"relative":         {302, "/login?next=hidden", "https://store.test:9200/login?..."},
		"with a password":  {308, "https://you:hidden@other.test/a?key=hidden", "https://***@other.test/a?..."},
		"a slash too few":  {302, "http:/you:hidden@other.test", "a malformed address"},
		"no slash":         {302, "http:you:hidden@other.test", "a malformed address"},
		"in the path":      {302, "//other.test/you:hidden@x", "https://other.test/..."},
		"nowhere":          {303, "", "without an address"},
		"malformed":        {301, "http://[::1", "a malformed address"},
		"without end":      {301, "http://other.test/" + strings.Repeat("x", 1000), "xxx..."},
		"a response":       {200, "http://other.test", ""},
		"not modified":     {304, "http://other.test", ""},
		"an error":         {401, "http://other.test", ""},
		"control letters":  {301, "http://other.test/\x1b[31m", "a malformed address"},
		"another protocol": {301, "ftp://other.test/", "ftp://other.test/"},
	} {
		t.Run(name, func(t *testing.T) {
			resp := &http.Response{StatusCode: c.status, Header: http.Header{}, Request: &http.Request{URL: asked}}
			if c.location != "" {
				resp.Header.Set("Location", c.location)
			}
			err := Redirected(resp)
			if c.want == "" {
				testenv.Check(t, err == nil, "%v", err)
				return
			}
			var redirect *RedirectError
			testenv.Check(t, errors.As(err, &redirect) && redirect.Status == c.status && strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "hidden") && len(err.Error()) <= 400,
				"%v, want %q", err, c.want)
		})
	}
}
