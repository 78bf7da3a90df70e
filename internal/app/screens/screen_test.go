package screens

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestAfterwards: after a run the normal screen has each warning, failure and error once.
func TestAfterwards(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		state    bench.RunState
		ran      bool // a contender was started
		failures int  // how often the failure of the trial is printed
		logs     int  // lines of a contender's log
	}{
		"failed trial":      {bench.RunFailed, true, 1, 0},
		"nothing ran":       {bench.RunFailed, false, 1, 1},
		"no trial, failed":  {bench.RunFailed, false, 0, 0},
		"no trial, stopped": {bench.RunInterrupted, false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			trial := bench.TrialResult{
				Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialFailed, Started: at,
				Failure: "exit code 3", LastLog: []bench.LogLine{{Text: "last words"}},
			}
			if c.ran {
				trial.Instance = &bench.InstanceInfo{Runtime: bench.RuntimeProcess}
			}
			run := bench.Run{
				Schema: bench.SchemaVersion, ID: "r", State: c.state, Started: at, Warnings: bench.Warnings{{Text: "a busy machine"}},
				Trials: []bench.TrialEntry{{Trial: trial.Trial, State: bench.TrialPending, File: "a-1.json"}},
			}
			if c.failures > 0 {
				run.Trials[0].State = trial.State
				testenv.OK(t, results.WriteJSON(filepath.Join(dir, "a-1.json"), trial))
			}
			testenv.OK(t, results.WriteJSON(filepath.Join(dir, results.RunFile), run))
			var out bytes.Buffer
			env := console.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
			err := afterwards(env, dir, console.ExitContender, "locbench: some trials failed\x1b[2J\r\n")
			var reported console.Reported
			if !errors.As(err, &reported) || reported.Code != console.ExitContender || strings.Contains(out.String(), "\x1b") {
				t.Errorf("%v\n%s", err, &out)
			}
			for text, want := range map[string]int{
				"a busy machine": 1, "exit code 3": c.failures, "last words": c.logs, "locbench: some trials failed": 1,
			} {
				testenv.Equal(t, strings.Count(out.String(), text), want, text, &out)
			}
		})
	}
}

// TestDetached: the hint names a command that the system has.
func TestDetached(t *testing.T) {
	for system, stop := range map[string]string{"linux": "kill 42", "darwin": "kill 42", "windows": "taskkill /F /PID 42, then: locbench clean"} {
		testenv.Equal(t, detached(system, 42, "results/a"),
			"The run continues as process 42.\nWatch it: locbench tui results/a\nStop it:  "+stop, system)
	}
}

// A worktree next to its contender does not disturb the list of contenders.
func TestWorktreeInTheServicesFolder(t *testing.T) {
	const manifest = "name: orders\nlanguage: Go\nframework: none\nversion: '1'\ndocker: {image: 'orders:1'}\n"
	dir := testenv.Folder(t, map[string]string{"orders/service.yaml": manifest, "before/service.yaml": manifest,
		"before/.git": "gitdir: /src/orders/.git/worktrees/before\n"})
	all, err := Site{Services: []string{dir}}.Contenders("/not/looked/at")
	at := slices.IndexFunc(all, func(s bench.Service) bool { return s.Name == "orders" })
	testenv.Check(t, err == nil && at >= 0 && filepath.Base(all[at].Dir) == "orders", "%v; %+v", err, all)
}

func TestProfilesAreFound(t *testing.T) {
	t.Chdir(t.TempDir())
	testenv.OK(t, os.WriteFile("my profile.yaml", []byte("requests: [{get: /}]\nsteps: [1]\n"), 0o644))
	testenv.OK(t, os.WriteFile("compose.yaml", []byte("services: {}\n"), 0o644))
	var names []string
	for _, found := range (Site{}).Profiles("gone.yaml") {
		if found.Err != nil {
			found.Name += "!"
		}
		names = append(names, found.Name)
	}
	for _, want := range []string{"quick", "locations", "my profile.yaml", "gone.yaml!"} {
		testenv.Check(t, slices.Contains(names, want), "%q lacks %s", names, want)
	}
	testenv.Check(t, !slices.Contains(names, "compose.yaml"), "a YAML file that is not a profile is listed")
	left, _ := filepath.Glob(".locbench-*")
	testenv.Check(t, len(left) <= 0, "left behind: %q", left)
}

