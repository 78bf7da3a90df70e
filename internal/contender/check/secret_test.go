package check

import (
	"net/http"
	"strings"
	"testing"
)

// What was expected and found under the name of a secret is masked: only its difference is
// reported.
func TestSecretsAreMasked(t *testing.T) {
	for name, test := range map[string]struct {
		expect, body, want string
	}{
		"includes":    {`{status: 200, json_includes: {user: {id: 1, token: "abcdef1"}}}`, `{"user":{"id":2,"token":"uvwxyz2"}}`, "$.user.id: expected 1, got 2; $.user.token: expected ***, got ***"},
		"in a list":   {`{status: 200, json: {passwords: ["abcdef1", {x: "abcdef1"}]}}`, `{"passwords":["uvwxyz2",{"x":"uvwxyz2"}]}`, "$.passwords[0]: expected ***, got ***"},
		"path":        {`{status: 200, at: {user.api_key: "abcdef1"}}`, `{"user":{"api_key":"uvwxyz2"}}`, "user.api_key: expected ***, got ***"},
		"every":       {`{status: 200, every: {"users[*].token": "abcdef1"}}`, `{"users":[{"token":"uvwxyz2"}]}`, "expected *** everywhere, got ***"},
		"header":      {`{status: 200, header: {X-Api-Key: "abcdef1"}}`, `{}`, "header X-Api-Key: expected *** in it, got ***"},
		"other names": {`{status: 200, json_includes: {name: "abcdef1"}}`, `{"name":"uvwxyz2"}`, `expected "abcdef1", got "uvwxyz2"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := one(t, test.expect, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-Api-Key", "uvwxyz2")
				w.Write([]byte(test.body))
			})
			if !strings.Contains(got.Detail, test.want) {
				t.Errorf("%q, want %q", got.Detail, test.want)
			}
			if shows := strings.Contains(got.Detail, "uvwxyz2") || strings.Contains(got.Detail, "abcdef1"); shows != (name == "other names") {
				t.Errorf("%q", got.Detail)
			}
		})
	}
}
