//go:build acceptance && store && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// withDatabase writes a profile of the service books and its PostgreSQL into a new folder.
func withDatabase(t *testing.T, need, more string) (dir string) {
	t.Helper()
	testenv.Docker(t)
	image := testenv.Named(t, "databases", "LOCBENCH_TEST_POSTGRES", "image of a PostgreSQL (.ci/databases makes one)")
	dir = t.TempDir()
	testenv.OK(t, os.CopyFS(filepath.Join(dir, "svc", "books"), os.DirFS("testdata/books")))
	testenv.OK(t, os.Rename(filepath.Join(dir, "svc", "books", "schema.sql"), filepath.Join(dir, "schema.sql")))
	writeFile(t, filepath.Join(dir, "books.yaml"), `contenders: [books]
services: svc
limits: {cpus: 1, memory: 128MiB}
needs:
  db:
    image: `+image+`
    environment: {POSTGRES_HOST_AUTH_METHOD: trust, POSTGRES_DB: shop}
`+need+`
setup: [{get: /count, expect: {json: {count: 1000}}}]
variables: {id: {from: 1, to: 1000}}
requests:
  - {get: '/books/{id}', expect: {json: {title: "book {id}"}}}
  - {post: /books, expect: {status: 201}}
checks: {lifecycle: none}
step_duration: 1s
steps: [1, 4]
`+more)
	return dir
}

// noVolumes fails if a volume of a run is left.
func noVolumes(t *testing.T) {
	t.Helper()
	out, err := exec.Command("docker", "volume", "ls", "-q", "--filter", "label=locbench.run").Output()
	testenv.OK(t, err)
	testenv.Equal(t, strings.TrimSpace(string(out)), "", "volumes left")
}

// TestDatabase: each trial begins with the seeded rows of a PostgreSQL, whatever the trial before
// has written, and the CPU time of the database is known in each step.
func TestDatabase(t *testing.T) {
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			dir := withDatabase(t, "    limits: {cpus: 1, memory: 256M}\n    seed: [schema.sql]", "rounds: 3\nruntime: "+runtime+"\n")
			succeeds(t, dir, "run", "-p", "books.yaml", "-o", "out")
			run, trials := readClean(t, filepath.Join(dir, "out"))
			testenv.Check(t, len(run.Needs) == 1 && run.Needs[0].From == bench.NeedContainer && len(trials) == 3, "%+v", run.Needs)
			for _, trial := range trials {
				last := trial.Steps[len(trial.Steps)-1]
				cpus, ok := last.NeedCPUs("db")
				testenv.Check(t, trial.State == bench.TrialComplete && last.Load.FailedTotal() == 0, "%s: %v", trial.Failure, last.Load.Examples)
				testenv.Check(t, ok && cpus > 0 && last.HostAfter.Needs["db"].Quota == 1, "usage of db: %+v", last.HostAfter.Needs["db"])
			}
			noVolumes(t)
		})
	}
}

// TestDatabase_PerService: two services have their own databases, from their manifests: each trial
// finds the seeded rows, and only the database of its service has counters.
func TestDatabase_PerService(t *testing.T) {
	dir := withDatabase(t, "    seed: [schema.sql]", "rounds: 2\nruntime: docker\n")
	profile, err := os.ReadFile(filepath.Join(dir, "books.yaml"))
	testenv.OK(t, err)
	before, rest, _ := strings.Cut(string(profile), "needs:\n")
	need, after, _ := strings.Cut(rest, "setup:")
	writeFile(t, filepath.Join(dir, "books.yaml"), strings.Replace(before, "[books]", "[books, magazines]", 1)+"setup:"+after)
	manifest, err := os.ReadFile(filepath.Join(dir, "svc", "books", "service.yaml"))
	testenv.OK(t, err)
	testenv.OK(t, os.CopyFS(filepath.Join(dir, "svc", "magazines"), os.DirFS(filepath.Join(dir, "svc", "books"))))
	for name, memory := range map[string]string{"books": "4MB", "magazines": "8MB"} {
		folder := filepath.Join(dir, "svc", name)
		writeFile(t, filepath.Join(folder, "service.yaml"), strings.Replace(string(manifest), "name: books", "name: "+name, 1)+
			"needs:\n"+need+"    command: [postgres, -c, work_mem="+memory+"]\n    per_service: true\n")
		schema, err := os.ReadFile(filepath.Join(dir, "schema.sql"))
		testenv.OK(t, err)
		writeFile(t, filepath.Join(folder, "schema.sql"), string(schema))
	}
	succeeds(t, dir, "run", "-p", "books.yaml", "-o", "out")
	run, trials := readClean(t, filepath.Join(dir, "out"))
	testenv.Check(t, len(run.Needs) == 2 && run.Needs[0].Label() == "db of books" && run.Needs[1].Label() == "db of magazines", "%+v", run.Needs)
	testenv.Check(t, run.Warnings.Has(bench.WarnOwnNeeds), "%v", run.Warnings)
	testenv.Equal(t, len(trials), 4)
	for _, trial := range trials {
		last := trial.Steps[len(trial.Steps)-1]
		cpus, ok := last.NeedCPUs("db")
		testenv.Check(t, trial.State == bench.TrialComplete && ok && cpus > 0, "%s: %s, %v CPUs", trial.Trial, trial.Failure, cpus)
	}
	noVolumes(t)
}

// TestDatabase_SeedFails: the file and the line of the server are in the error, and nothing is
// left.
func TestDatabase_SeedFails(t *testing.T) {
	dir := withDatabase(t, "    seed: [schema.sql]", "")
	writeFile(t, filepath.Join(dir, "schema.sql"), "CREATE TABLE books (id serial);\nINSERTT INTO books;\n")
	code, _, stderr := locbench(t, dir, "run", "-p", "books.yaml", "--headless", "-o", "out")
	testenv.Equal(t, code, 1)
	says(t, "the error", stderr, "needs: db: seed failed in schema.sql", `syntax error at or near "INSERTT"`)
	noVolumes(t)
}

// TestDatabase_Killed: 'locbench clean' removes the database and the volumes of a killed run.
func TestDatabase_Killed(t *testing.T) {
	dir := withDatabase(t, "    seed: [schema.sql]", "runtime: process\n")
	c := startLocbench(t, dir, "run", "-p", "books.yaml", "--headless", "--duration", "1m", "-o", "out")
	testenv.Until(t, 3*time.Minute, "the contender is ready", func() bool { return strings.Contains(c.stdout.String()+c.stderr.String(), "start-up") })
	testenv.OK(t, c.cmd.Process.Signal(syscall.SIGKILL))
	c.wait(time.Minute)
	_, stdout, stderr := locbench(t, dir, "clean")
	says(t, "clean", stdout+stderr, "volume")
	noVolumes(t)
}
