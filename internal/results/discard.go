package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"locbench/internal/bench"
)

// NothingRan says that a run has failed before anything of it ran: no contender was started, and
// no service that somebody else has started has answered.
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

// Discard removes the files of a run from its folder dir, and dir and the folder "results" around
// it if that leaves them empty. Nobody may be writing there any more.
func Discard(dir string, run bench.Run) error {
	names := []string{EventsFile, SummaryFile, ReportFile}
	for _, entry := range run.Trials {
		if filepath.Base(entry.File) == entry.File { // as a trial's is
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
	// Either may hold something else.
	if parent := filepath.Dir(dir); os.Remove(dir) == nil && filepath.Base(parent) == "results" {
		_ = os.Remove(parent)
	}
	return nil
}
