//go:build acceptance && timing

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locbench/internal/capacity"
	"locbench/internal/exit"
	"locbench/internal/results"
)

// TestCapacityIsWhatAServiceCan searches a service of 40 places that holds each for 100 ms, so that
// it can answer 400 requests per second. Nothing is known of it: what it answers is not compared
// with anything, and nothing limits it that could be reported.
func TestCapacityIsWhatAServiceCan(t *testing.T) {
	t.Parallel()
	places := make(chan struct{}, 40)
	var mu sync.Mutex
	paths := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths[r.URL.RequestURI()]++
		mu.Unlock()
		places <- struct{}{}
		time.Sleep(100 * time.Millisecond)
		<-places
		w.Write([]byte("hello\n"))
	}))
	defer server.Close()
	// A machine with other work to do makes a service slower, never faster: no attempt may find
	// more than it can, and one of some has to find it.
	const attempts = 4
	for attempt := 1; ; attempt++ {
		var out, talk bytes.Buffer
		code := Main(t.Context(), Env{Args: []string{"capacity", "--target", server.URL, "--slo", "p90<130ms,errors<0.1%", "--guess", "200", "--trial", "1s", "--warm-up", "200ms",
			"--confirm", "1/2", "--resolution", "10%", "-o", filepath.Join(t.TempDir(), "out")}, Stdout: &out, Stderr: &talk, Getenv: func(string) string { return "" }})
		var rate float64
		for line := range strings.Lines(out.String()) {
			if _, err := fmt.Sscanf(line, " none %f", &rate); err == nil {
				break
			}
		}
		if rate > 420 {
			t.Fatalf("exit code %d, %.0f/s of 400/s:\n%s%s", code, rate, out.String(), talk.String())
		}
		if code == 0 && rate >= 330 {
			break
		}
		t.Logf("attempt %d: exit code %d, %.0f/s of 400/s", attempt, code, rate)
		if attempt == attempts {
			t.Fatalf("no attempt found what the service can:\n%s%s", out.String(), talk.String())
		}
	}
	if len(paths) != 1 || paths["/"] == 0 {
		t.Errorf("it was asked for %v", paths)
	}
}
