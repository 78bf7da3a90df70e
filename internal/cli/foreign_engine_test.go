//go:build acceptance && engine

package cli

import (
	"net/http"
	"path/filepath"
	"testing"

	"locbench/internal/text/console"
)

// Exactly the path and query of a target's address are asked, and nothing else of it.
func TestTargetIsAskedWhatItsAddressSays(t *testing.T) {
	s, asked := keeper(t, func(http.ResponseWriter, *http.Request) {})
	code, text := locbench(t, nil, "run", "--headless", "--target", s.URL+"/items?q=lamp", "--connections", "1", "--duration", "100ms", "-o", filepath.Join(t.TempDir(), "out"))
	if code != console.ExitOK {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	all := asked.lines()
	if n := asked.of("/items?q=lamp"); n < 2 || n+asked.of("/") != len(all) {
		t.Errorf("%d of %d requests were those of the address: %q", n, len(all), all[:min(5, len(all))])
	}
}
