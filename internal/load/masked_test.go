package load

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// The example of a failure does not show the secret that its session has saved, whichever engine
// sends it: not from a status, not from a check, not where it was cut.
func TestExamplesShowNoSavedSecret(t *testing.T) {
	const token = `t0ken-ä"of/the-session-0123456789`
	for name, tt := range map[string]struct {
		status int
		body   string
		kind   bench.ErrorKind
	}{
		"a status":        {500, `{"error":"t0ken-\u00e4\"of\/the-session-0123456789 is expired"}`, "5xx"},
		"a status, cut":   {500, strings.Repeat("x", 100) + token, "5xx"},
		"nothing to save": {200, `{"error":"` + strings.Repeat("x", 40) + token + `"}`, bench.ErrSave},
	} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
					if r.URL.Path == "/login" {
						fmt.Fprint(w, `{"id":"t0ken-\u00e4\"of/the-session-0123456789"}`)
						return 200
					}
					w.WriteHeader(tt.status)
					io.WriteString(w, tt.body)
					return tt.status
				})
				p := counted(server.URL, 1, 3)
				p.IDs = nil
				p.Requests = []bench.Request{
					{Name: "login", Session: "s", Path: "/login", Save: []bench.Save{{Name: "sid", From: bench.FromJSON, Of: "id"}}},
					{Name: "order", Session: "s", Path: "/order", Header: map[string]string{"Cookie": "sid={sid}"},
						Save: []bench.Save{{Name: "order", From: bench.FromJSON, Of: "order"}}},
				}
				p.Sessions = []bench.Session{{Name: "s", Weight: 1}}
				l := run(t, e, p)
				example := l.Examples[tt.kind]
				if !strings.Contains(example, "***") || strings.Contains(example, "t0ken") || strings.Contains(example, "session-0") {
					t.Errorf("%v: %q", l.Failed, l.Examples)
				}
			})
		})
	}
}
