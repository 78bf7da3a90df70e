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

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Limits of a list: a folder may hold anything.
const (
	maxListed   = 5_000    // results folders
	maxListFile = 16 << 20 // bytes of one run.json, which holds the plan and no results
)

// Entry is a results folder, from its run.json.
type Entry struct {
	Dir        string // the root and the folder's name, joined
	ID         string
	Profile    string
	Contenders []string // labels
	State      bench.RunState
	Failed     []string // failed contenders (see bench.Run.Outcome)
	Live       bool     // a locbench is writing to it; a run in state running that is not live was killed
	Started    time.Time
	Ended      time.Time // zero: not ended, or killed
	Complete   int       // number of complete trials
	Trials     int       // number of planned trials
	Resumed    int       // how often it was resumed
	Warnings   int
	Changed    time.Time // time of the last change of run.json
	Err        error     // why the folder cannot be read; then only Dir and Changed are known
}

// Time returns the time to sort by: the start of the run, or the last change of a broken folder.
func (e Entry) Time() time.Time {
	if e.Started.IsZero() {
		return e.Changed
	}
	return e.Started
}

// List returns the results folders at the roots and one level below them, the newest first.
// Unreadable folders are listed with their error, missing roots are not. A root may be a link;
// other links are not followed. left is the number of folders beyond the limit, which were not
// read.
func List(roots ...string) (entries []Entry, left int) {
	dirs := find(roots, 1, func(dir string, err error) {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrBounded) {
			entries = append(entries, Entry{Dir: dir, Err: fmt.Errorf("list results: %w", err)})
		}
	})
	// Names of folders begin with the time of the run.
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

// brief is the part of run.json that a list needs.
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

// listed returns the entry of a folder.
func listed(dir string) Entry {
	e := Entry{Dir: dir}
	root, err := safe.OpenRoot(dir)
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
