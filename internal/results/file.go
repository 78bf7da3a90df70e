package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Limits of what is read: a results folder may come from anywhere.
const (
	maxFile   = 128 << 20 // bytes of one JSON file: a trial of one day has about 75 MB
	maxTotal  = 4 << 30   // bytes of all trial files
	maxLine   = 16 << 20  // bytes of one line of events.jsonl
	maxTrials = 100_000
	maxSteps  = 100_000
)

// removeTemporary removes files of a killed safe.WriteFile from dir, which needs no other writer.
func removeTemporary(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		for _, name := range []string{"?*.json", SummaryFile, ReportFile} {
			if ok, _ := filepath.Match("."+name+".tmp[0-9]*", e.Name()); ok && e.Type().IsRegular() {
				failed = append(failed, os.Remove(filepath.Join(dir, e.Name())))
			}
		}
	}
	return errors.Join(failed...)
}

// WriteJSON writes v as indented JSON with safe.WriteFile.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return safe.WriteFile(path, append(safe.JSON(data), '\n'))
}

// readJSON reads the file at path in dir into v: one JSON value of at most most bytes. name is its
// name in errors. A link out of dir is an error.
func readJSON(dir *os.Root, path, name string, most int64, v any) error {
	f, err := safe.OpenIn(dir, path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := safe.ReadAll(f, name, most)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, place(data, err))
	}
	return nil
}

// place adds the line to a JSON error, which has only the offset.
func place(data []byte, err error) error {
	var offset int64 = -1
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = e.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:offset], []byte("\n")), err)
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
