//go:build acceptance && engine

package cli

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/text/console"
)

// The load of a target has exactly the path and query of its address.
func TestTargetGetsTheRequestOfItsAddress(t *testing.T) {
	s, requests := recorder(t, func(http.ResponseWriter, *http.Request) {})
	code, text := locbench(t, nil, "run", "--headless", "--target", s.URL+"/items?q=lamp", "--connections", "1", "--duration", "100ms", "-o", filepath.Join(t.TempDir(), "out"))
	if code != console.ExitOK {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	all := requests.lines()
	if n := requests.of("/items?q=lamp"); n < 2 || n+requests.of("/") != len(all) {
		t.Errorf("%d of %d requests are the address's: %q", n, len(all), all[:min(5, len(all))])
	}
}
