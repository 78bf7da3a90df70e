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
