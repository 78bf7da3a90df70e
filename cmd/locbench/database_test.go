//go:build acceptance && database && linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestDatabase_OfServices: two services have their own databases, from their manifests: each trial
// finds the seeded rows, and only the database of its service has counters.
func TestDatabase_OfServices(t *testing.T) {
	t.Parallel()
	o := observe(t, postgresImage(t), "")
	dir := o.books(t, "seed: [schema.sql]", "rounds: 2\nruntime: docker\n")
	before, rest, _ := strings.Cut(readFile(t, filepath.Join(dir, "p.yaml")), "needs:\n")
	need, after, _ := strings.Cut(rest, "setup:")
	writeFile(t, filepath.Join(dir, "p.yaml"), strings.Replace(before, "[books]", "[books, magazines]", 1)+"setup:"+after)
	testenv.OK(t, os.CopyFS(filepath.Join(dir, "svc", "magazines"), os.DirFS(filepath.Join(dir, "svc", "books"))))
	for name, memory := range map[string]string{"books": "4MB", "magazines": "8MB"} {
		folder := filepath.Join(dir, "svc", name)
		manifest := strings.Replace(readFile(t, filepath.Join(folder, "service.yaml")), "name: books", "name: "+name, 1)
		writeFile(t, filepath.Join(folder, "service.yaml"), manifest+"needs:\n"+need+
			"    command: [postgres, -c, work_mem="+memory+"]\n")
		writeFile(t, filepath.Join(folder, "schema.sql"), readFile(t, filepath.Join(dir, "schema.sql")))
	}
	run, trials := o.run(t, dir, 0)
	testenv.Check(t, len(run.Needs) == 2 && run.Needs[0].Label() == "db of books" && run.Needs[1].Label() == "db of magazines", "%+v", run.Needs)
	testenv.Check(t, run.Warnings.Has(bench.WarnOwnNeeds), "%v", run.Warnings)
	testenv.Equal(t, len(trials), 4)
	for _, trial := range trials {
		last := trial.Steps[len(trial.Steps)-1]
		cpus, ok := last.NeedCPUs("db")
		testenv.Check(t, trial.State == bench.TrialComplete && ok && cpus > 0, "%s: %s, %v CPUs", trial.Trial, trial.Failure, cpus)
	}
}

// twoBooks writes a profile of two interleaved contenders with a PostgreSQL into a new folder. Each
// writes books with its own name, and expects none with another one.
func (o *observer) twoBooks(t *testing.T, need, more string) (dir string) {
	t.Helper()
	dir = o.books(t, need, "interleave: 100ms\n"+more)
	editFile(t, filepath.Join(dir, "p.yaml"), "contenders: [books]", "contenders: [books, 'books:again']",
		"  - {post: /books", "  - {get: /others, expect: {json: {count: 0}}}\n  - {post: /books")
	editFile(t, filepath.Join(dir, "svc/books/service.yaml"), "ready:", "variants: [{name: again, env: {NAME: again}}]\nready:")
	return dir
}

