package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

	"locbench/internal/bench"
	"locbench/internal/capacity"
	"locbench/internal/event"
	"locbench/internal/exit"
	"locbench/internal/results"
	"locbench/internal/slo"
)

// capacityOf runs locbench capacity against a server and returns the exit code, the record and what was said.
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

// TestCapacityIsWhatAServiceCan searches a service of 40 places that holds each for 100 ms, so that it can answer 400 requests per second. Nothing
// is known of it: what it answers is not compared with anything, and nothing limits it that could be told.
func TestCapacityIsWhatAServiceCan(t *testing.T) {
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
	// A machine with other work to do makes a service slower, never faster: no attempt may find more than it can, and one of some has to find it.
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

// newHunt is a hunt outside of a run: objective p99<50ms, first trial at 100/s.
func newHunt(t *testing.T) *hunt {
	t.Helper()
	objective, err := slo.Parse("p99<50ms")
	if err != nil {
		t.Fatal(err)
	}
	stream := event.New(time.Now)
	t.Cleanup(stream.Close)
	log := &capacityLog{dir: t.TempDir(), record: capacity.Record{Schema: capacity.Schema}}
	return &hunt{
		flags: &capacityFlags{trial: time.Second}, objective: objective, log: log, point: log.add(capacity.Point{Dir: "."}),
		config: capacity.Config{Start: 100, Min: 1, Max: 1000, Resolution: .5, Need: 1, Of: 1, Trials: 9},
		site:   &site{plan: &bench.Run{Profile: bench.Profile{Steps: []bench.Step{{Connections: 16, WarmUp: true}}}}, stream: stream},
	}
}

func done(p99 time.Duration, aborted string) bench.StepResult {
	return bench.StepResult{Step: bench.Step{Duration: time.Second}, Aborted: aborted, Load: bench.Load{
		Elapsed: time.Second, Scheduled: 100, Sent: 100, Succeeded: 100, Latency: bench.Latencies{Count: 100, P99: p99},
	}}
}

// The warm-up comes first; a step that was cut short has told nothing and is run again.
func TestHuntRunsCutStepsAgain(t *testing.T) {
	h := newHunt(t)
	var steps []bench.StepResult
	next := func() bench.Step {
		t.Helper()
		s, ok := h.next(t.Context(), bench.Leg{}, steps)
		if !ok || h.err != nil {
			t.Fatalf("it ended: %v", h.err)
		}
		return s
	}
	if s := next(); !s.WarmUp {
		t.Errorf("the first step is %+v", s)
	}
	steps = append(steps, done(1, "skipped by the user"))
	if s := next(); !s.WarmUp {
		t.Errorf("after a warm-up that was cut short comes %+v", s)
	}
	steps = append(steps, done(1, ""))
	if s := next(); s.Rate != 100 || s.Duration != time.Second {
		t.Errorf("the first trial is %+v", s)
	}
	steps = append(steps, done(time.Second, "skipped by the user"))
	if s := next(); s.Rate != 100 || len(h.log.record.Points[0].Outcomes) != 0 {
		t.Errorf("after a trial that was cut short comes %+v", s)
	}
	steps = append(steps, done(time.Millisecond, ""))
	if s := next(); s.Rate != 200 {
		t.Errorf("after one that held comes %+v", s)
	}
	kept, err := readCapacity(h.log.dir)
	if err != nil || len(kept.Points) != 1 || len(kept.Points[0].Outcomes) != 1 || !kept.Points[0].Outcomes[0].Sustained {
		t.Errorf("on disk: %+v, %v", kept, err)
	}
}

// A disk that is full ends the search with its reason, and a rest does not outlast its run.
func TestHuntEnds(t *testing.T) {
	h := newHunt(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	steps := []bench.StepResult{done(1, "")}
	h.next(ctx, bench.Leg{}, steps)
	steps = append(steps, done(time.Second, ""))
	if s, ok := h.next(ctx, bench.Leg{}, steps); !ok || s.Rate != 100 {
		t.Errorf("after one that failed comes %+v, %t", s, ok)
	}
	h.log.dir = filepath.Join(h.log.dir, "not", "there")
	steps = append(steps, done(time.Second, ""))
	if _, ok := h.next(ctx, bench.Leg{}, steps); ok || h.err == nil || !strings.Contains(h.err.Error(), "results cannot be kept") {
		t.Errorf("%t, %v", ok, h.err)
	}
}
