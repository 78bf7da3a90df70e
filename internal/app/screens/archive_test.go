package screens

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

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
