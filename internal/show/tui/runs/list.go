package runs

import (
	"path/filepath"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// list is the runs, at most one of them marked.
type list struct {
	entries []results.Entry
	left    int              // folders that exceed the limit
	shown   []*results.Entry // filtered, the newest first
	marked  string           // folder
}

// arrange filters and sorts.
func (l *list) arrange(filter ui.FilterBy) {
	l.shown = nil
	for i := range l.entries {
		e := &l.entries[i]
		if filter.Holds(append(slices.Clone(e.Contenders), nameOf(e), filepath.Base(e.Dir), stateOf(e), when(e))...) {
			l.shown = append(l.shown, e)
		}
	}
	slices.SortStableFunc(l.shown, func(a, b *results.Entry) int { return b.Time().Compare(a.Time()) })
}

// find returns the run in a folder, or nil.
func (l *list) find(dir string) *results.Entry {
	i := slices.IndexFunc(l.entries, func(e results.Entry) bool { return e.Dir == dir })
	if i < 0 {
		return nil
	}
	return &l.entries[i]
}

// resumable reports whether a run can be resumed: it ended early and is not in progress.
func resumable(e *results.Entry) bool { return e.Err == nil && !e.Live && e.Complete < e.Trials }

// stateOf returns the state of a run in a word or two.
func stateOf(e *results.Entry) string {
	switch {
	case e.Err != nil:
		return "not readable"
	case e.Live:
		return "running"
	case e.State == bench.RunRunning:
		return "killed"
	}
	return outside(string(e.State))
}
