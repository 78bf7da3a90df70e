package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/text/console"
)

// --engine, or else the environment, selects the engine; the choice is on record, and the results
// say what ran.
func TestEngine(t *testing.T) {
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
		{name: "fast", flag: "fast", chosen: "fast", ran: "fast"},
		{name: "vegeta", flag: "vegeta", chosen: "vegeta", ran: "vegeta"},
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
			env, dir := shell{"LOCBENCH_ENGINE": c.variable}, outOf(t)
			args := bounded(t, dir, server.URL)
			if c.flag != "" {
				args = append(args, "--engine", c.flag)
			}
			if c.wrong != "" {
				env.says(t, console.ExitUsage, c.wrong, args...)
				return
			}
			text := env.says(t, 0, "\nLoad engine: "+string(c.ran)+".\n", args...)
			run, trials := readResults(t, dir)
			if ran := bench.EnginesOf(trials...); run.Engine != c.chosen || len(ran) != 1 || ran[0] != c.ran {
				t.Errorf("%q on record, %q ran", run.Engine, ran)
			}
			if said := strings.Count(text, "\n  engine   "+string(c.ran)+"\n"); said != 1 {
				t.Errorf("the engine is named %d times:\n%s", said, text)
			}
		})
	}
}

// Engine fast is refused before anything starts where it does not apply, with the reason.
func TestEngine_FastRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"run --target https://127.0.0.1:1 --engine fast": "load engine fast does not apply to this run: it has no TLS; " +
			"use vegeta, or auto",
		"run --target http://127.0.0.1:1 --http2 --engine fast":             "it has no HTTP/2",
		"capacity --target https://127.0.0.1:1 --slo p99<1s --engine fast":  "it has no TLS",
		"calibrate --target https://127.0.0.1:1 --engine both --no-checks":  "it has no TLS",
		"calibrate --target http://127.0.0.1:1 --engine both --rounds 5":    "--rounds 5: with --engine both these are pairs of steps, from 6 to 50",
		"calibrate --target http://127.0.0.1:1 --engine both --rounds 51":   "from 6 to 50",
		"calibrate --target http://127.0.0.1:1 --engine both --rounds many": "from 6 to 50",
	} {
		says(t, console.ExitUsage, want, strings.Fields(args)...)
	}
	if left, _ := filepath.Glob("results/*"); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// 'calibrate --engine both' loads one start of a contender with both engines in alternating pairs,
// prints how far they agree, and prints the same again of its results.
func TestEngine_CalibrateBoth(t *testing.T) {
	if err := load.FastApplies(false, false); err != nil {
		t.Skip(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	file := fileOf(t, "p.yaml", "requests: [{get: /x}]\ntimeout: 1m\nstep_duration: 5m\n"+
		"steps: [{connections: 1, max_requests: 20, warm_up: true}, {connections: 1, max_requests: 40}, {connections: 3, max_requests: 60}]\n")
	dir := outOf(t)
	code, text, errs := shell(nil).runs(t, "calibrate", "--target", server.URL, "--profile", file, "--engine", "both", "--no-checks",
		"--duration", "1m", "-o", dir, "--rounds", "6")
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	has(t, "calibrate", text, "\n1 connection   6 pairs\n…\n3 connections   6 pairs\n…\nAt all loads the engines agree within: throughput …, p50 ")
	if strings.Count(errs, "\n  engine   ") != 1 { // that of the warm-up
		t.Errorf("the names of the other steps have their engines:\n%s", errs)
	}
	_, trials := readResults(t, dir)
	if len(trials) != 1 || len(trials[0].Steps) != 25 {
		t.Fatalf("%d trials", len(trials))
	}
	for _, s := range trials[0].Steps[1:] {
		if s.Load.Engine() != s.Step.Engine {
			t.Errorf("%s was loaded by %s", s.Step.Name, s.Load.Engine())
		}
	}
	if _, again, errs := shell(nil).runs(t, "calibrate", "--from", dir); again != text {
		t.Errorf("of its results:\n%s%s", again, errs)
	}
	says(t, 0, `"loads": [`, "calibrate", "--from", dir, "--json")
}
