// Package results keeps a run on disk and reads it back.
//
// A results folder holds run.json (the plan and how far it has come), one JSON file per trial with
// everything that was measured, events.jsonl (the event stream as it happened), summary.md and
// report.html. The writer is a subscriber of the event stream: run.json and the trial's file are
// replaced atomically after every step, so a crash loses at most the step that was running.
// What the figures mean is in package bench; drawing them is left to package report.
package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/text/safe"
)

// Names of the files in a results folder.
const (
	RunFile     = "run.json"
	EventsFile  = "events.jsonl"
	SummaryFile = "summary.md"
	ReportFile  = "report.html"
)

// Writer keeps the record. But for Interrupted it is called from one goroutine, the stream's.
type Writer struct {
	mu     sync.Mutex
	dir    string
	run    bench.Run
	trials map[bench.Trial]*bench.TrialResult // those that are running: several where contenders take turns
	events *os.File
	fail   func(error)
	err    error
	asked  bool // Interrupted was called
}

// Create makes the folder dir, which holds no run yet, with its first run.json. fail is called once,
// with the first error in writing: a full disk must end the run, not be found out after it.
func Create(dir string, run bench.Run, fail func(error)) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make results folder: %w", err)
	}
	if err := vacant(dir); err != nil {
		return nil, err
	}
	h, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	if err := vacant(dir); err != nil { // another one was faster
		_ = h.Close()
		return nil, err
	}
	return h.write(run, fail)
}

func vacant(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, RunFile)); err == nil {
		return fmt.Errorf("%s already holds a run: choose another --out, or resume it: %s", dir, ResumeCommand(dir))
	}
	return nil
}

// Lock is a results folder that nobody else writes to until it, or its Writer, is closed.
type Lock struct {
	dir    string
	events *os.File
}

// Acquire locks the folder of a run that is to be resumed, or the folder that a path to its run.json names.
func Acquire(dir string) (*Lock, error) {
	dir = Folder(dir)
	if _, err := os.Stat(filepath.Join(dir, RunFile)); err != nil {
		return nil, noFolder(dir)
	}
	return acquire(dir)
}

func acquire(dir string) (*Lock, error) {
	path := filepath.Join(dir, EventsFile)
	f, err := safe.Append(path, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open event log: %w", err)
	}
	if err := lock(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another locbench is writing to %s: wait or stop it (%w)", dir, err)
	}
	return &Lock{dir, f}, nil
}

// Close lets others write to the folder.
func (h *Lock) Close() error { return h.events.Close() }

// Reopen resumes the run, as Read has returned it since the folder is held.
func (h *Lock) Reopen(run bench.Run, fail func(error)) (*Writer, error) {
	w, err := h.write(run, fail)
	if err != nil {
		return nil, err
	}
	if err := removeTemporary(h.dir); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("remove what a killed run has left: %w", err)
	}
	return w, nil
}

func (h *Lock) write(run bench.Run, fail func(error)) (*Writer, error) {
	w := &Writer{dir: h.dir, run: run, fail: fail, events: h.events, trials: map[bench.Trial]*bench.TrialResult{}}
	err := endLine(w.events)
	if err == nil {
		err = w.writeRun()
	}
	if err != nil {
		_ = h.Close()
		return nil, err
	}
	return w, nil
}

// endLine ends a line that a killed run has left half written.
func endLine(f *os.File) error {
	st, err := f.Stat()
	if err == nil && st.Size() > 0 {
		last := make([]byte, 1)
		if _, err = f.ReadAt(last, st.Size()-1); err == nil && last[0] != '\n' {
			_, err = f.Write([]byte{'\n'})
		}
	}
	if err != nil {
		return fmt.Errorf("open event log: %w", err)
	}
	return nil
}

// Handle keeps one event. It is what event.Stream.Subscribe wants.
func (w *Writer) Handle(rec bench.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.check(w.handle(rec))
	}
}

func (w *Writer) check(err error) {
	if err != nil {
		w.err = err
		w.fail(err)
	}
}

