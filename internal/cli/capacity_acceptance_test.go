//go:build acceptance

package cli

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/testenv"
)

// capacityOf runs 'locbench capacity' against a server and returns the exit code, the record and
// standard error.
func capacityOf(t testing.TB, server *httptest.Server, dir string, more ...string) (int, capacity.Record, string) {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "thing.yaml")
	testenv.OK(t, os.WriteFile(profile, []byte("contenders: [go-nethttp]\nrequests: [{path: /thing}]\nsteps: [1]\n"), 0o600))
	var out, stderr bytes.Buffer
	args := append([]string{"capacity", "--target", server.URL, "--slo", "p50<3s,errors<0.1%", "--no-checks", "--profile", profile,
		"--probe", "1s", "--warm-up", "200ms", "--confirm", "1/3", "--resolution", "100%", "--json", "-o", dir}, more...)
	code := Main(t.Context(), Env{Args: args, Stdout: &out, Stderr: &stderr, Getenv: func(string) string { return "" }})
	var r capacity.Record
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out.String(), stderr.String())
	}
	return code, r, stderr.String()
}
