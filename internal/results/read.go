package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Has reports whether a results folder has a file with this name.
func Has(dir, file string) bool {
	st, err := os.Lstat(filepath.Join(dir, file))
	return err == nil && st.Mode().IsRegular()
}

// Read reads the results folder dir, or that of the run.json at dir. Trials that never began have
// no file and are left out. If trials cannot be read, it returns the others and the joined errors.
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
	if errors.Is(err, errNoRun) {
		err = noFolder(dir)
	} else if err != nil {
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
	var problems []error
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
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if entry.State != bench.TrialPending {
				problems = append(problems, fmt.Errorf("trial %s is %s, but %s is missing", entry.Trial, entry.State, entry.File))
			}
		case err != nil:
			problems = append(problems, err)
		case trial.Schema != bench.SchemaVersion:
			problems = append(problems, otherSchema(entry.File, trial.Schema))
		case trial.Trial != entry.Trial:
			problems = append(problems,
				fmt.Errorf("%s holds trial %s, but %s says %s", entry.File, trial.Trial, RunFile, entry.Trial))
		case len(trial.Steps) > maxSteps:
			problems = append(problems, fmt.Errorf("%s: %d steps: more than any run has", entry.File, len(trial.Steps)))
		default:
			if entry.State == bench.TrialRunning && trial.State != bench.TrialRunning {
				// The run was killed between writing the trial's file and run.json.
				entry := &run.Trials[i]
				entry.State, entry.Excluded, entry.Bodies = trial.State, run.ExclusionOf(trial), trial.Bodies()
			}
			trials = append(trials, trial)
			if d, ok := trial.Definition(); ok && d == bench.OldDefinition && !run.Warnings.Has(bench.WarnOldStepDefinition) {
				run.Warnings = append(run.Warnings, bench.Warning{Kind: bench.WarnOldStepDefinition, Text: bench.OldDefinitionWarning})
			}
		}
	}
	return run, trials, errors.Join(problems...)
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