// Interrupted notes that the run was asked to end. From now on run.json says so, since whoever asked
// may not wait for its end: they close the terminal, or kill what does not stop at once.
func (w *Writer) Interrupted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked = true; w.err == nil && w.run.State == bench.RunRunning {
		w.check(w.writeRun())
	}
}

// Err returns the first error in writing; ask after the stream was closed.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close closes the event log.
func (w *Writer) Close() error { return w.events.Close() }

func (w *Writer) handle(rec bench.Record) error {
	line, err := json.Marshal(rec)
	if err == nil {
		_, err = w.events.Write(append(safe.JSON(line), '\n'))
	}
	if err != nil {
		return fmt.Errorf("write event %d: %w", rec.Seq, err)
	}
	if rec.Trial != nil {
		return w.handleTrial(*rec.Trial, rec.At, rec.Event)
	}
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		w.run = e.Run
		w.run.Trials = slices.Clone(e.Run.Trials) // their states change here, and others read the event
	case bench.Prepared:
		w.run.Store, w.run.Software = e.Store, e.Software
	case bench.Notice:
		if e.Level == "info" {
			return nil
		}
		w.run.Warnings = append(w.run.Warnings, e.Warning())
	case bench.ChangedManually:
		w.run.ManualChanges = append(w.run.ManualChanges, bench.ManualChange{At: rec.At, Control: e.Control})
	case bench.RunEnded:
		w.run.State, w.run.Ended = e.State, rec.At
	default:
		return nil
	}
	return w.writeRun()
}

func (w *Writer) handleTrial(trial bench.Trial, at time.Time, e bench.Event) error {
	if _, ok := e.(bench.TrialStarted); ok {
		w.trials[trial] = &bench.TrialResult{Trial: trial}
	}
	running := w.trials[trial]
	if running == nil {
		return nil
	}
	running.Apply(at, e)
	switch e := e.(type) {
	case bench.TrialStarted, bench.StepEnded, bench.InstanceStarted:
		return w.setState(running, nil)
	case bench.TrialEnded:
		delete(w.trials, trial)
		return w.setState(running, e.Excluded)
	}
	return nil
}

// setState writes the trial's file before run.json, which promises no file that is not there.
func (w *Writer) setState(trial *bench.TrialResult, excluded *bench.Exclusion) error {
	i := slices.IndexFunc(w.run.Trials, func(entry bench.TrialEntry) bool { return entry.Trial == trial.Trial })
	if i < 0 {
		return fmt.Errorf("write trial %s: it is not in the plan", trial.Trial)
	}
	entry := &w.run.Trials[i]
	path := filepath.Join(w.dir, entry.File)
	if trial.State == bench.TrialRunning && len(trial.Steps) == 0 && trial.Instance == nil {
		if err := keepPartial(path); err != nil {
			return err
		}
	}
	if err := WriteJSON(path, trial); err != nil || entry.State == trial.State {
		return err
	}
	entry.State, entry.Excluded = trial.State, excluded
	return w.writeRun()
}

// keepPartial moves the file of an earlier, unfinished life of the same trial aside: nothing measured
// is thrown away, nor mixed with the steps of the new one.
func keepPartial(path string) error {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	var old bench.TrialResult
	name := filepath.Base(path)
	if err := readJSON(dir, name, name, maxFile, &old); err != nil || len(old.Steps) == 0 {
		return nil //nolint:nilerr // nothing there, or nothing worth keeping
	}
	ext := filepath.Ext(path)
	for n := 1; n <= maxTrials; n++ {
		to := fmt.Sprintf("%s.partial%d%s", strings.TrimSuffix(path, ext), n, ext)
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			return os.Rename(path, to)
		}
	}
	return fmt.Errorf("keep the unfinished %s: too many of them", path)
}

func (w *Writer) writeRun() error {
	run := w.run
	if w.asked && run.State == bench.RunRunning {
		run.State = bench.RunInterrupted
	}
	return WriteJSON(filepath.Join(w.dir, RunFile), run)
}
