package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Has reports whether a results folder has a file with this name.
func Has(dir, file string) bool {
	st, err := os.Lstat(filepath.Join(dir, file))
	return err == nil && st.Mode().IsRegular()
}

// Damaged is a trial on record whose result cannot be read: its file is lost, cut, or not its own.
type Damaged struct {
	Index int // in bench.Run.Trials
	Trial bench.Trial
	Why   error // names the file
}

func (d *Damaged) Error() string { return fmt.Sprintf("trial %s is lost: %v", d.Trial, d.Why) }
func (d *Damaged) Unwrap() error { return d.Why }

// unreadable is the damaged trials of one run.
type unreadable []*Damaged

func (u unreadable) Error() string {
	lines := make([]string, len(u))
	for i, d := range u {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// DamagedOf returns the damaged trials in an error of Read; none if it is about something else.
func DamagedOf(err error) []*Damaged {
	u, _ := errors.AsType[unreadable](err)
	return u
}

// Read reads the results folder dir, or that of the run.json at dir. Trials that never began have
// no file and are left out. If trials cannot be read, it returns the others and an error with them
// (see DamagedOf).
func Read(dir string) (bench.Run, []bench.TrialResult, error) {
	dir = Folder(dir)
	root, err := safe.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return bench.Run{}, nil, noFolder(dir)
	}
	if err != nil {
		return bench.Run{}, nil, fmt.Errorf("read results: %w", err)
	}
	defer root.Close()
	run, trials, err := read(root)
	switch {
	case errors.Is(err, errNoRun):
		err = noFolder(dir)
	case len(DamagedOf(err)) > 0 && run.Search == "" && run.State != bench.RunRunning:
		err = fmt.Errorf("read results in %s: %w\nrun again what is lost: %s", dir, err, ResumeCommand(dir))
	case err != nil:
		err = fmt.Errorf("read results in %s: %w", dir, err)
	}
	return run, trials, err
}

// Folder returns dir, or the folder of dir if dir is the path of a run.json.
func Folder(dir string) string {
	if filepath.Base(dir) == RunFile {
		return filepath.Dir(dir)
	}
	return dir
}

var errNoRun = errors.New("no " + RunFile)

func noFolder(dir string) error {
	return fmt.Errorf("%s is not a results folder: no %s", dir, RunFile)
}

func read(dir *os.Root) (bench.Run, []bench.TrialResult, error) {
	var run bench.Run
	if err := readJSON(dir, RunFile, RunFile, maxFile, &run); errors.Is(err, fs.ErrNotExist) {
		return run, nil, errNoRun
	} else if err != nil {
		return run, nil, err
	}
	if err := valid(run); err != nil {
		return run, nil, fmt.Errorf("%s: %w", RunFile, err)
	}
	var trials []bench.TrialResult
	var damaged unreadable
	var total int64
	for i, entry := range run.Trials {
		if st, err := dir.Stat(entry.File); err == nil {
			total += st.Size()
		}
		if total > maxTotal {
			return run, trials, fmt.Errorf("trial files exceed %d MiB together: not a results folder", maxTotal>>20)
		}
		var trial bench.TrialResult
		err := readJSON(dir, entry.File, entry.File, maxFile, &trial)
		lost := func(why error) { damaged = append(damaged, &Damaged{Index: i, Trial: entry.Trial, Why: why}) }
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if entry.State != bench.TrialPending {
				lost(fmt.Errorf("%s is missing", entry.File))
			}
		case err != nil:
			lost(err)
		case trial.Schema != bench.SchemaVersion:
			lost(otherSchema(entry.File, trial.Schema))
		case trial.Trial != entry.Trial:
			lost(fmt.Errorf("%s holds trial %s", entry.File, trial.Trial))
		case len(trial.Steps) > maxSteps:
			lost(fmt.Errorf("%s: %d steps: more than any run has", entry.File, len(trial.Steps)))
		default:
			if entry.State == bench.TrialRunning && trial.State != bench.TrialRunning {
				// The run was killed between writing the trial's file and run.json.
				entry := &run.Trials[i]
				entry.State, entry.Excluded, entry.Bodies = trial.State, run.ExclusionOf(trial), trial.Bodies()
			}
			trials = append(trials, trial)
		}
	}
	if len(damaged) > 0 {
		return run, trials, damaged
	}
	return run, trials, nil
}

func valid(run bench.Run) error {
	if run.Schema < 1 {
		return errors.New(`no "schema": not a locbench run`)
	}
	if run.Schema != bench.SchemaVersion {
		return otherSchema(RunFile, run.Schema)
	}
	if len(run.Trials) > maxTrials {
		return fmt.Errorf("%d trials: more than any run has", len(run.Trials))
	}
	seen := map[string]bool{}
	for i, entry := range run.Trials {
		if seen[entry.File] {
			return fmt.Errorf("trial %d: file %q belongs to another trial", i+1, entry.File)
		}
		seen[entry.File] = true
		if entry.Trial.Round < 1 {
			return fmt.Errorf("trial %d: round %d; rounds count from 1", i+1, entry.Trial.Round)
		}
		// A folder from elsewhere must not make locbench read or write outside the folder.
		if !filepath.IsLocal(entry.File) || strings.ContainsAny(entry.File, `/\`) ||
			!strings.HasSuffix(entry.File, ".json") || entry.File == RunFile {
			return fmt.Errorf("trial %d: file %q is not a plain name ending in .json", i+1, entry.File)
		}
	}
	return nil
}

func otherSchema(file string, schema int) error {
	fix := "update locbench"
	if schema < bench.SchemaVersion {
		fix = "run the benchmark again"
	}
	return fmt.Errorf("%s has schema %d; this locbench reads schema %d: %s", file, schema, bench.SchemaVersion, fix)
}

// ResumeCommand returns the command line for a shell that resumes the run in dir.
func ResumeCommand(dir string) string { return command(dir, "run", "--resume") }

// WatchCommand returns the command that shows the run in dir, for a shell.
func WatchCommand(dir string) string { return command(dir, "tui") }

func command(dir string, args ...string) string {
	if strings.HasPrefix(dir, "-") {
		dir = "." + string(filepath.Separator) + dir
	}
	return safe.Shell(append(append([]string{"locbench"}, args...), dir))
}

// lock locks a log, if the system has locks. It waits for processes that only check the lock.
func lock(f *os.File) error {
	for range 5 {
		if held, err := safe.TryLock(f, true); held || err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the folder is locked")
}

// quiet is the time without a write after which a writer counts as gone, without locks.
const quiet = time.Minute

// locked reports whether another process is writing to the log.
func locked(f *os.File) bool {
	if !safe.Locks {
		st, err := f.Stat()
		return err == nil && time.Since(st.ModTime()) < quiet
	}
	held, err := safe.TryLock(f, false)
	if held {
		safe.Unlock(f)
	}
	return !held && err == nil
}

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
