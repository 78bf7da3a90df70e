//go:build acceptance && database && linux

package main

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestDatabase: each trial begins with the seeded rows of a PostgreSQL, whatever the trial before
// has written, and the CPU time of the database is known in each step.
func TestDatabase(t *testing.T) {
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			o := observe(t, postgresImage(t), "")
			dir := o.books(t, "limits: {cpus: 1, memory: 256M}\nseed: [schema.sql]", "rounds: 3\nruntime: "+runtime+"\n")
			run, trials := o.run(t, dir, 0)
			testenv.Check(t, len(run.Needs) == 1 && run.Needs[0].From == bench.NeedContainer && len(trials) == 3, "%+v", run.Needs)
			for _, trial := range trials {
				last := trial.Steps[len(trial.Steps)-1]
				cpus, ok := last.NeedCPUs("db")
				testenv.Check(t, trial.State == bench.TrialComplete && last.Load.FailedTotal() == 0, "%s: %v", trial.Failure, last.Load.Examples)
				testenv.Check(t, ok && cpus > 0 && last.HostAfter.Needs["db"].Quota == 1, "usage of db: %+v", last.HostAfter.Needs["db"])
			}
		})
	}
}
