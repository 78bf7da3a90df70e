//go:build acceptance && faults && linux

package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
)

// TestContender_Harmed does to the contender's container, in the second of three steps,
// what people and kernels do.
func TestContender_Harmed(t *testing.T) {
	testenv.Docker(t)
	t.Parallel()
	for _, c := range []struct {
		name  string
		harm  func(t *testing.T, info bench.InstanceInfo, network string)
		words []string // of standard error, the trial's failure and the summary
		kind  bench.IncidentKind
		steps int // recorded
		lost  string
	}{
		{"killed", func(t *testing.T, info bench.InstanceInfo, _ string) { dockerDo(t, "kill", info.ID) },
			[]string{"killed by SIGKILL"}, "", 2, "stopped in step 2 after"},
		{"restarted", func(t *testing.T, info bench.InstanceInfo, _ string) { dockerDo(t, "restart", "-t", "0", info.ID) },
			[]string{"the contender died"}, "", 2, "stopped in step 2 after"},
		{"removed", func(t *testing.T, info bench.InstanceInfo, _ string) { dockerDo(t, "rm", "-f", info.ID) },
			[]string{"the contender died"}, "", 2, "stopped in step 2 after"},
		{"paused", func(t *testing.T, info bench.InstanceInfo, _ string) { dockerDo(t, "pause", info.ID) },
			[]string{"paused externally"}, bench.IncidentPaused, 3, "not measured: 8 connections"},
		{"network disconnected", func(t *testing.T, info bench.InstanceInfo, network string) {
			dockerDo(t, "network", "disconnect", "--force", network, info.ID)
		}, []string{"no success in 2 consecutive steps"}, "", 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rounds := 1
			if c.name == "killed" {
				rounds = 2 // the next trial continues
			}
			d := disturb(t, nil, "run", "--headless", "-p", quiet(t, "docker", rounds, 1, 1, 2, 4, 8))
			d.instance(0)
			now, _ := read(t, d.out)
			network := dockerDo(t, "network", "ls", "-q", "--filter", "label=locbench.run="+now.ID)
			c.harm(t, d.loaded(1), network)
			words, said := c.words, c.words
			if c.lost != "" {
				words, said = append(slices.Clone(c.words), "lost  "), append(slices.Clone(c.words), "Lost: ")
			}
			run, trials := d.ends(3, words...)
			state := bench.RunFailed
			if rounds == 2 {
				state = bench.RunComplete
			}
			if run.State != state || len(trials) != rounds || trials[0].State != bench.TrialFailed || rounds == 2 && trials[1].State != bench.TrialComplete {
				t.Fatalf("run %s, %d trials: %s", run.State, len(trials), states(trials))
			}
			trial := trials[0]
			says(t, "the trial's failure", trial.Failure, c.words...)
			if len(trial.Steps) != c.steps || trial.Steps[0].Aborted != "" || trial.Steps[0].Load.Succeeded == 0 || trial.Steps[0].Load.FailedTotal() > trial.Steps[0].Load.Failed[bench.ErrTimeout] {
				t.Errorf("%d steps recorded, want %d with a complete first one", len(trial.Steps), c.steps)
			}
			if c.lost != "" && (trial.Lost == nil || !strings.Contains(trial.Lost.String(), c.lost)) {
				t.Errorf("lost: %v, want %q", trial.Lost, c.lost)
			}
			if in, ok := incident(trial, c.kind); c.kind != "" && (!ok || in.Step == nil || *in.Step != 1) {
				t.Errorf("incidents %v, want one of kind %q in step 2", trial.Incidents, c.kind)
			}
			if c.steps > 2 {
				endsOnTime(t, trial.Steps[1:])
			}
			d.reported(said...)
			d.resumes()
		})
	}
}

