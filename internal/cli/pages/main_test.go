package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/app"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, app.Build{Version: "0.1.0"}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "man", "locbench-run.1.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"LOCBENCH-RUN" "1" "Jan 1970" "locbench 0.1.0"`, "--headless", "SEE ALSO"} {
		if !strings.Contains(strings.ReplaceAll(string(page), `\-`, "-"), want) {
			t.Errorf("the page of locbench run lacks %q", want)
		}
	}
	for _, name := range []string{"man/locbench.1.gz", "completions/locbench.bash", "completions/_locbench", "completions/locbench.fish"} {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
