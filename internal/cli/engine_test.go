package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/text/console"
)

// environment returns the value of one variable.
func environment(key, value string) func(string) string {
	return func(k string) string {
		if k == key {
			return value
		}
		return ""
	}
}

// --engine, or else the environment, selects the engine; the choice is on record, and the results
// say what ran.
func TestEngineIsSelected(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	fast := bench.EngineFast
	if load.FastApplies(false, false) != nil {
		fast = bench.EngineVegeta
	}
	for _, c := range []struct {
		name, flag, variable string
		chosen, ran          bench.Engine
		wrong                string
	}{
		{name: "neither", ran: fast},
		{name: "auto", flag: "auto", ran: fast},
		{name: "fast", flag: "fast", chosen: "fast", ran: "fast"},
		{name: "vegeta", flag: "vegeta", chosen: "vegeta", ran: "vegeta"},
		{name: "the environment", variable: "vegeta", chosen: "vegeta", ran: "vegeta"},
		{name: "epoll by the environment", variable: "epoll", chosen: "epoll", ran: "fast"},
		{name: "the flag comes first", flag: "auto", variable: "vegeta", ran: fast},
		{name: "a wrong flag", flag: "vegetta", wrong: "--engine vegetta: did you mean `vegeta`?"},
		{name: "epoll by the flag", flag: "epoll", wrong: "--engine epoll: one of: auto, fast, vegeta"},
		{name: "both", flag: "both", wrong: "--engine both: one of: auto, fast, vegeta"},
		{name: "a wrong variable", variable: "portable", wrong: "LOCBENCH_ENGINE=portable: one of: auto, fast, vegeta, epoll"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && (c.chosen == "fast" || c.chosen == "epoll") {
				t.Skip("engine fast needs Linux")
			}
			dir := filepath.Join(t.TempDir(), "out")
			args := []string{"-o", dir}
			if c.flag != "" {
				args = append(args, "--engine", c.flag)
			}
			code, stderr := runBounded(t, server.URL, environment("LOCBENCH_ENGINE", c.variable), args...)
			if c.wrong != "" {
				if code != console.ExitUsage || !strings.Contains(stderr, c.wrong) {
					t.Errorf("exit code %d, %s; want %q", code, stderr, c.wrong)
				}
				return
			}
			run, trials, err := results.Read(dir)
			if err != nil || code != 0 {
				t.Fatalf("exit code %d, %v, %s", code, err, stderr)
			}
			if ran := bench.EnginesOf(trials...); run.Engine != c.chosen || len(ran) != 1 || ran[0] != c.ran {
				t.Errorf("%q on record, %q ran", run.Engine, ran)
			}
			if said := strings.Count(stderr, "\n  engine   "+string(c.ran)+"\n"); said != 1 {
				t.Errorf("the engine is named %d times:\n%s", said, stderr)
			}
			if !strings.Contains(stderr, "\nLoad engine: "+string(c.ran)+".\n") {
				t.Errorf("the final table does not name the engine:\n%s", stderr)
			}
		})
	}
}

// Engine fast is refused before anything starts where it does not apply, with the reason.
func TestFastIsRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--target", "https://127.0.0.1:1", "--engine", "fast"}, "load engine fast does not apply to this run: it has no TLS; use vegeta, or auto"},
		{[]string{"run", "--target", "http://127.0.0.1:1", "--http2", "--engine", "fast"}, "it has no HTTP/2"},
		{[]string{"capacity", "--target", "https://127.0.0.1:1", "--slo", "p99<1s", "--engine", "fast"}, "it has no TLS"},
		{[]string{"calibrate", "--target", "https://127.0.0.1:1", "--engine", "both"}, "it has no TLS"},
	} {
		t.Chdir(t.TempDir())
		var errs bytes.Buffer
		code := Main(t.Context(), Env{Args: c.args, Stdout: &errs, Stderr: &errs, Getenv: environment("", "")})
		if code != console.ExitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: exit code %d, %s; want %q", c.args, code, &errs, c.want)
		}
		if left, _ := filepath.Glob("results/*"); len(left) > 0 {
			t.Errorf("%q left %q", c.args, left)
		}
	}
}

// 'calibrate --engine both' loads one start of a contender with both engines in alternating pairs,
// prints how far they agree, and prints the same again of its results.
func TestCalibrateBothEngines(t *testing.T) {
	if err := load.FastApplies(false, false); err != nil {
		t.Skip(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	file := fileOf(t, "p.yaml", "requests: [{get: /x}]\ntimeout: 1m\nstep_duration: 5m\n"+
		"steps: [{connections: 1, max_requests: 20, warm_up: true}, {connections: 1, max_requests: 40}, {connections: 3, max_requests: 60}]\n")
	dir := filepath.Join(t.TempDir(), "out")
	calibrate := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = Main(t.Context(), Env{Args: append([]string{"calibrate"}, args...), Stdout: &stdout, Stderr: &stderr, Getenv: environment("", "")})
		return code, stdout.String(), stderr.String()
	}
	all := []string{"--target", server.URL, "--profile", file, "--engine", "both", "--no-checks", "--duration", "1m", "-o", dir}
	for rounds, want := range map[string]string{"5": "--rounds 5: with --engine both these are pairs of steps, from 6 to 50", "51": "from 6 to 50", "x": "from 6 to 50"} {
		if code, _, errs := calibrate(append(all, "--rounds", rounds)...); code != console.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s rounds: exit code %d, %s", rounds, code, errs)
		}
	}
	code, text, errs := calibrate(append(all, "--rounds", "6")...)
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	for _, want := range []string{"\n1 connection   6 pairs\n", "\n3 connections   6 pairs\n", "\nAt all loads the engines agree within: throughput ", ", p50 "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Count(errs, "\n  engine   ") != 1 { // that of the warm-up
		t.Errorf("the names of the other steps have their engines:\n%s", errs)
	}
	_, trials, err := results.Read(dir)
	if err != nil || len(trials) != 1 || len(trials[0].Steps) != 25 {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	for _, s := range trials[0].Steps[1:] {
		if s.Load.Engine() != s.Step.Engine {
			t.Errorf("%s was loaded by %s", s.Step.Name, s.Load.Engine())
		}
	}
	if _, again, errs := calibrate("--from", dir); again != text {
		t.Errorf("of its results:\n%s%s", again, errs)
	}
	if _, out, _ := calibrate("--from", dir, "--json"); !strings.Contains(out, `"loads": [`) {
		t.Errorf("as JSON: %s", out)
	}
}