// TestOpener_OneRunAtATime: a second run begins only after the end of the first. The fake locbench
// only waits until its controls end.
func TestOpener_OneRunAtATime(t *testing.T) {
	o := newOpener(console.Env{})
	o.binary = script(t, "exec cat > /dev/null\n")
	first, err := o.run([]string{"run"})
	testenv.OK(t, err)
	defer first.Close()
	testenv.Fails(t, testenv.Err(o.Start([]string{"run"})), "is in progress")
	first.Close()
	second, err := o.run([]string{"run"})
	testenv.Need(t, err == nil, "after the end of the first: %v", err)
	second.Close()
	testenv.Equal(t, len(o.started()), 2)
}

func TestBrowserOnlyWhereThereIsADisplay(t *testing.T) {
	found := func(name string) (string, error) { return "/usr/bin/" + name, nil }
	for _, c := range []struct {
		name, system, want string
		env                map[string]string
	}{
		{"no display", "linux", "", nil},
		{"X11", "linux", "/usr/bin/xdg-open", map[string]string{"DISPLAY": ":0"}},
		{"Wayland", "freebsd", "/usr/bin/xdg-open", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}},
		{"Mac", "darwin", "/usr/bin/open", nil},
		{"Mac from elsewhere", "darwin", "", map[string]string{"SSH_CONNECTION": "1"}},
		{"Windows", "windows", "/usr/bin/rundll32", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, ok := browserOn(c.system, func(k string) string { return c.env[k] }, found)
			testenv.Check(t, b.path == c.want && ok == (c.want != ""), "%s: %+v %v, want %q", c.name, b, ok, c.want)
		})
	}
	missing := func(string) (string, error) { return "", os.ErrNotExist }
	if b, ok := browserOn("darwin", func(string) string { return "" }, missing); ok {
		t.Errorf("a missing program: %+v", b)
	}
}

// script makes a program that writes its arguments down and ends with code.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "opener")
	testenv.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755))
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh to write an opener in")
	}
	return path
}

func TestBrowserGetsTheFileUnchanged(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	b := browser{path: script(t, `printf '%s|%s' "$#" "$1" > '`+seen+`'`)}
	name := filepath.Join(t.TempDir(), "-o; touch x $(id) 'q'.html")
	testenv.OK(t, b.open(name))
	got, err := os.ReadFile(seen)
	testenv.OK(t, err)
	testenv.Equal(t, string(got), "1|"+name, name)
	testenv.Fails(t, (browser{path: script(t, "exit 3")}).open(name), "exit code 3")
	if err := (browser{path: filepath.Join(t.TempDir(), "none")}).open(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestArchive(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	trial := bench.TrialResult{Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete, Started: at}
	run := bench.Run{Schema: bench.SchemaVersion, ID: "r", State: bench.RunComplete, Started: at, Trials: []bench.TrialEntry{{Trial: trial.Trial, State: trial.State, File: "a-1.json"}}}
	testenv.OK(t, os.Mkdir(dir, 0o755))
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, results.RunFile), run))
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, "a-1.json"), trial))
	t.Chdir(t.TempDir()) // nothing is in ./results
	a := newOpener(console.Env{Getenv: func(string) string { return "" }}, root)
	entries, left := a.List()
	testenv.Need(t, left == 0 && len(entries) == 1 && entries[0].ID == "r", "%+v, %d left", entries, left)
	text, err := a.Report(dir)
	page := filepath.Join(dir, results.ReportFile)
	testenv.OK(t, err)
	testenv.Equal(t, text, "report "+page)
	testenv.Fails(t, testenv.Err(os.Stat(page)), "")
	testenv.Check(t, testenv.Err(a.Report(root)) != nil, "a report of a folder without results")
}
