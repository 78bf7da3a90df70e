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

// capacityOf runs locbench capacity against a server and returns the exit code, the record and what
// was said.
func capacityOf(t *testing.T, server *httptest.Server, dir string, more ...string) (int, capacity.Record, string) {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "thing.yaml")
	if err := os.WriteFile(profile, []byte("contenders: [go-nethttp]\nrequests: [{path: /thing}]\nsteps: [1]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	args := append([]string{"capacity", "--target", server.URL, "--slo", "p50<3s,errors<0.1%", "--no-checks", "--profile", profile,
		"--trial", "1s", "--warm-up", "200ms", "--confirm", "1/3", "--resolution", "100%", "--json", "-o", dir}, more...)
	code := Main(t.Context(), Env{Args: args, Stdout: &out, Stderr: &talk, Getenv: func(string) string { return "" }})
	var r capacity.Record
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out.String(), talk.String())
	}
	return code, r, talk.String()
}

// Of a service that somebody else has started, every request of every trial is accounted for.
func TestCapacityOfATarget(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var answered atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/thing" {
			answered.Add(1)
		}
	}))
	defer server.Close()
	code, r, talk := capacityOf(t, server, dir, "--guess", "60", "--max-rate", "100")
	p := r.Points[0]
	if code != 0 || p.Result.State != capacity.AtLeast || p.Result.Rate != 100 || !strings.Contains(talk, "trials of 1s, about") {
		t.Fatalf("exit code %d, %+v\n%s", code, p, talk)
	}
	_, legs, err := results.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var succeeded int64
	for _, s := range legs[0].Steps {
		succeeded += s.Load.AllSucceeded()
	}
	if succeeded != answered.Load() {
		t.Errorf("%d successes, %d answers", succeeded, answered.Load())
	}
}

// A service that answers every third request wrongly keeps no objective at any rate.
func TestCapacityOfATargetThatFails(t *testing.T) {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%3 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	code, r, talk := capacityOf(t, server, filepath.Join(t.TempDir(), "out"), "--guess", "20", "--max-trials", "2")
	if code != exit.Threshold || r.Points[0].Result.Rate != 0 || !strings.Contains(talk, "no rate keeps p50<3s,errors<0.1%") {
		t.Errorf("exit code %d, %+v\n%s", code, r.Points[0], talk)
	}
	if why := capacity.Reason(r.Points[0].Outcomes[0].Why); !strings.Contains(why, "errors is 3") {
		t.Errorf("%q", why)
	}
}
