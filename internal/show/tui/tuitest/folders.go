package tuitest

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// Folder is a results folder in memory.
type Folder struct {
	Dir    string
	Run    bench.Run
	Trials []bench.TrialResult
	Live   bool
	Broken error // of the list and of Load
}

// FolderOf returns the folder that a run with these records writes.
func FolderOf(dir string, records []bench.Record) Folder {
	s := &fold.State{}
	for _, rec := range records {
		s.Apply(rec)
	}
	return Folder{Dir: dir, Run: s.Run, Trials: s.Results()}
}

// Folders is a Source of results folders in memory.
type Folders []Folder

func (f Folders) folder(dir string) (Folder, error) {
	i := slices.IndexFunc(f, func(one Folder) bool { return one.Dir == dir })
	if i < 0 {
		return Folder{}, fs.ErrNotExist
	}
	return f[i], f[i].Broken
}

// List returns the folders in their order.
func (f Folders) List() (entries []results.Entry, left int) {
	for i, one := range f {
		changed := one.Run.Started
		if changed.IsZero() {
			changed = time.Date(2026, 11, 20, 12, i%60, 0, 0, time.UTC)
		}
		if one.Broken != nil {
			entries = append(entries, results.Entry{Dir: one.Dir, Changed: changed, Err: one.Broken})
			continue
		}
		e := results.Entry{
			Dir: one.Dir, ID: one.Run.ID, Profile: one.Run.Profile.Name, Live: one.Live,
			Started: one.Run.Started, Ended: one.Run.Ended, Trials: len(one.Run.Trials), Resumed: len(one.Run.Resumed),
			Warnings: len(one.Run.Warnings), Changed: changed,
		}
		e.State, e.Failed = one.Run.Outcome()
		for _, c := range one.Run.Profile.Contenders {
			e.Contenders = append(e.Contenders, c.String())
		}
		for _, l := range one.Run.Trials {
			if l.State == bench.TrialComplete {
				e.Complete++
			}
		}
		entries = append(entries, e)
	}
	return entries, 0
}

// Load returns the plan and the trials.
func (f Folders) Load(dir string) (bench.Run, []bench.TrialResult, error) {
	one, err := f.folder(dir)
	return one.Run, one.Trials, err
}

// Floor returns nil: it is not known.
func (f Folders) Floor(bench.Run, bench.Run, ...string) *compare.Floor { return nil }

// Report returns a text that says where a report would be.
func (f Folders) Report(dir string) (string, error) {
	if _, err := f.folder(dir); err != nil {
		return "", errors.Join(errors.New("no report"), err)
	}
	return "report " + dir + "/report.html", nil
}
