package contact

import (
	"io"
	"net/http"
	"net/http/httptest"
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
		req, err := http.NewRequest(http.MethodGet, s.URL, nil)
		testenv.OK(t, err)
		if c.own != "" {
			req.Host = c.own
		}
		resp, err := client.Do(req)
		testenv.OK(t, err)
		got, err := io.ReadAll(resp.Body)
		testenv.OK(t, err)
		resp.Body.Close()
		client.CloseIdleConnections()
		testenv.Equal(t, string(got), want)
	}
}
