package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func readTrial(t *testing.T, dir, name string, trial *bench.TrialResult) error {
	t.Helper()
	root := testenv.Must(os.OpenRoot(dir))(t)
	defer root.Close()
	return readJSON(root, name, name, maxFile, trial)
}

// readFiles reads a results folder with these files.
func readFiles(t *testing.T, run, trial []byte) (bench.Run, []bench.TrialResult, error) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{RunFile: run, "go-nethttp-1.json": trial} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	root := testenv.Must(os.OpenRoot(dir))(t)
	defer root.Close()
	return read(root)
}

// TestRead_TooLarge checks that a file that is too large is an error.
func TestRead_TooLarge(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, RunFile)
	testenv.OK(t, os.WriteFile(file, nil, 0o600))
	if err := os.Truncate(file, maxFile+1); err != nil { // a hole: nothing is on disk
		t.Skip(err)
	}
	if _, _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "run.json is larger than the 128 MiB allowed") {
		t.Error(err)
	}
}

func TestNothingRan(t *testing.T) {
	ran := bench.TrialResult{Instance: &bench.InstanceInfo{Runtime: bench.RuntimeProcess}}
	up := time.Second
	for name, c := range map[string]struct {
		run    bench.Run
		trials []bench.TrialResult
		want   bool
	}{
		"store unavailable":      {bench.Run{State: bench.RunFailed}, nil, true},
		"build failed":           {bench.Run{State: bench.RunFailed}, []bench.TrialResult{{State: bench.TrialFailed}}, true},
		"target did not respond": {bench.Run{State: bench.RunFailed}, []bench.TrialResult{{Instance: &bench.InstanceInfo{Runtime: bench.RuntimeURL}}}, true},
		"one was started":        {bench.Run{State: bench.RunFailed}, []bench.TrialResult{{}, ran}, false},
		"one was checked":        {bench.Run{State: bench.RunFailed}, []bench.TrialResult{{Checks: make([]bench.CheckResult, 1)}}, false},
		"one has responded":      {bench.Run{State: bench.RunFailed}, []bench.TrialResult{{StartUp: &up}}, false},
		"target was loaded":      {bench.Run{State: bench.RunFailed}, []bench.TrialResult{{Steps: make([]bench.StepResult, 1)}}, false},
		"still running":          {bench.Run{State: bench.RunRunning}, nil, false},
		"can be resumed":         {bench.Run{State: bench.RunInterrupted}, nil, false},
		"resumed":                {bench.Run{State: bench.RunFailed, Resumed: make([]time.Time, 1)}, nil, false},
	} {
		t.Run(name, func(t *testing.T) { testenv.Equal(t, NothingRan(c.run, c.trials), c.want, name) })
	}
}

// Discard removes only the files of the run.
func TestDiscard(t *testing.T) {
	root := t.TempDir()
	run := bench.Run{Trials: []bench.TrialEntry{{File: "a-1.json"}, {File: "../victim.json"}}}
	put := func(names ...string) {
		t.Helper()
		for _, name := range names {
			path := filepath.Join(root, name)
			testenv.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)))
		}
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	put("results/x/run.json", "results/x/events.jsonl", "results/x/a-1.json", "results/victim.json")
	if err := Discard(filepath.Join(root, "results/x"), run); err != nil || there("results/x") || !there("results/victim.json") {
		t.Errorf("%v; folder there %t, other file there %t", err, there("results/x"), there("results/victim.json"))
	}
	put("mine/y/run.json", "mine/y/notes.txt")
	err := Discard(filepath.Join(root, "mine/y"), run)
	testenv.Check(t, err == nil && !there("mine/y/run.json") && there("mine/y/notes.txt"), "%v", err)
	os.Remove(filepath.Join(root, "mine/y/notes.txt"))
	if err := Discard(filepath.Join(root, "mine/y"), run); err != nil || there("mine/y") || !there("mine") {
		t.Errorf("%v: the run's folder is still there, or its parent is gone", err)
	}
	os.Remove(filepath.Join(root, "results/victim.json"))
	put("results/x/run.json")
	err = Discard(filepath.Join(root, "results/x"), run)
	testenv.Check(t, err == nil && !there("results"), "%v: the empty folder of results is still there", err)
}
