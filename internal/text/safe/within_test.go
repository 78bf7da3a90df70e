package safe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// A file is in a folder by where it really is: not by `..`, and not through a link.
func TestWithin(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"bench/data", "other/deep", "benchmark"} {
		testenv.OK(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for _, f := range []string{"bench/data/a", "other/deep/b", "benchmark/c"} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, f), nil, 0o600))
	}
	for link, to := range map[string]string{
		"bench/out": "../other/deep/b", "bench/outdir": "../other", "bench/in": "data/a", "bench/loop": "loop", "linked": "bench",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]bool{
		"bench/data/a": true, "bench/data/none": true, "bench/none/none": true, "bench/../bench/data/a": true, "bench/in": true, "linked/data/a": true,
		"benchmark/c": false, "other/deep/b": false, "bench/../other/deep/b": false, "bench/out": false, "bench/outdir/deep/b": false,
		"bench/outdir/deep/none": false, "bench/..": false,
	} {
		for _, folder := range []string{"bench", "linked"} {
			_, ok := Within(filepath.Join(dir, path), filepath.Join(dir, folder))
			testenv.Check(t, ok == want, "%s in %s: %v", path, folder, ok)
		}
	}
	_, ok := Within(filepath.Join(dir, "bench/out"), filepath.Join(dir, "bench"), filepath.Join(dir, "other"))
	testenv.Check(t, ok, "the second folder")
	at, _ := Within(filepath.Join(dir, "bench/out"), ".")
	testenv.Check(t, filepath.Base(at) == "deep", "its folder is %s", at)
}
