//go:build acceptance && engine && unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/results"
	"locbench/internal/testenv"
)

// TestBringYourOwnService writes the three files of the README's section as they stand there, beside
// a service that has nothing of the cities, and types its commands, with short steps.
func TestBringYourOwnService(t *testing.T) {
	t.Parallel()
	testenv.Docker(t)
	dir := t.TempDir()
	service := filepath.Join(dir, "svc", "orders")
	if err := os.CopyFS(service, os.DirFS("testdata/orders")); err != nil {
		t.Fatal(err)
	}
	files := []string{filepath.Join(service, "service.yaml"), filepath.Join(dir, "bench.yaml"), filepath.Join(dir, "suite.yaml")}
	_, section, _ := strings.Cut(readPage(t, "README.md"), "## Bring your own service")
	section, _, _ = strings.Cut(section, "\n## ")
	var commands string
	for _, block := range fences(section) {
		switch block.word {
		case "yaml":
			if len(files) == 0 {
				t.Fatal("more files than three")
			}
			if err := os.WriteFile(files[0], []byte(block.text), 0o644); err != nil {
				t.Fatal(err)
			}
			files = files[1:]
		case "console":
			commands += block.text
		}
	}
	commands = strings.ReplaceAll(strings.ReplaceAll(commands, "$ ", ""), "TOKEN=…", "TOKEN=of-the-test")
	commands = strings.Replace(commands, "locbench run ", "locbench run --headless --rounds 2 --duration 1s ", 1)
	commands = strings.Replace(commands, "locbench compare results/mine", "locbench report results/mine", 1) // one contender: nothing to compare
	typeInto(t, dir, commands)

	run, legs, err := results.Read(filepath.Join(dir, "results", "mine"))
	if err != nil || run.State != bench.RunComplete || len(legs) != 2 || len(run.Unsound()) != 0 {
		t.Fatalf("%s, %d legs, %v: %v", run.State, len(legs), run.Unsound(), err)
	}
	for _, leg := range legs {
		passed := 0
		for _, c := range leg.Checks {
			if c.Status == bench.CheckPassed {
				passed++
			}
		}
		if passed == 0 || leg.StartUp == nil || leg.Instance.Limits.Memory != 256<<20 {
			t.Errorf("%s: %d checks passed, start-up %v, %+v", leg.Leg, passed, leg.StartUp, leg.Instance)
		}
		for _, s := range leg.Steps {
			if n := s.Load.FailedTotal(); n > 0 {
				t.Errorf("%s, %s: %d failed: %v", leg.Leg, s.Step.Name, n, s.Load.Examples)
			}
		}
	}
	if run.Store.Kind != bench.StoreNone || run.Data.Cities != 0 {
		t.Errorf("store %q, %d cities", run.Store.Kind, run.Data.Cities)
	}
}
