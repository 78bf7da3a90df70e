//go:build acceptance && timing && linux

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

	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/testenv"
)

// TestCapacityOfAKnownService searches a service with 40 places that holds each for 100 ms: its
// capacity is 400 requests per second. Nothing else limits it, and its responses are not compared
// with data.
func TestCapacityOfAKnownService(t *testing.T) {
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
	testenv.Judge(t, 5, 25*time.Millisecond, func(t testing.TB) error {
		var out, stderr bytes.Buffer
		code := Main(t.Context(), Env{Args: []string{"capacity", "--target", server.URL, "--slo", "p90<130ms,errors<0.1%", "--guess", "200", "--probe", "1s", "--warm-up", "200ms",
			"--confirm", "1/2", "--resolution", "10%", "-o", filepath.Join(t.TempDir(), "out")}, Stdout: &out, Stderr: &stderr, Getenv: func(string) string { return "" }})
		var rate float64
		for line := range strings.Lines(out.String()) {
			if _, err := fmt.Sscanf(line, " none %f", &rate); err == nil {
				break
			}
		}
		if rate > 420 { // no disturbance makes a service faster
			t.Errorf("exit code %d, %.0f/s of 400/s:\n%s%s", code, rate, out.String(), stderr.String())
		}
		if code != 0 || rate < 330 {
			return fmt.Errorf("exit code %d, %.0f/s of 400/s:\n%s%s", code, rate, out.String(), stderr.String())
		}
		return nil
	})
	if len(paths) != 1 || paths["/"] == 0 {
		t.Errorf("requests for %v", paths)
	}
}

// TestCapacityOfATarget searches up to a rate that every machine reaches: the results have every
// request of every probe.
func TestCapacityOfATarget(t *testing.T) {
	testenv.Judge(t, 5, 100*time.Millisecond, func(t testing.TB) error {
		dir := filepath.Join(t.TempDir(), "out")
		var answered atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/thing" {
				answered.Add(1)
			}
		}))
		defer server.Close()
		code, r, stderr := capacityOf(t, server, dir, "--guess", "60", "--max-rate", "100")
		p := r.Points[0]
		if code != 0 || p.Result.State != capacity.AtLeast || p.Result.Rate != 100 || !strings.Contains(stderr, "probes of 1s, about") {
			return fmt.Errorf("exit code %d, %+v\n%s", code, p, stderr)
		}
		_, trials, err := results.Read(dir)
		if err != nil {
			return err
		}
		var succeeded int64
		for _, s := range trials[0].Steps {
			succeeded += s.Load.AllSucceeded()
		}
		if succeeded+1 != answered.Load() { // one request is sent before the load
			t.Errorf("%d successes, %d responses", succeeded, answered.Load()) // on any machine
		}
		return nil
	})
}

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
