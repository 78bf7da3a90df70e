//go:build acceptance && linux

package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// truth is a contender of which it is known whether it sends unexpected bodies or leaks memory.
type truth struct {
	name    string
	command []string // in the folder testdata/truths
	env     map[string]string
	is      bool // it does what the benchmark looks for
}

// BenchmarkUnexpected runs services that mix up one response in 50 with three or more requests in
// flight, and right ones, at default settings and with the load of `quick`. It reports in how many
// runs they were excluded with exit code 3, and in how many the 95% interval (Wilson's) of the
// share has the share that the service counted. RUNS is the number of runs of each.
//
//	make bench-truths
func BenchmarkUnexpected(b *testing.B) {
	steps := "step_duration: 3s\nsteps: [1 warm-up for 2s, 1, 4, 16, 64]\n"
	expect := `requests: [{get: "/items/{item}", expect: {json_includes: {id: "{item}"}}}]` + "\n"
	mixes := map[string]string{"MIX": "50"}
	dir := truths(b)
	for _, c := range []truth{
		{"go", []string{"./service"}, mixes, true},
		{"node", []string{"node", "service.js"}, mixes, true},
		{"right", []string{"./service"}, nil, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			excluded, within, runs := 0, 0, number("RUNS", 20)
			for range runs {
				counts := filepath.Join(b.TempDir(), "counts.json")
				run, trials, code := c.run(b, dir, counts, expect+steps)
				unexpected := trials[0].Excluded(run.Profile.ErrorsAllowed(), run.Profile.MaxUnexpected)
				if code == console.ExitContender && unexpected != nil && unexpected.Unexpected != nil {
					excluded++
				}
				if at, ok := sharesAgree(b, counts, trials[0]); ok {
					within++
				} else {
					b.Log(at)
				}
			}
			count(b, map[string]int{"excluded": excluded, "within": within, "runs": runs})
		})
	}
}

// sharesAgree reports whether the 95% interval of the share of unexpected bodies, of the steps with
// more than two connections, has the share that the service counted in them.
func sharesAgree(b *testing.B, counts string, trial bench.TrialResult) (at string, ok bool) {
	var truth struct{ Wrong int64 }
	data, err := os.ReadFile(counts)
	if err == nil {
		err = json.Unmarshal(data, &truth)
	}
	testenv.OK(b, err)
	var sent, wrong, compared int64
	for _, s := range trial.Steps {
		if s.Step.Connections > 2 {
			sent += s.Load.AllSucceeded() + s.Load.FailedTotal() + s.Load.Cut
			wrong += s.Load.Failed[bench.ErrWrong]
			compared += s.Load.Checked
		}
	}
	low, high := bench.Unexpected{Count: wrong, Compared: compared}.Interval()
	is := float64(truth.Wrong) / float64(max(1, sent))
	text, _ := json.Marshal(map[string]any{"wrong": wrong, "compared": compared, "truth": is})
	return string(text), is >= low-1e-9 && is <= high
}

// BenchmarkLeak runs a service that keeps 2 KiB per request, and four that do not, for 30 s under a
// limit of 256 MiB, and reports in how many runs growing memory was found. RUNS is the number of
// runs of each.
//
//	make bench-truths
func BenchmarkLeak(b *testing.B) {
	load := "requests: [{get: \"/items/{item}\"}]\nsteps: [16 warm-up for 5s, 16 for 25s]\nlimits: {cpus: 0.5, memory: 256MiB}\n"
	dir := truths(b)
	java := []string{"java", "-Xmx192m", "-cp", ".", "Service"}
	for _, c := range []truth{
		{"leak", []string{"./service"}, map[string]string{"LEAK": "2048"}, true},
		{"go", []string{"./service"}, nil, false},
		{"node", []string{"node", "service.js"}, nil, false},
		{"java", java, nil, false},
		{"cache", []string{"./service"}, map[string]string{"CACHE": "64"}, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			found, runs := 0, number("RUNS", 10)
			for range runs {
				_, trials, _ := c.run(b, dir, filepath.Join(b.TempDir(), "counts.json"), load)
				grows := trials[0].Exit != nil && trials[0].Exit.OOMKilled
				for _, s := range trials[0].Steps {
					grows = grows || s.Warnings.Has(bench.WarnMemoryGrowth)
				}
				if grows {
					found++
				}
				if grows != c.is {
					b.Log(trials[0].Failure, trials[0].Warnings)
					for _, s := range trials[0].Steps {
						b.Log(s.Load.Succeeded, s.Warnings)
					}
				}
			}
			count(b, map[string]int{"found": found, "runs": runs})
		})
	}
}

func count(b *testing.B, counts map[string]int) {
	for name, n := range counts {
		b.ReportMetric(float64(n), name)
	}
	b.ReportMetric(0, "ns/op")
}

// truths returns a folder with the services of testdata/truths, ready to start.
func truths(b *testing.B) string {
	dir := b.TempDir()
	for _, args := range [][]string{
		{"go", "build", "-o", filepath.Join(dir, "service"), "./testdata/truths"},
		{"cp", "testdata/truths/service.js", dir},
		{"javac", "-d", dir, "testdata/truths/Service.java"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// run runs the contender once, as a process, with the rest of a profile.
func (c truth) run(b *testing.B, dir, counts, more string) (bench.Run, []bench.TrialResult, int) {
	env := map[string]string{"PORT": "{{.Port}}", "TRUTH": counts}
	maps.Copy(env, c.env)
	settings, err := json.Marshal(map[string]any{
		"name": c.name, "env": env, "port": 8080, "ready": map[string]string{"path": "/healthz"},
		"process": map[string]any{"command": append([]string{"sh", "-c", `cd "$0" && exec "$@"`, dir}, c.command...)},
	})
	services := filepath.Join(b.TempDir(), c.name)
	if err == nil {
		err = os.Mkdir(services, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(services, "service.yaml"), settings, 0o600)
	}
	testenv.OK(b, err)
	profile := profileFile(b, "contenders: ["+c.name+"]\nruntime: process\nvariables: {item: {from: 1, to: 100000}}\n"+more)
	out := filepath.Join(b.TempDir(), "out")
	running := startLocbench(b, services, "run", "--headless", "--profile", profile, "--services", services, "-o", out)
	code := running.wait(3 * time.Minute)
	run, trials := read(b, out)
	if len(trials) != 1 {
		b.Fatalf("exit code %d:\n%s", code, running.stderr.String())
	}
	return run, trials, code
}
