package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/testenv"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	testenv.OK(t, write(dir, app.Build{Version: "0.1.0"}))
	page := testenv.Must(os.ReadFile(filepath.Join(dir, "man", "locbench-run.1")))(t)
	for _, want := range []string{`"LOCBENCH-RUN" "1" "Jan 1970" "locbench 0.1.0"`, "--headless", "SEE ALSO"} {
		testenv.Check(t, strings.Contains(strings.ReplaceAll(string(page), `\-`, "-"), want),
			"the page of locbench run lacks %q", want)
	}
	for _, name := range []string{"man/locbench.1", "completions/locbench.bash", "completions/_locbench", "completions/locbench.fish"} {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		testenv.Check(t, err == nil && info.Size() != 0, "%s: %v", name, err)
	}
}
