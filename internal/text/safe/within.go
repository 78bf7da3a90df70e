package safe

import "path/filepath"

// Within reports whether the file at path is in one of the folders, links followed. A file that does
// not exist is where its path says. dir is its folder.
func Within(path string, folders ...string) (dir string, ok bool) {
	at := whole(path)
	for _, f := range folders {
		if rel, err := filepath.Rel(whole(f), at); err == nil && filepath.IsLocal(rel) {
			return filepath.Dir(at), true
		}
	}
	return filepath.Dir(at), false
}

// whole returns a whole path without links. What does not exist has none.
func whole(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if at, err := filepath.EvalSymlinks(full); err == nil {
		return at
	}
	if parent := filepath.Dir(full); parent != full {
		return filepath.Join(whole(parent), filepath.Base(full))
	}
	return full
}
