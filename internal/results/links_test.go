//go:build unix

package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestNoFileOutsideTheFolder checks that links in a folder from elsewhere are not followed.
func TestNoFileOutsideTheFolder(t *testing.T) {
	folder := func(t *testing.T) (dir, outside string) {
		dir, outside = t.TempDir(), filepath.Join(t.TempDir(), "outside.json")
		mustCreate(t, dir)
		trial := bench.TrialResult{Schema: bench.SchemaVersion, Trial: plan().Trials[0].Trial, Failure: "of another run"}
		testenv.OK(t, WriteJSON(outside, trial))
		return dir, outside
	}
	replace := func(t *testing.T, path, target string, link func(old, new string) error) {
		t.Helper()
		_ = os.Remove(path)
		testenv.OK(t, link(target, path))
	}
	t.Run("trial", func(t *testing.T) {
		dir, outside := folder(t)
		replace(t, filepath.Join(dir, plan().Trials[0].File), outside, os.Symlink)
		_, trials, err := Read(dir)
		testenv.Check(t, len(trials) <= 0 && err != nil && strings.Contains(err.Error(), "escapes"), "%d trials, %v", len(trials), err)
	})
	t.Run("plan", func(t *testing.T) {
		dir, _ := folder(t)
		other, _ := folder(t)
		replace(t, filepath.Join(dir, RunFile), filepath.Join(other, RunFile), os.Symlink)
		_, _, err := Read(dir)
		testenv.Fails(t, err, "escapes")
	})
	for name, link := range map[string]func(old, new string) error{"symbolic": os.Symlink, "hard": os.Link} {
		t.Run("events, "+name, func(t *testing.T) {
			dir, outside := folder(t)
			before := testenv.Must(os.ReadFile(outside))(t)
			replace(t, filepath.Join(dir, EventsFile), outside, link)
			if h, err := Acquire(dir); err == nil {
				h.Close()
				t.Error("the folder was locked")
			}
			after, err := os.ReadFile(outside)
			testenv.Check(t, err == nil && string(after) == string(before), "%v, now %s", err, after)
			if name == "symbolic" {
				_, err := Follow(t.Context(), dir, func([]bench.Record) error { return nil })
				testenv.Check(t, err != nil, "the events were read")
			}
		})
	}
}

// TestWriter_OtherFolder: nothing is written into a folder that has taken the place of the results.
func TestWriter_OtherFolder(t *testing.T) {
	dir, elsewhere := filepath.Join(t.TempDir(), "r"), t.TempDir()
	trial := bench.Trial{Contender: "a", Round: 1}
	var failed error
	w, err := Create(dir, bench.Run{Schema: bench.SchemaVersion, ID: "r1", State: bench.RunRunning,
		Trials: []bench.TrialEntry{{Trial: trial, State: bench.TrialPending, File: "a-1.json"}}}, func(err error) { failed = err })
	testenv.OK(t, err)
	defer w.Close()
	w.Handle(bench.Record{Trial: &trial, Event: bench.TrialStarted{Number: 1, Of: 1}})
	testenv.OK(t, failed)
	testenv.OK(t, os.Rename(dir, dir+"-moved"))
	if err := os.Symlink(elsewhere, dir); err != nil {
		t.Skip(err)
	}
	w.Handle(bench.Record{Trial: &trial, Event: bench.TrialEnded{State: bench.TrialComplete}})
	testenv.Fails(t, failed, dir+" is another folder than at the start of the run")
	left := testenv.Must(os.ReadDir(elsewhere))(t)
	testenv.Equal(t, len(left), 0)
}
