package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
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
	testenv.OK(t, err)
	if n := trials[0].Steps[0].Load.AllSucceeded() + trials[0].Steps[1].Load.AllSucceeded(); n != 80 || run.Profile.Protocol != "http/2" || n+1 != answered.Load() {
		t.Errorf("%q: %d successes, %d responses in HTTP/2", run.Profile.Protocol, n, answered.Load())
	}
}