// endsOnTime checks that steps count the timeouts of a contender that does not respond, and end on
// time: after the step's duration and the requests in flight, with room for a busy machine.
func endsOnTime(t *testing.T, steps []bench.StepResult) {
	t.Helper()
	for _, s := range steps {
		if took := s.Load.Elapsed; took > s.Step.Duration+5*time.Second {
			t.Errorf("%s of %v took %v", s.Step.Name, s.Step.Duration, took)
		}
		if s.Load.FailedTotal() == 0 {
			t.Errorf("%s: no request is counted as failed", s.Step.Name)
		}
	}
}

// TestContender_Paused pauses the contender within a step: the trial continues, and reports it.
func TestContender_Paused(t *testing.T) {
	testenv.Docker(t)
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", quietSteps(t, "go-nethttp", "docker", 1, "{connections: 2, duration: 15s}", "4"))
	info := d.loaded(0)
	dockerDo(t, "pause", info.ID)
	d.waitEvent(d.out, when(func(e bench.WindowClosed) bool { return e.Window.Failed[bench.ErrTimeout] > 0 }))
	dockerDo(t, "unpause", info.ID)
	_, trials := d.ends(0, "step 1: paused externally", "resumed after the external pause")
	trial := trials[0]
	if trial.State != bench.TrialComplete || len(trial.Incidents) != 2 || trial.Lost != nil {
		t.Fatalf("trial %s, incidents %v, lost %v", trial.State, trial.Incidents, trial.Lost)
	}
	first := trial.Steps[0]
	if first.Load.Failed[bench.ErrTimeout] == 0 || !strings.Contains(first.Warnings.Join("\n"), "paused") {
		t.Errorf("failed %v, warnings %q", first.Load.Failed, first.Warnings)
	}
	if len(trial.Steps[1].Warnings) > 0 && strings.Contains(trial.Steps[1].Warnings.Join("\n"), "paused") {
		t.Errorf("a step that was not paused says %q", trial.Steps[1].Warnings)
	}
	d.reported("paused externally")
}

// TestContender_Stopped stops a contender without a container by a signal, in the second of four
// steps. Its graceful stop then has exit code 0; the run's has not.
func TestContender_Stopped(t *testing.T) {
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", quiet(t, "process", 1, 1, 1, 2, 4, 8))
	stopProcess(t, d.loaded(1))
	_, trials := d.ends(3, "(SIGSTOP)", "lost  ")
	if trial := trials[0]; trial.State != bench.TrialFailed || len(trial.Steps) != 3 || trial.Stop == nil || trial.Stop.Killed {
		t.Errorf("trial %s, %d steps, stop %+v", trial.State, len(trial.Steps), trial.Stop)
	}
	endsOnTime(t, trials[0].Steps[1:])
	d.resumes()
}

func stopProcess(t *testing.T, info bench.InstanceInfo) {
	t.Helper()
	testenv.OK(t, syscall.Kill(info.PID, syscall.SIGSTOP))
}

// TestContender_Loopback: only this machine reaches the built-in contender during a
// trial.
func TestContender_Loopback(t *testing.T) {
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", small(t, "go-nethttp", "process"), "--no-checks", "--rounds", "1", "--connections", "1", "--duration", "20s")
	_, port, err := net.SplitHostPort(d.instance(0).Address)
	testenv.OK(t, err)
	for host, open := range map[string]bool{"127.0.0.1": true, "127.0.0.2": false} {
		t.Run(host, func(t *testing.T) { // the same interface, but another address
			c, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), 5*time.Second)
			if err == nil {
				c.Close()
			}
			if (err == nil) != open {
				t.Errorf("at %s: %v", host, err)
			}
		})
	}
	d.signal(os.Interrupt)
	d.ends(130)
}

// gate is a proxy to a store that can be closed and opened on the same address.
type gate struct {
	t      *testing.T
	addr   string
	target *url.URL
	server *http.Server
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	u, err := url.Parse(target)
	testenv.OK(t, err)
	g := &gate{t: t, addr: "127.0.0.1:0", target: u}
	g.open()
	t.Cleanup(g.shut)
	return g
}