// TestInterleaved: interleaved contenders have their own PostgreSQL each. It has the files and rows
// of the seed before each round, neither sees rows of the other, and two pools that would not fit
// into one server get no error.
func TestInterleaved(t *testing.T) {
	const dump = "pg_isready -q -h db && pg_dump -h db -U postgres shop | grep -v restrict"
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			o := observe(t, postgresImage(t), "until [ -s /tmp/dump ]; do sleep 0.1; done; cat /tmp/files /tmp/dump")
			dir := o.twoBooks(t, "limits: {cpus: 1, memory: 512M}\nseed: [schema.sql]\nentrypoint: [bash, /watch.sh, /var/lib/postgresql/data]\n"+
				"command: [docker-entrypoint.sh, postgres]\nvolumes: [./watch.sh:/watch.sh:ro]\n"+
				"ready: {command: [bash, -o, pipefail, -c, '[ -s /tmp/dump ] || { "+dump+" | sha256sum >/tmp/new && mv /tmp/new /tmp/dump; }'], timeout: 2m}",
				"rounds: 2\nruntime: "+runtime+"\n")
			editFile(t, filepath.Join(dir, "p.yaml"), "steps: [1, 4]", "steps: [64]")
			editFile(t, filepath.Join(dir, "svc/books/service.yaml"), "NAME: new", "NAME: new\n  POOL: \"64\"")
			writeFile(t, filepath.Join(dir, "watch.sh"), watch)
			run, trials := o.run(t, dir, 0)
			testenv.Check(t, run.Plain == nil && len(run.Needs) == 1 && len(trials) == 4, "%v, %+v, %d trials", run.Plain, run.Needs, len(trials))
			for _, trial := range trials {
				last := trial.Steps[len(trial.Steps)-1]
				testenv.Check(t, trial.State == bench.TrialComplete && last.Load.FailedTotal() == 0 && last.Interleave != nil,
					"%s: %s, %v", trial.Trial, trial.Failure, last.Load.Examples)
				cpus, known := last.NeedCPUs("db")
				_, waited := last.Interleave.WaitedNeeds["db"]
				testenv.Check(t, known && cpus > 0.01 && (waited || last.Interleave.Count == 1), "%s: db used %v CPUs, %v", trial.Trial, cpus, last.Interleave)
			}
			all := o.outputs()[1:] // without the first start
			if len(all) != 4 || len(slices.Compact(slices.Clone(all))) != 1 || strings.Count(all[0], "\n") != 2 {
				t.Errorf("the rounds began with %q", all)
			}
			t.Logf("restored and ready: %v", restores(t, filepath.Join(dir, "out")))
		})
	}
}

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
	sources := testenv.Must(filepath.Abs(root))(t)
	for _, runtime := range []string{"docker", "process"} {
		t.Run(runtime, func(t *testing.T) {
			dir, lines := t.TempDir(), 0
			typed := strings.NewReplacer("$ ", "", "~/locbench", sources, "let-me-in", "'p@$$w/0rd#%'", "try ", "try --runtime "+runtime+" ",
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

// TestInterleaved_Keep: each contender has a PostgreSQL that runs through all rounds.
func TestInterleaved_Keep(t *testing.T) {
	t.Parallel()
	o := observe(t, postgresImage(t), "")
	dir := o.twoBooks(t, "keep: true\nseed: [schema.sql]", "rounds: 2\nruntime: docker\n")
	editFile(t, filepath.Join(dir, "p.yaml"), "setup: [{get: /count, expect: {json: {count: 1000}}}]\n", "")
	_, trials := o.run(t, dir, 0)
	for _, trial := range trials {
		testenv.Check(t, trial.State == bench.TrialComplete, "%s: %s", trial.Trial, trial.Failure)
	}
	testenv.Equal(t, o.count("start"), 3, "starts: for the seed, and one for each contender")
}

// TestInterleaved_Harmed: a need of one contender that is killed fails the trial of that contender
// only. Both take part in the next round.
func TestInterleaved_Harmed(t *testing.T) {
	t.Parallel()
	o := observe(t, postgresImage(t), "")
	dir := o.twoBooks(t, "seed: [schema.sql]", "rounds: 2\nruntime: process\ntimeout: 1s\n")
	editFile(t, filepath.Join(dir, "p.yaml"), "steps: [1, 4]", "steps: [1 for 1s, 1 for 4s]")
	d := disturbIn(t, dir, nil, "run", "--headless", "-p", "p.yaml")
	d.loaded(1)
	dockerDo(t, "kill", o.last(t))
	_, trials := d.ends(3)
	testenv.Equal(t, len(trials), 4)
	lost := 0
	for _, trial := range trials {
		if trial.Trial.Round == 1 && trial.State == bench.TrialFailed {
			testenv.Contains(t, trial.Failure, "lost db: it has ended: killed by SIGKILL")
			lost++
			continue
		}
		testenv.Check(t, trial.State == bench.TrialComplete, "%s: %s", trial.Trial, trial.Failure)
	}
	testenv.Equal(t, lost, 1, "failed trials")
	o.nothingLeft(t)
}

// TestInterleaved_Ended: after a signal nothing is left of the needs of all contenders, and after
// SIGKILL clean leaves nothing. --resume completes the run.
func TestInterleaved_Ended(t *testing.T) {
	for i, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		phase := []string{"load of a need", "restore"}[i/2]
		t.Run(phase+" "+signal.String(), func(t *testing.T) {
			t.Parallel()
			o := observe(t, postgresImage(t), "")
			dir := o.twoBooks(t, "seed: [schema.sql]", "rounds: 2\nruntime: "+[]string{"docker", "process"}[i%2]+"\n")
			d := disturbIn(t, dir, nil, "run", "--headless", "-p", "p.yaml")
			if i < 2 {
				d.waitEvent(d.out, stepStarted(1))
			} else {
				d.waitEvent(d.out, phaseStarted(bench.PhaseRestore))
			}
			d.endsBy(signal, phase)
			o.nothingLeft(t)
			d.resumes()
			o.nothingLeft(t)
		})
	}
}
