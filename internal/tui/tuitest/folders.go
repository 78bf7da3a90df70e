package tuitest

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/compare"
	"locbench/internal/results"
	"locbench/internal/tui/fold"
	"locbench/internal/tui/ui"
)

// Folder is a results folder in memory.
type Folder struct {
	Dir     string
	Run     bench.Run
	Legs    []bench.LegResult
	Records []bench.Record
	Live    bool
	Broken  error // of the list and of Load
	NoLog   bool  // events.jsonl is not there
}

// FolderOf is the folder that a run with these records has written.
func FolderOf(dir string, records []bench.Record) Folder {
	s := &fold.State{}
	for _, rec := range records {
		s.Apply(rec)
	}
	return Folder{Dir: dir, Run: s.Run, Legs: s.Results(), Records: records}
}

// Folders are results folders in memory, as package screens gives them to the screens.
type Folders []Folder

func (f Folders) folder(dir string) (Folder, error) {
	i := slices.IndexFunc(f, func(one Folder) bool { return one.Dir == dir })
	if i < 0 {
		return Folder{}, fs.ErrNotExist
	}
	return f[i], f[i].Broken
}

// List lists them in their order.
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
			Dir: one.Dir, ID: one.Run.ID, Profile: one.Run.Profile.Name, State: one.Run.State, Live: one.Live, Started: one.Run.Started,
			Ended: one.Run.Ended, Legs: len(one.Run.Legs), Resumed: len(one.Run.Resumed), Warnings: len(one.Run.Warnings), Changed: changed,
		}
		for _, c := range one.Run.Profile.Contenders {
			e.Contenders = append(e.Contenders, c.String())
		}
		for _, l := range one.Run.Legs {
			if l.State == bench.LegComplete {
				e.Complete++
			}
		}
		entries = append(entries, e)
	}
	return entries, 0
}

// Load gives the plan and the legs.
func (f Folders) Load(dir string) (bench.Run, []bench.LegResult, error) {
	one, err := f.folder(dir)
	return one.Run, one.Legs, err
}

// Floor is not known.
func (f Folders) Floor(bench.Run, bench.Run, ...string) *compare.Floor { return nil }

// Events gives the records.
func (f Folders) Events(dir string, handle func(rec bench.Record, read float64) error) error {
	one, err := f.folder(dir)
	if err == nil && one.NoLog {
		err = fs.ErrNotExist
	}
	for i, rec := range one.Records {
		if err == nil {
			err = handle(rec, float64(i+1)/float64(len(one.Records)))
		}
	}
	return err
}

// Report says where a report would be.
func (f Folders) Report(dir string) (string, error) {
	if _, err := f.folder(dir); err != nil {
		return "", errors.Join(errors.New("no report"), err)
	}
	return "report " + dir + "/report.html", nil
}

// MoreRounds repeats the rounds of a recorded run so that there are times as many, each a little
// faster than the one before, and all of them by factor.
func MoreRounds(records []bench.Record, times int, factor float64) []bench.Record {
	first, last := records[0].At, records[len(records)-1].At
	span := last.Sub(first) + time.Second
	most := 0
	for _, rec := range records {
		if rec.Leg != nil {
			most = max(most, rec.Leg.Round)
		}
	}
	var out []bench.Record
	for k := range times {
		for _, rec := range records {
			switch e := rec.Event.(type) {
			case bench.RunStarted:
				if k > 0 {
					continue
				}
				e.Run.Profile.Rounds *= times
				e.Run.Legs = nil
				for j := range times {
					for _, entry := range rec.Event.(bench.RunStarted).Run.Legs {
						entry.Leg.Round += j * most
						entry.File = entry.Leg.String() + ".json"
						e.Run.Legs = append(e.Run.Legs, entry)
					}
				}
				rec.Event = e
			case bench.RunEnded:
				if k < times-1 {
					continue
				}
			case bench.StepEnded:
				e.Result.Load.Succeeded = int64(float64(e.Result.Load.Succeeded) * factor * (1 + 0.004*float64(k)))
				rec.Event = e
			}
			if rec.Leg != nil {
				leg := *rec.Leg
				leg.Round += k * most
				rec.Leg = &leg
			}
			rec.At = rec.At.Add(time.Duration(k) * span)
			rec.Seq = int64(len(out) + 1)
			out = append(out, rec)
		}
	}
	return out
}

// Finish runs cmd and all that comes of it however long it takes, in order; what is for the program
// is left out. It is for commands that end by themselves.
func Finish(s ui.Screen, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, ui.Open, ui.Replace, ui.Back, ui.Quit, ui.Tell, ui.Copy:
	case tea.BatchMsg:
		for _, c := range msg {
			Finish(s, c)
		}
	default:
		Finish(s, s.Update(msg))
	}
}
