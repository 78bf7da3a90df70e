package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"locbench/internal/bench"
)

// Bounds of a list: a folder of results may hold anything.
const (
	maxListed   = 5_000    // results folders
	maxListFile = 16 << 20 // bytes of one run.json; it holds the plan, not the figures
	maxScanned  = 50_000   // names in one root
)

// Entry is one results folder, as far as run.json tells of it.
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
	Complete   int       // legs
	Legs       int       // of the plan
	Resumed    int       // how often
	Warnings   int
	Changed    time.Time // run.json was written last
	Err        error     // why it cannot be shown; then only Dir and Changed are known
}

// Time is by which lists are ordered: when the run was started, or for broken folders when they
// were written.
func (e Entry) Time() time.Time {
	if e.Started.IsZero() {
		return e.Changed
	}
	return e.Started
}

// List finds the results folders at the roots and one level below them, the newest first. One that
// cannot be read is listed with its error; a root that is not there is none. Links are followed to a
// root, never out of one. left is the number of folders beyond the bound, which were not read.
func List(roots ...string) (entries []Entry, left int) {
	seen := map[string]bool{}
	for _, root := range roots {
		left += listRoot(root, func(e Entry) bool {
			key := e.Dir
			if abs, err := filepath.Abs(e.Dir); err == nil {
				key = abs
			}
			if real, err := filepath.EvalSymlinks(key); err == nil {
				key = real
			}
			if !seen[key] {
				if len(entries) >= maxListed {
					return false
				}
				seen[key] = true
				entries = append(entries, e)
			}
			return true
		})
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Or(b.Time().Compare(a.Time()), cmp.Compare(a.Dir, b.Dir)) })
	return entries, left
}

// listRoot gives the results folders of one root to add, until that refuses one; left are the others.
func listRoot(root string, add func(Entry) bool) (left int) {
	root = Folder(root)
	dir, err := os.OpenRoot(root)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			add(Entry{Dir: root, Err: fmt.Errorf("list results: %w", err)})
		}
		return 0
	}
	defer dir.Close()
	if e, ok := listed(dir, ".", root); ok && !add(e) {
		left++
	}
	names, err := folders(dir)
	if err != nil {
		add(Entry{Dir: root, Err: fmt.Errorf("list results in %s: %w", root, err)})
	}
	for _, name := range names {
		if left > 0 {
			left++
		} else if e, ok := listed(dir, name, filepath.Join(root, name)); ok && !add(e) {
			left++
		}
	}
	return left
}

// folders are the names of dir's folders, the newest first: names begin with the time of the run.
func folders(dir *os.Root) (names []string, err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxScanned)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(b, a) })
	return names, err
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
	Legs     []bench.LegEntry  `json:"legs"`
	Started  time.Time         `json:"started"`
	Ended    time.Time         `json:"ended"`
	Warnings []json.RawMessage `json:"warnings"`
	Resumed  []time.Time       `json:"resumed"`
}

// listed reads the entry of one folder; ok is false when it is no results folder.
func listed(dir *os.Root, name, folder string) (e Entry, ok bool) {
	e.Dir = folder
	file := path.Join(name, RunFile)
	st, err := dir.Lstat(file)
	if err != nil {
		e.Err = err
		return e, !errors.Is(err, fs.ErrNotExist)
	}
	e.Changed = st.ModTime()
	if e.Err = e.read(dir, file, st); e.Err != nil {
		return Entry{Dir: e.Dir, Changed: e.Changed, Err: e.Err}, true
	}
	if e.State == bench.RunRunning {
		log, err := dir.Lstat(filepath.Join(name, EventsFile))
		e.Live = err == nil && log.Mode().IsRegular() && Running(folder)
	}
	return e, true
}

func (e *Entry) read(dir *os.Root, file string, st fs.FileInfo) error {
	var b brief
	if err := readJSON(dir, file, RunFile, maxListFile, &b); err != nil {
		return err
	}
	if err := valid(bench.Run{Schema: b.Schema}); err != nil {
		return fmt.Errorf("%s: %w", RunFile, err)
	}
	e.ID, e.Profile, e.Started, e.Ended = b.ID, b.Profile.Name, b.Started, b.Ended
	run := bench.Run{State: b.State, Legs: b.Legs}
	e.State, e.Failed = run.Outcome()
	for _, u := range run.Unsound() {
		e.Failed = append(e.Failed, u.Label+" "+u.Brief())
	}
	for _, s := range b.Profile.Contenders {
		e.Contenders = append(e.Contenders, s.String())
	}
	for _, l := range b.Legs {
		if l.State == bench.LegComplete {
			e.Complete++
		}
	}
	e.Legs, e.Resumed, e.Warnings = len(b.Legs), len(b.Resumed), len(b.Warnings)
	return nil
}
