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

// TestDatabase_PerService: two services have their own databases, from their manifests: each trial
// finds the seeded rows, and only the database of its service has counters.
func TestDatabase_PerService(t *testing.T) {
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
			"    command: [postgres, -c, work_mem="+memory+"]\n    per_service: true\n")
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
