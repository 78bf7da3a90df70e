//go:build acceptance && database && linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

const database = "docs/database.md"

// TestServiceWithDatabase types the beginning of docs/database.md, with a shorter load: services in
// Go, Node and Python with PostgreSQL and Redis, or SQLite, in containers and as processes. That
// each trial begins with the same rows and an empty cache is expected by the profile's setup.
func TestServiceWithDatabase(t *testing.T) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm", "node:20-bookworm-slim", "python:3.11-slim-bookworm")
	databases := strings.NewReplacer(
		"postgres:17", testenv.Named(t, "databases", "LOCBENCH_TEST_POSTGRES", "image of a PostgreSQL (.ci/databases makes one)"),
		"redis:7", testenv.Named(t, "databases", "LOCBENCH_TEST_REDIS", "image of a Redis (.ci/databases makes one)"),
		"step_duration: 5s", "step_duration: 1s", "[16 warm-up for 10s, 4, 16, 64]", "[4, 16]")
	sources, err := filepath.Abs(root)
	testenv.OK(t, err)
	for _, runtime := range []string{"docker", "process"} {
		t.Run(runtime, func(t *testing.T) {
			dir, lines := t.TempDir(), 0
			typed := strings.NewReplacer("$ ", "", "~/locbench", sources, "let-me-in", "'p@$$w/0rd#%'", "try ", "try --quiet --runtime "+runtime+" ",
				"locbench run ", "locbench run --headless --rounds 2 --runtime "+runtime+" ")
			t.Setenv("PGPASSWORD", "p@$$w/0rd#%") // each block runs in its own shell
			page := readPage(t, database)
			for _, heading := range []string{"The files", "From the files to a comparison", "SQLite"} {
				_, step, found := strings.Cut(page, "\n## "+heading+"\n")
				testenv.Check(t, found, "%s has no %s", database, heading)
				step, _, _ = strings.Cut(step, "\n## ")
				for _, block := range fences(step) {
					switch name := sqlName.FindStringSubmatch(block.text); {
					case name != nil:
						writeFile(t, filepath.Join(dir, name[1]), block.text)
					case block.word == "yaml" && heading == "The files":
						lines += strings.Count(block.text, "\n")
						writeFile(t, filepath.Join(dir, fileOf(step, block)), databases.Replace(block.text))
					case block.word == "console":
						typeInto(t, dir, typed.Replace(block.text))
					}
				}
			}
			testenv.Check(t, lines <= 60, "%d lines of YAML", lines)
			withRows(t, filepath.Join(dir, "results", "postgres"), bench.Runtime(runtime), "cache", "db")
			withRows(t, filepath.Join(dir, "results", "sqlite"), bench.Runtime(runtime))
			run, _ := read(t, filepath.Join(dir, "results", "postgres"))
			nothingLeft(t, run.ID)
		})
	}
}

// withRows fails unless all trials of a run went well from start to stop, and used these needs.
func withRows(t *testing.T, dir string, runtime bench.Runtime, used ...string) {
	t.Helper()
	run, trials := readClean(t, dir)
	testenv.Check(t, run.State == bench.RunComplete && len(trials) == 6 && len(run.Excluded()) == 0 && len(run.Needs) == 2, "%s: %+v", run.State, run.Needs)
	for _, trial := range trials {
		testenv.Check(t, wentWell(t, trial)["lifecycle"] > 0 && trial.Instance.Runtime == runtime, "%s: %+v", trial.Trial, trial.Checks)
		for _, step := range trial.Steps {
			for _, name := range used {
				cpus, known := step.NeedCPUs(name)
				testenv.Check(t, known && cpus > 0.001, "%s: %s used %v CPUs, %v", trial.Trial, name, cpus, known)
			}
		}
	}
	testenv.OK(t, testenv.Err(os.Stat(filepath.Join(dir, "report.html"))))
}
