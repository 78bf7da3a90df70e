package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/safe"
)

// Has reports whether a results folder has a file of that name.
func Has(dir, file string) bool {
	st, err := os.Lstat(filepath.Join(dir, file))
	return err == nil && st.Mode().IsRegular()
}

// Read reads a results folder, or the folder that a path to its run.json names. Legs that never
// began have no file and are left out. A leg that cannot be read does not hide the others: they are
// returned together with the joined errors.
func Read(dir string) (bench.Run, []bench.LegResult, error) {
	dir = Folder(dir)
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return bench.Run{}, nil, noFolder(dir)
	}
	if err != nil {
		return bench.Run{}, nil, fmt.Errorf("read results: %w", err)
	}
	defer root.Close()
	run, legs, err := read(root)
	if errors.Is(err, errNoRun) {
		err = noFolder(dir)
	} else if err != nil {
		err = fmt.Errorf("read results in %s: %w", dir, err)
	}
	return run, legs, err
}

// Folder is dir, or the folder of the run.json that dir names.
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

func read(dir *os.Root) (bench.Run, []bench.LegResult, error) {
	var run bench.Run
	if err := readJSON(dir, RunFile, RunFile, maxFile, &run); errors.Is(err, fs.ErrNotExist) {
		return run, nil, errNoRun
	} else if err != nil {
		return run, nil, err
	}
	if err := valid(run); err != nil {
		return run, nil, fmt.Errorf("%s: %w", RunFile, err)
	}
	var legs []bench.LegResult
	var problems []error
	var total int64
	for i, entry := range run.Legs {
		if st, err := dir.Stat(entry.File); err == nil {
			total += st.Size()
		}
		if total > maxTotal {
			return run, legs, fmt.Errorf("the files of the legs are larger than %d MiB together: this is not a results folder",
				maxTotal>>20)
		}
		var leg bench.LegResult
		err := readJSON(dir, entry.File, entry.File, maxFile, &leg)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if entry.State != bench.LegPending {
				problems = append(problems, fmt.Errorf("leg %s is %s, but %s is missing", entry.Leg, entry.State, entry.File))
			}
		case err != nil:
			problems = append(problems, err)
		case leg.Schema > bench.SchemaVersion:
			problems = append(problems, tooNew(entry.File, leg.Schema))
		case leg.Leg != entry.Leg:
			problems = append(problems, fmt.Errorf("%s is about %s, but %s says %s", entry.File, leg.Leg, RunFile, entry.Leg))
		case len(leg.Steps) > maxSteps:
			problems = append(problems, fmt.Errorf("%s: %d steps are more than any run has", entry.File, len(leg.Steps)))
		default:
			if entry.State == bench.LegRunning && leg.State != bench.LegRunning {
				// It was killed after it had written the leg's file, and before run.json.
				run.Legs[i].State, run.Legs[i].Unsound = leg.State, run.Judge(leg)
			}
			if leg.Schema < 2 {
				addKinds(&leg)
			}
			legs = append(legs, leg)
			if d, ok := leg.Definition(); ok && d == bench.Earlier && !run.Warnings.Has(bench.FoundEarlier) {
				run.Warnings = append(run.Warnings, bench.Finding{Kind: bench.FoundEarlier, Text: bench.EarlierWarning})
			}
		}
	}
	return run, legs, errors.Join(problems...)
}

func valid(run bench.Run) error {
	if run.Schema < 1 {
		return errors.New(`no "schema": not a locbench run`)
	}
	if run.Schema > bench.SchemaVersion {
		return tooNew(RunFile, run.Schema)
	}
	if len(run.Legs) > maxLegs {
		return fmt.Errorf("%d legs are more than any run has", len(run.Legs))
	}
	seen := map[string]bool{}
	for i, entry := range run.Legs {
		if seen[entry.File] {
			return fmt.Errorf("leg %d: file %q is that of another leg", i+1, entry.File)
		}
		seen[entry.File] = true
		if entry.Leg.Round < 1 {
			return fmt.Errorf("leg %d: round %d; they count from 1", i+1, entry.Leg.Round)
		}
		// A folder from elsewhere must not make us read, or on resuming write, outside of it.
		if !filepath.IsLocal(entry.File) || strings.ContainsAny(entry.File, `/\`) ||
			!strings.HasSuffix(entry.File, ".json") || entry.File == RunFile {
			return fmt.Errorf("leg %d: file %q is not a plain name ending in .json", i+1, entry.File)
		}
	}
	return nil
}

func tooNew(file string, schema int) error {
	return fmt.Errorf("%s has schema %d; this locbench reads up to %d: update locbench", file, schema,
		bench.SchemaVersion)
}

// ResumeCommand is the command line that resumes the run in dir, to be pasted into a shell.
func ResumeCommand(dir string) string {
	if strings.HasPrefix(dir, "-") {
		dir = "." + string(filepath.Separator) + dir
	}
	return safe.Shell([]string{"locbench", "run", "--resume", dir})
}
