package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locbench/locbench/internal/bench"
)

// NothingRan reports whether a run failed before a contender was started or a target responded.
func NothingRan(run bench.Run, trials []bench.TrialResult) bool {
	if run.State != bench.RunFailed || len(run.Resumed) > 0 {
		return false
	}
	for _, trial := range trials {
		started := trial.Instance != nil && !trial.Instance.Runtime.Traits().AlreadyRunning
		if started || trial.StartUp != nil || len(trial.Checks) > 0 || len(trial.Steps) > 0 {
			return false
		}
	}
	return true
}

// Discard removes the files of a run, and then dir and its parent "results" if they are empty.
func Discard(dir string, run bench.Run) error {
	names := []string{EventsFile, SummaryFile, ReportFile}
	for _, entry := range run.Trials {
		if filepath.Base(entry.File) == entry.File { // not a path
			names = append(names, entry.File)
		}
	}
	var failures []error
	for _, name := range append(names, RunFile) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, err)
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("remove the results of a run in which nothing ran: %w", errors.Join(failures...))
	}
	if parent := filepath.Dir(dir); os.Remove(dir) == nil && filepath.Base(parent) == "results" {
		_ = os.Remove(parent)
	}
	return nil
}
