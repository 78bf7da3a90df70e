package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"locbench/internal/exit"
	"locbench/internal/load"
	"locbench/internal/results"
)

// Of a target that speaks both, --http2 puts the load on it in HTTP/2; what waits for its first
// answer may speak either.
func TestRunInHTTP2(t *testing.T) {
	var answered atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			answered.Add(1)
		}
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "out")
	var out, talk bytes.Buffer
	code := Main(t.Context(), Env{Args: []string{"run", "--headless", "--target", server.URL, "--http2", "--no-checks", "--connections", "2", "--duration", "300ms", "-o", dir},
		Stdout: &out, Stderr: &talk, Getenv: func(string) string { return "" }})
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out.String(), talk.String())
	}
	run, legs, err := results.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := legs[0].Steps[0].Load
	// A few of its bodies are compared with those of cities, which they are not.
	if n := l.AllSucceeded() + l.FailedTotal(); l.Succeeded == 0 || run.Profile.Protocol != "http/2" || n != answered.Load() {
		t.Errorf("%q: %d successes and failures, %d answers in HTTP/2", run.Profile.Protocol, n, answered.Load())
	}
}

func TestTheLoopIsChosenByTheEnvironment(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for loop, want := range map[string]string{"auto": load.LoopRing, "io_uring": load.LoopRing, "epoll": load.LoopEpoll, "portable": load.LoopPortable, "nonsense": ""} {
		cannot := load.HasLoop(want)
		if loop == "auto" && cannot != nil {
			continue // it takes another
		}
		dir := filepath.Join(t.TempDir(), "out")
		var out, talk bytes.Buffer
		code := Main(t.Context(), Env{Args: []string{"run", "--headless", "--target", server.URL, "--no-checks", "--connections", "2", "--duration", "200ms", "-o", dir},
			Stdout: &out, Stderr: &talk, Getenv: func(key string) string {
				if key == "LOCBENCH_LOOP" {
					return loop
				}
				return ""
			}})
		if want == "" {
			if code != exit.Usage || !strings.Contains(talk.String(), `LOCBENCH_LOOP="nonsense": auto`) || !strings.Contains(talk.String(), "io_uring, epoll or portable") {
				t.Errorf("%s: exit code %d, %s", loop, code, talk.String())
			}
			continue
		}
		if cannot != nil {
			if code != exit.Failure || !strings.Contains(talk.String(), "cannot be had here: ") {
				t.Errorf("%s: exit code %d, %s", loop, code, talk.String())
			}
			continue
		}
		_, legs, err := results.Read(dir)
		if err != nil || code != 0 || legs[0].Steps[0].Load.Loop != want {
			t.Errorf("%s: exit code %d, %v, %s%s", loop, code, err, out.String(), talk.String())
		}
	}
}
