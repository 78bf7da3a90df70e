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
		if filepath.Base(root) == RunFile {
			root = filepath.Dir(root)
		}
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if st, err := os.Stat(real); err == nil && !st.IsDir() {
			problems = append(problems, fmt.Errorf("%s is no folder", root))
			continue
		}
		f := finder{root: root, real: real, seen: seen}
		if err := filepath.WalkDir(real, f.visit); err != nil {
			problems = append(problems, err)
		}
		dirs, problems = append(dirs, f.found...), append(problems, f.problems...)
	}
	return dirs, problems
}

type finder struct {
	root, real string // as it was given, and where it leads
	seen       map[string]bool
	names      int
	found      []string
	problems   []error
}

func (f *finder) visit(path string, e fs.DirEntry, err error) error {
	if err != nil {
		f.problems = append(f.problems, err)
		return fs.SkipDir
	}
	if f.names++; f.names > maxFindNames || len(f.found) >= maxFound {
		f.problems = append(f.problems, fmt.Errorf("%s: %w: more than %d names or %d results in it", f.root, ErrBounded, maxFindNames, maxFound))
		return fs.SkipAll
	}
	if !e.IsDir() {
		return nil
	}
	rel, err := filepath.Rel(f.real, path)
	if err != nil {
		return err
	}
	if rel != "." && strings.HasPrefix(e.Name(), ".") {
		return fs.SkipDir
	}
	if _, err := os.Lstat(filepath.Join(path, RunFile)); err == nil {
		if !f.seen[path] {
			f.seen[path] = true
			f.found = append(f.found, filepath.Join(f.root, rel))
		}
		return fs.SkipDir
	}
	if rel != "." && strings.Count(rel, string(filepath.Separator)) >= maxFindDepth-1 {
		f.problems = append(f.problems, fmt.Errorf("%s: %w: deeper than %d folders", filepath.Join(f.root, rel), ErrBounded, maxFindDepth))
		return fs.SkipDir
	}
	return nil
}
