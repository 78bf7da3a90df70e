// Package results keeps a run on disk and reads it back.
//
// A results folder holds run.json (the plan and its progress), one JSON file per trial with all its
// measurements, events.jsonl (the event stream), summary.md and report.html. The writer subscribes
// to the event stream. It replaces run.json and the trial's file atomically after every step, so a
// crash loses at most the running step. Package bench defines the results.
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

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Names of the files in a results folder.
const (
	RunFile     = "run.json"
	EventsFile  = "events.jsonl"
	SummaryFile = "summary.md"
	ReportFile  = "report.html"
)

// Writer writes a results folder. Only Interrupted may be called outside the stream's goroutine.
type Writer struct {
	folder      os.FileInfo // that of dir at the start
	mu          sync.Mutex
	dir         string
	run         bench.Run
	trials      map[bench.Trial]*bench.TrialResult // running trials: several with interleaving
	events      *os.File
	fail        func(error)
	err         error
	interrupted bool // Interrupted was called
	closed      bool // the folder may be removed, or belong to another locbench
}

// Create makes the folder dir, which must not hold a run, and its first run.json. The writer calls
// fail once, with the first error in writing: a full disk must end the run early.
func Create(dir string, run bench.Run, fail func(error)) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make results folder: %w; choose another with --out", err)
	}
	if err := vacant(dir); err != nil {
		return nil, err
	}
	h, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	if err := vacant(dir); err != nil { // another locbench was faster
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

// Lock is a results folder that is locked until the Lock, or its Writer, is closed.
type Lock struct {
	dir    string
	events *os.File
}

// Acquire locks the folder of a run to resume; dir may also be the path of its run.json.
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

// Close unlocks the folder.
func (h *Lock) Close() error { return h.events.Close() }

// Reopen returns a writer that resumes the run, which Read must have returned after Acquire.
func (h *Lock) Reopen(run bench.Run, fail func(error)) (*Writer, error) {
	w, err := h.write(run, fail)
	if err != nil {
		return nil, err
	}
	if err := removeTemporary(h.dir); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("remove temporary files of a killed run: %w", err)
	}
	return w, nil
}

func (h *Lock) write(run bench.Run, fail func(error)) (*Writer, error) {
	folder, err := os.Stat(h.dir)
	if err != nil {
		_ = h.Close()
		return nil, err
	}
	w := &Writer{dir: h.dir, folder: folder, run: run, fail: fail, events: h.events, trials: map[bench.Trial]*bench.TrialResult{}}
	if err = endLine(w.events); err == nil {
		err = w.writeRun()
	}
	if err != nil {
		_ = h.Close()
		return nil, err
	}
	return w, nil
}

// endLine ends the unfinished last line of a killed run.
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

// Handle writes one event; it is a handler for event.Stream.Subscribe.
func (w *Writer) Handle(rec bench.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && !w.closed {
		w.check(w.handle(rec))
	}
}

func (w *Writer) check(err error) {
	if err != nil {
		w.err = err
		w.fail(err)
	}
}

// Interrupted marks the run as interrupted in run.json now: locbench may be killed before its end.
// After Close it does nothing.
func (w *Writer) Interrupted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.interrupted = true; w.err == nil && !w.closed && w.run.State == bench.RunRunning {
		w.check(w.writeRun())
	}
}

// Err returns the first error in writing; call it after the stream was closed.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close closes the event log and unlocks the folder, in which nothing is written afterwards.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.events.Close()
}

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
		w.run.Trials = slices.Clone(e.Run.Trials) // the states change here, and other subscribers read the event
	case bench.Prepared:
		w.run.Needs, w.run.NeedParts, w.run.Software = e.Needs, e.NeedParts, e.Software
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

// setState writes the trial's file, then run.json, which must not name a missing file.
func (w *Writer) setState(trial *bench.TrialResult, excluded *bench.Exclusion) error {
	i := slices.IndexFunc(w.run.Trials, func(entry bench.TrialEntry) bool { return entry.Trial == trial.Trial })
	if i < 0 {
		return fmt.Errorf("write trial %s: not in the plan", trial.Trial)
	}
	entry := &w.run.Trials[i]
	path := filepath.Join(w.dir, entry.File)
	if trial.State == bench.TrialRunning && len(trial.Steps) == 0 && trial.Instance == nil {
		if err := keepPartial(path); err != nil {
			return err
		}
	}
	if err := w.inPlace(); err != nil {
		return err
	}
	if err := WriteJSON(path, trial); err != nil || entry.State == trial.State {
		return err
	}
	entry.State, entry.Excluded, entry.Bodies = trial.State, excluded, trial.Bodies()
	return w.writeRun()
}

// keepPartial renames the file of an unfinished attempt at the same trial, to keep its results.
func keepPartial(path string) error {
	dir, err := safe.OpenRoot(filepath.Dir(path))
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
	return fmt.Errorf("keep the unfinished %s: too many already", path)
}

func (w *Writer) writeRun() error {
	run := w.run
	if w.interrupted && run.State == bench.RunRunning {
		run.State = bench.RunInterrupted
	}
	if err := w.inPlace(); err != nil {
		return err
	}
	return WriteJSON(filepath.Join(w.dir, RunFile), run)
}

// inPlace returns an error if the path of the folder leads to another one by now, such as through a
// link.
func (w *Writer) inPlace() error {
	now, err := os.Stat(w.dir)
	if err == nil && !os.SameFile(now, w.folder) {
		err = fmt.Errorf("%s is another folder than at the start of the run", w.dir)
	}
	return err
}
