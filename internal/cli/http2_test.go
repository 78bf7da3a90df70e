package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"locbench/internal/load"
	"locbench/internal/results"
	"locbench/internal/text/console"
)

// With --http2 all requests to a target use HTTP/2, from the readiness check to the load, also if
// it supports nothing else.
func TestRunInHTTP2(t *testing.T) {
	for _, both := range []bool{true, false} {
		t.Run(fmt.Sprintf("HTTP/1.1 too: %v", both), func(t *testing.T) { runInHTTP2(t, both) })
	}
}

func runInHTTP2(t *testing.T, both bool) {
	var answered atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && r.URL.Path == "/thing" {
			answered.Add(1)
		}
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(both)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "out")
	if code, stderr := runBounded(t, server.URL, func(string) string { return "" }, "--http2", "-o", dir); code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	run, trials, err := results.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := trials[0].Steps[0].Load.AllSucceeded() + trials[0].Steps[1].Load.AllSucceeded(); n != 80 || run.Profile.Protocol != "http/2" || n+1 != answered.Load() {
		t.Errorf("%q: %d successes, %d responses in HTTP/2", run.Profile.Protocol, n, answered.Load())
	}
}

func TestTheLoopIsChosenByTheEnvironment(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for loop, want := range map[string]string{"auto": load.LoopRing, "io_uring": load.LoopRing, "epoll": load.LoopEpoll, "portable": load.LoopPortable, "nonsense": ""} {
		t.Run(loop, func(t *testing.T) {
			cannot := load.HasLoop(want)
			if loop == "auto" && cannot != nil {
				t.Skip("io_uring is not available here, so another loop is used")
			}
			dir := filepath.Join(t.TempDir(), "out")
			code, stderr := runBounded(t, server.URL, func(key string) string {
				if key == "LOCBENCH_LOOP" {
					return loop
				}
				return ""
			}, "-o", dir)
			if want == "" {
				if code != console.ExitUsage || !strings.Contains(stderr, `LOCBENCH_LOOP="nonsense": must be auto`) || !strings.Contains(stderr, "io_uring, epoll or portable") {
					t.Errorf("%s: exit code %d, %s", loop, code, stderr)
				}
				return
			}
			if cannot != nil {
				if code != console.ExitFailure || !strings.Contains(stderr, cannot.Error()) {
					t.Errorf("%s: exit code %d, %s", loop, code, stderr)
				}
				return
			}
			_, trials, err := results.Read(dir)
			if err != nil || code != 0 || trials[0].Steps[0].Load.Loop != want {
				t.Errorf("%s: exit code %d, %v, %s", loop, code, err, stderr)
			}
		})
	}
}
