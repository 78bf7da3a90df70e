package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/testenv"
)

// TestExamplesOfRuns plans each run that a help text has as an example: none may end with "wrong
// usage". Examples with the user's own folders and contenders are skipped.
func TestExamplesOfRuns(t *testing.T) {
	root := newRoot(Env{Getenv: func(string) string { return "" }})
	t.Chdir(filepath.Dir(fileOf(t, "targets.txt", "GET http://h/a\n")))
	t.Setenv("TOKEN", "x")
	testenv.OK(t, os.WriteFile("order.json", []byte("{}"), 0o600))
	planned := 0
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		for line := range strings.Lines(cmd.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
			line, _, _ = strings.Cut(line, "|")
			line, ok := strings.CutPrefix(line, "locbench run")
			if !ok || strings.Contains(line, "--resume") || strings.Contains(line, "mine.yaml") {
				continue
			}
			args := words(line)
			var f runFlags
			run := &cobra.Command{}
			bindRun(run, &f)
			if err := run.ParseFlags(args); err != nil {
				t.Errorf("locbench run%s: %v", line, err)
				continue
			}
			if err := app.Preflight(forContenders(f.RunOptions, run.Flags(), run.Flags().Args()), os.Getenv); err != nil {
				t.Errorf("locbench run%s: %v", line, err)
			}
			planned++
		}
	}
	if planned < 8 {
		t.Errorf("only %d examples were found", planned)
	}
	for _, name := range []string{"tui", "seed", "run"} {
		if !strings.Contains(root.Example, "locbench "+name) {
			t.Errorf("locbench --help has no example of %s", name)
		}
	}
}

// words splits a line as a shell does whose only quotes are apostrophes.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
			continue
		}
		all = append(all, strings.Fields(part)...)
	}
	return all
}

// TestExamplesOfNewProfiles runs each 'profiles new' of its help text, in one folder as a user does
// who copies one after the other, and reads what was written.
func TestExamplesOfNewProfiles(t *testing.T) {
	t.Chdir(filepath.Dir(fileOf(t, "targets.txt", "GET http://h/a\n")))
	written := 0
	for line := range strings.Lines(newProfilesNew(Env{}).Example) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		line, ok := strings.CutPrefix(line, "locbench profiles new")
		if !ok {
			continue
		}
		code, text := locbench(t, nil, append([]string{"profiles", "new"}, words(line)...)...)
		if code != 0 {
			t.Errorf("locbench profiles new%s: exit code %d\n%s", line, code, text)
		}
		written++
	}
	if written < 5 {
		t.Errorf("only %d examples were found", written)
	}
}
