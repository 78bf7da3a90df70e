package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

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
	if got, problems := Find(filepath.Join(root, "nowhere"), filepath.Join(root, "a", "other.json")); len(got) != 0 || len(problems) != 2 {
		t.Errorf("%q, %v", got, problems)
	}
}
