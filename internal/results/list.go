package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"locbench/internal/bench"
)

// Bounds of a list: a folder of results may hold anything.
const (
	maxListed   = 5_000    // results folders
	maxListFile = 16 << 20 // bytes of one run.json; it holds the plan, not the figures
)

// Entry is one results folder, as far as run.json says of it.
type Entry struct {
	Dir        string // as the root was given, joined with the folder's name
	ID         string
	Profile    string
	Contenders []string // labels
	State      bench.RunState
	Failed     []string // contenders (see bench.Run.Outcome)
	Live       bool     // a locbench writes to it now; a run in state running without it was killed
	Started    time.Time
	Ended      time.Time // zero: not yet, or never
	Complete   int       // trials
	Trials     int       // of the plan
	Resumed    int       // how often
	Warnings   int
	Changed    time.Time // run.json was written last
	Err        error     // why it cannot be shown; then only Dir and Changed are known
}

// Time returns by which lists are ordered: when the run was started, or for broken folders when they
// were written.
func (e Entry) Time() time.Time {
	if e.Started.IsZero() {
		return e.Changed
	}
	return e.Started
}

// List finds the results folders at the roots and one level below them, the newest first. One that
// cannot be read is listed with its error; a root that is not there is not. Links are followed to a
// root, never out of one. left is the number of folders beyond the bound, which were not read.
func List(roots ...string) (entries []Entry, left int) {
	dirs := find(roots, 1, func(dir string, err error) {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrBounded) {
			entries = append(entries, Entry{Dir: dir, Err: fmt.Errorf("list results: %w", err)})
		}
	})
	// Names begin with the time of the run.
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(filepath.Base(b), filepath.Base(a)) })
	if left = max(0, len(dirs)-maxListed); left > 0 {
		dirs = dirs[:maxListed]
	}
	for _, dir := range dirs {
		entries = append(entries, listed(dir))
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(b.Time().Compare(a.Time()), cmp.Compare(a.Dir, b.Dir))
	})
	return entries, left
}

// brief is what a list needs of run.json; the rest of it is not decoded.
type brief struct {
	Schema  int            `json:"schema"`
	ID      string         `json:"id"`
	State   bench.RunState `json:"state"`
	Profile struct {
		Name       string            `json:"name"`
		Contenders []bench.Selection `json:"contenders"`
	} `json:"profile"`
	Trials   []bench.TrialEntry `json:"trials"`
	Started  time.Time          `json:"started"`
	Ended    time.Time          `json:"ended"`
	Warnings []json.RawMessage  `json:"warnings"`
	Resumed  []time.Time        `json:"resumed"`
}

// listed reads the entry of one folder.
func listed(dir string) Entry {
	e := Entry{Dir: dir}
	root, err := os.OpenRoot(dir)
	if err != nil {
		e.Err = err
		return e
	}
	defer root.Close()
	st, err := root.Lstat(RunFile)
	if err != nil {
		e.Err = err
		return e
	}
	e.Changed = st.ModTime()
	if err := e.read(root); err != nil {
		return Entry{Dir: e.Dir, Changed: e.Changed, Err: err}
	}
	e.Live = e.State == bench.RunRunning && Has(dir, EventsFile) && Running(dir)
	return e
}

func (e *Entry) read(dir *os.Root) error {
	var b brief
	if err := readJSON(dir, RunFile, RunFile, maxListFile, &b); err != nil {
		return err
	}
	if err := valid(bench.Run{Schema: b.Schema}); err != nil {
		return fmt.Errorf("%s: %w", RunFile, err)
	}
	e.ID, e.Profile, e.Started, e.Ended = b.ID, b.Profile.Name, b.Started, b.Ended
	run := bench.Run{State: b.State, Trials: b.Trials}
	e.State, e.Failed = run.Outcome()
	for _, u := range run.Excluded() {
		e.Failed = append(e.Failed, u.Label+" "+u.Brief())
	}
	for _, s := range b.Profile.Contenders {
		e.Contenders = append(e.Contenders, s.String())
	}
	for _, l := range b.Trials {
		if l.State == bench.TrialComplete {
			e.Complete++
		}
	}
	e.Trials, e.Resumed, e.Warnings = len(b.Trials), len(b.Resumed), len(b.Warnings)
	return nil
}
