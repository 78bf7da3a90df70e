package results

import (
	"encoding/json"
	"errors"
	"fmt"
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

// put writes a results folder that has only a run.json.
func put(t testing.TB, dir, runJSON string) {
	t.Helper()
	testenv.OK(t, os.MkdirAll(dir, 0o755))
	testenv.OK(t, os.WriteFile(filepath.Join(dir, RunFile), []byte(runJSON), 0o644))
}

func putRun(t testing.TB, dir string, run bench.Run) {
	t.Helper()
	data := testenv.Must(json.Marshal(run))(t)
	put(t, dir, string(data))
}

func TestList(t *testing.T) {
	root := t.TempDir()
	old, young := plan(), plan()
	old.ID, old.State, old.Ended = "old", bench.RunComplete, at.Add(time.Minute)
	old.Trials[0].State, old.Trials[1].State = bench.TrialComplete, bench.TrialFailed
	old.Profile = bench.Profile{Name: "quick", Contenders: []bench.Selection{{Contender: "a"}, {Contender: "a", Variant: "x"}}}
	young.ID, young.Started, young.Resumed, young.Warnings = "young", at.Add(time.Hour), []time.Time{at, at}, bench.Warnings{{Text: "w"}}
	putRun(t, filepath.Join(root, "z-old"), old)
	putRun(t, filepath.Join(root, "a-young"), young)
	put(t, filepath.Join(root, "broken"), "{\n]")
	put(t, filepath.Join(root, "newer"), `{"schema":99}`)
	put(t, filepath.Join(root, "no-results", "below"), `{"schema":4}`) // two levels down: not searched
	testenv.OK(t, os.Mkdir(filepath.Join(root, "pipe"), 0o755))
	testenv.OK(t, os.Mkdir(filepath.Join(root, "pipe", RunFile), 0o755))

	got, left := List(root, filepath.Join(root, "z-old"), filepath.Join(root, "missing"))
	testenv.Need(t, left == 0 && len(got) == 5, "%d entries, %d left: %+v", len(got), left, got)
	byName := map[string]Entry{}
	for _, e := range got {
		byName[filepath.Base(e.Dir)] = e
	}
	y, o := byName["a-young"], byName["z-old"]
	testenv.Check(t, y.Err == nil && y.ID == "young" && y.State == bench.RunRunning && y.Resumed == 2 && y.Warnings == 1 && y.Complete == 0 && y.Trials == 2 && y.Ended.IsZero(),
		"young: %+v", y)
	testenv.Check(t, o.Err == nil && o.Profile == "quick" && fmt.Sprint(o.Contenders) == "[a a:x]" && o.Complete == 1 && o.Trials == 2 && !o.Ended.IsZero(),
		"old: %+v", o)
	for name, want := range map[string]string{"broken": "line 2", "newer": "update locbench", "pipe": "not a regular file"} {
		t.Run(name, func(t *testing.T) {
			if e := byName[name]; e.Err == nil || !strings.Contains(e.Err.Error(), want) || e.Changed.IsZero() {
				t.Errorf("%s: error %v, want %q in it", name, e.Err, want)
			}
		})
	}
	for i := 1; i < len(got); i++ {
		testenv.Check(t, !got[i].Time().After(got[i-1].Time()), "%s is before the newer %s", got[i-1].Dir, got[i].Dir)
	}
}

func TestListOfRunningAndKilledRuns(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	w := mustCreate(t, dir)
	got, _ := List(root)
	testenv.Check(t, len(got) == 1 && got[0].State == bench.RunRunning && got[0].Live, "with a writer: %+v", got)
	w.Close()
	got, _ = List(root)
	testenv.Check(t, len(got) == 1 && got[0].State == bench.RunRunning && !got[0].Live, "without a writer: %+v", got)
}

func TestListOfOneFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	putRun(t, dir, plan())
	for _, named := range []string{dir, filepath.Join(dir, RunFile), dir + string(filepath.Separator)} {
		got, _ := List(named)
		testenv.Check(t, len(got) == 1 && got[0].ID == "r1" && filepath.Clean(got[0].Dir) == dir, "%s: %+v", named, got)
	}
	file := filepath.Join(dir, "notes.txt")
	testenv.OK(t, os.WriteFile(file, nil, 0o644))
	got, _ := List(file)
	testenv.Check(t, len(got) == 1 && got[0].Err != nil, "a file as a root: %+v", got)
}

func TestListFollowsNoLinkOut(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	putRun(t, filepath.Join(outside, "secret"), plan())
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "folder")); err != nil {
		t.Skip("no links here:", err)
	}
	testenv.OK(t, os.Mkdir(filepath.Join(root, "file"), 0o755))
	testenv.OK(t, os.Symlink(filepath.Join(outside, "secret", RunFile), filepath.Join(root, "file", RunFile)))
	got, _ := List(root)
	testenv.Check(t, len(got) == 1 && got[0].Err != nil && got[0].ID == "", "followed a link: %+v", got)
}

func TestListIsBounded(t *testing.T) {
	root := t.TempDir()
	big := filepath.Join(root, "big")
	put(t, big, `{"schema":4}`)
	testenv.OK(t, os.Truncate(filepath.Join(big, RunFile), maxListFile+1))
	got, _ := List(root)
	testenv.Check(t, len(got) == 1 && got[0].Err != nil && strings.Contains(got[0].Err.Error(), "larger than the 16 MiB allowed"), "%+v", got)
}

func FuzzList(f *testing.F) {
	run, _ := json.Marshal(plan())
	f.Add(run)
	f.Add([]byte(`{"schema":4,"profile":{"contenders":[{"contender":"\u001b[2J"}]},"trials":[{"state":"complete"}],"started":"2026-11-21T08:00:00Z"}`))
	f.Add([]byte(`{"schema":4,"trials":{}}`))
	f.Add([]byte(`[`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		put(t, filepath.Join(dir, "x"), string(data))
		got, left := List(dir)
		testenv.Need(t, len(got) == 1 && left == 0, "%d entries, %d left", len(got), left)
		e := got[0]
		testenv.Check(t, e.Complete <= e.Trials && !e.Changed.IsZero(), "%+v", e)
		testenv.Check(t, e.Err == nil || (e.ID == "" && e.Trials == 0), "half an entry next to an error: %+v", e)
	})
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	put := func(path string) {
		t.Helper()
		testenv.OK(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		testenv.OK(t, os.WriteFile(filepath.Join(root, path), []byte("{}"), 0o600))
	}
	put("b/run.json")
	put("b/inner/run.json") // inside a results folder
	put("a/x/y/run.json")
	put("a/other.json")
	put(".hidden/run.json")
	put(strings.Repeat("d/", 20) + "run.json")
	testenv.OK(t, os.Symlink(filepath.Join(root, "b"), filepath.Join(root, "link")))
	got, problems := Find(root, filepath.Join(root, "b", "run.json"), filepath.Join(root, "b"), filepath.Join(root, "link"))
	testenv.Equal(t, got, []string{filepath.Join(root, "a/x/y"), filepath.Join(root, "b")}, "found")
	testenv.Check(t, len(problems) == 1 && errors.Is(problems[0], ErrBounded), "problems %v", problems)
	got, problems = Find(filepath.Join(root, "nowhere"), filepath.Join(root, "a", "other.json"))
	testenv.Check(t, len(got) == 0 && len(problems) == 2, "%q, %v", got, problems)
}