func (g *gate) open() {
	g.t.Helper()
	l, err := net.Listen("tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	g.addr = l.Addr().String()
	g.server = &http.Server{Handler: httputil.NewSingleHostReverseProxy(g.target)}
	go func(s *http.Server) { _ = s.Serve(l) }(g.server)
}

// shut refuses new connections and breaks the open ones.
func (g *gate) shut() { _ = g.server.Close() }

// embedded opens an embedded store, which fill fills.
func embedded(t *testing.T) (s *store.Store, fill func()) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Spec{From: bench.NeedEmbedded}, store.Options{})
	testenv.OK(t, err)
	t.Cleanup(func() { s.Close() })
	return s, func() {
		data, err := dataset.Generated(200, 12, 1)
		if err == nil {
			err = s.Fill(t.Context(), data, nil)
		}
		testenv.OK(t, err)
	}
}

// TestStore_ComesBack takes the store away in the second step of the first trial and brings it
// back as soon as locbench waits for it.
func TestStore_ComesBack(t *testing.T) {
	t.Parallel()
	s, fill := embedded(t)
	fill()
	g := newGate(t, s.URL())
	storeGoesAndComesBack(t, "process", "http://"+g.addr, g.shut, g.open)
}

// TestStore_Gone has no data in the store at first, and no store from the second step on.
func TestStore_Gone(t *testing.T) {
	t.Parallel()
	s, fill := embedded(t)
	dir := t.TempDir()
	args := []string{"run", "-p", small(t, "go-nethttp", "process"), "--elastic", s.URL(), "--rounds", "1", "-o"}

	// Without data, the command that seeds is reported.
	if code, _, stderr := locbench(t, dir, append(args, "empty")...); code != 1 || !strings.Contains(stderr, "locbench seed --elastic "+s.URL()) {
		t.Errorf("exit code %d, without data it says:\n%s", code, stderr)
	}
	fill()
	c := startLocbench(t, dir, append(args, "out")...)
	c.waitEvent(filepath.Join(dir, "out"), stepStarted(1))
	s.Close()
	if code := c.wait(time.Minute); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if !strings.Contains(c.stderr.String(), "lost elasticsearch") {
		t.Errorf("it says:\n%s", c.stderr.String())
	}
	_, trials := read(t, filepath.Join(dir, "out"))
	if len(trials) != 1 || len(trials[0].Steps) < 2 || trials[0].Steps[0].Load.Succeeded == 0 {
		t.Errorf("finished steps are lost: %+v", trials)
	}
}

// TestStore_Silent gives commands a store that accepts connections and never responds, and one that
// stops responding after its greeting. Each command reports its timeout.
func TestStore_Silent(t *testing.T) {
	t.Parallel()
	silent := func(greets bool) string {
		hold := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if greets && r.URL.Path == "/" {
				io.WriteString(w, `{"version":{"number":"7.10.2"}}`)
				return
			}
			<-hold
		}))
		t.Cleanup(func() { close(hold); server.CloseClientConnections(); server.Close() })
		return server.URL
	}
	mute, greeting := silent(false), silent(true)
	for what, args := range map[string][]string{
		"run":                    {"run", "--headless", "--runtime", "process", "--elastic", mute, "-o", "out"},
		"run after a greeting":   {"run", "--headless", "--runtime", "process", "--elastic", greeting, "-o", "out"},
		"seed":                   {"seed", "--elastic", mute},
		"seed after a greeting":  {"seed", "--elastic", greeting},
		"check":                  {"check", mute},
		"doctor":                 {"doctor", "--elastic", mute},
		"capacity of its client": {"capacity", "go-nethttp", "--runtime", "process", "--slo", "p99<1s", "--elastic", greeting, "-o", "out"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := startLocbench(t, t.TempDir(), args...)
			if code := c.wait(2 * time.Minute); code == 0 && what != "doctor" {
				t.Errorf("exit code %d", code)
			}
			said := strings.Join(strings.Fields(c.stdout.String()+c.stderr.String()), " ")
			if !strings.Contains(said, "no response within") || strings.Contains(said, "deadline exceeded") {
				t.Errorf("it said: %s", said)
			}
		})
	}
}
