package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits of a search: a folder may be the root of a disk.
const (
	maxFindDepth = 12
	maxFindNames = 200_000
)

// ErrBounded is wrapped by the errors of Find about folders beyond its limits.
var ErrBounded = errors.New("not searched completely")

// Find returns the results folders at and below the roots, each once, sorted by path within a root.
// It does not enter results folders, hidden folders and links, and stops at its limits. The errors
// are about single folders, which are skipped.
func Find(roots ...string) (dirs []string, problems []error) {
	dirs = find(roots, maxFindDepth, func(_ string, err error) { problems = append(problems, err) })
	return dirs, problems
}

// find is Find down to a depth, 0 for the roots. It calls problem with each error and its folder.
func find(roots []string, depth int, problem func(dir string, err error)) (dirs []string) {
	seen := map[string]bool{}
	for _, root := range roots {
		root = Folder(root)
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			problem(root, err)
			continue
		}
		if st, err := os.Stat(real); err == nil && !st.IsDir() {
			problem(root, fmt.Errorf("%s is not a folder", root))
			continue
		}
		names := 0
		_ = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
			rel, relErr := filepath.Rel(real, path)
			dir := filepath.Join(root, rel)
			if err := cmp.Or(err, relErr); err != nil {
				problem(dir, err)
				return fs.SkipDir
			}
			if names++; names > maxFindNames {
				problem(root, fmt.Errorf("%s: %w: more than %d names", root, ErrBounded, maxFindNames))
				return fs.SkipAll
			}
			if !e.IsDir() {
				return nil
			}
			if rel != "." && strings.HasPrefix(e.Name(), ".") {
				return fs.SkipDir
			}
			if _, err := os.Lstat(filepath.Join(path, RunFile)); !errors.Is(err, fs.ErrNotExist) {
				if !seen[path] {
					seen[path] = true
					dirs = append(dirs, dir)
				}
				return fs.SkipDir
			}
			if rel != "." && strings.Count(rel, string(filepath.Separator))+1 >= depth {
				problem(dir, fmt.Errorf("%s: %w: deeper than %d folders", dir, ErrBounded, depth))
				return fs.SkipDir
			}
			return nil
		})
	}
	return dirs
}
