package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of a search: a folder may be the root of a disk.
const (
	maxFindDepth = 12
	maxFindNames = 200_000
	maxFound     = 2_000
)

// ErrBounded is wrapped by the errors of Find about what lies beyond its bounds.
var ErrBounded = errors.New("not all of it was searched")

// Find returns the results folders at and below the roots, in the order of their paths, each once.
// It does not go into results folders, hidden folders and links, nor beyond its bounds. The errors
// are of single folders, which are passed over.
func Find(roots ...string) (dirs []string, problems []error) {
	seen := map[string]bool{}
	for _, root := range roots {
		root = Folder(root)
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if st, err := os.Stat(real); err == nil && !st.IsDir() {
			problems = append(problems, fmt.Errorf("%s is no folder", root))
			continue
		}
		names, found := 0, 0
		pass := func(err, what error) error {
			problems = append(problems, err)
			return what
		}
		_ = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return pass(err, fs.SkipDir)
			}
			if names++; names > maxFindNames || found >= maxFound {
				return pass(fmt.Errorf("%s: %w: more than %d names or %d results in it",
					root, ErrBounded, maxFindNames, maxFound), fs.SkipAll)
			}
			if !e.IsDir() {
				return nil
			}
			rel, err := filepath.Rel(real, path)
			if err != nil {
				return pass(err, fs.SkipAll)
			}
			if rel != "." && strings.HasPrefix(e.Name(), ".") {
				return fs.SkipDir
			}
			if _, err := os.Lstat(filepath.Join(path, RunFile)); err == nil {
				if !seen[path] {
					seen[path] = true
					dirs, found = append(dirs, filepath.Join(root, rel)), found+1
				}
				return fs.SkipDir
			}
			if rel != "." && strings.Count(rel, string(filepath.Separator)) >= maxFindDepth-1 {
				return pass(fmt.Errorf("%s: %w: deeper than %d folders",
					filepath.Join(root, rel), ErrBounded, maxFindDepth), fs.SkipDir)
			}
			return nil
		})
	}
	return dirs, problems
}
