package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// validate, try and run warn of {{user}}, which is sent as {user}: the journal of the service is
// the judge.
func TestLiteralBracesAreWarnedOf(t *testing.T) {
	var mu sync.Mutex
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPost {
			bodies = append(bodies, string(body))
		}
	}))
	defer s.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "p.yaml")
	text := "rounds: 1\nvariables: {user: {list: [ada]}}\nrequests: [{name: a, post: /, json: {user: \"{{user}}\"}}]\n" +
		"steps: [{connections: 1, max_requests: 1}]\n"
	testenv.OK(t, os.WriteFile(file, []byte(text), 0o600))
	const want = "request \"a\": `{{user}}` in `json` is sent as `{user}`; for the value of the variable write `{user}`"
	for _, args := range [][]string{
		{"profiles", "validate", file},
		{"try", file, "--target", s.URL},
		{"run", "--headless", "--profile", file, "--target", s.URL, "--out", filepath.Join(dir, "out")},
	} {
		var out bytes.Buffer
		env := Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
		if code := command(t.Context(), env); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d\n%s", args, code, out.String())
		}
	}
	if len(bodies) < 2 || slices.ContainsFunc(bodies, func(b string) bool { return b != `{"user":"{user}"}` }) {
		t.Error(fmt.Sprint(bodies))
	}
}
