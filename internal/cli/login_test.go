package cli

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// The profile of a login by cookie or by header works unchanged: each request carries what
// the login gave, and no output has it.
func TestNewProfileWithALogin(t *testing.T) {
	const secret = "a1b2c3d4e5f6"
	for name, c := range map[string]struct {
		login   string
		respond func(http.Header)
		carries func(http.Header) bool
	}{
		"cookie": {"cookie:connect.sid",
			func(h http.Header) { h.Set("Set-Cookie", "connect.sid="+secret+"; Path=/; HttpOnly") },
			func(h http.Header) bool { return h.Get("Cookie") == "connect.sid="+secret }},
		"header": {"header:X-Token",
			func(h http.Header) { h.Set("X-Token", secret) },
			func(h http.Header) bool { return h.Get("X-Token") == secret }},
	} {
		t.Run(name, func(t *testing.T) {
			s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/login":
					c.respond(w.Header())
					w.WriteHeader(http.StatusNoContent)
				case r.URL.Path != "/" && !c.carries(r.Header):
					w.WriteHeader(http.StatusUnauthorized)
				}
			})
			file := filepath.Join(t.TempDir(), "shop.yaml")
			says(t, 0, "", "profiles", "new", file, "--get", "/me", "--post", "/orders", "--login", "/login "+c.login)
			text := shell{"PASSWORD": "hunter2-of-mine"}.says(t, 0, "target: all as expected\n", "try", file, "--target", s.URL)
			testenv.Equal(t, []int{requests.of("/me"), requests.of("/orders")}, []int{1, 1})
			lacks(t, "try", text, secret)
		})
	}
}
