//go:build acceptance && database && linux

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

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
