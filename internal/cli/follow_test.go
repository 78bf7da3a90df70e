package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/text/console"
)

// `try` shows each redirect that is followed, and how to follow one that is not.
func TestTryShowsRedirects(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			w.Header().Set("Location", "/new")
			w.WriteHeader(http.StatusMovedPermanently)
		}
	}))
	defer server.Close()
	const profile = "requests: [{name: r, get: /old, follow: true}]\nsteps: [1]\n"
	code, text, _, _ := shopRun(t, profile, "", "try", "PROFILE", "--target", server.URL)
	if first, second := strings.Index(text, "a redirect, followed"), strings.Index(text, "GET /new"); code != 0 || first < 0 || second < first {
		t.Errorf("exit code %d: %s", code, text)
	}
	code, text, _, _ = shopRun(t, strings.Replace(profile, ", follow: true", "", 1), "", "try", "PROFILE", "--target", server.URL)
	const want = "FAILED: expected status 200, got 301 Moved Permanently (Location: /new; `follow: true` follows it)"
	if code != console.ExitContender || !strings.Contains(text, want) {
		t.Errorf("exit code %d, want %q: %s", code, want, text)
	}
}
