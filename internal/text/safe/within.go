package safe

import (
	"os"
	"path/filepath"
	"slices"
)

// Within reports whether the file at path is in one of the folders, links followed. A file that does
// not exist is where its path says.
func Within(path string, folders ...string) bool {
	at := whole(path)
	return slices.ContainsFunc(folders, func(folder string) bool {
		rel, err := filepath.Rel(whole(folder), at)
		return err == nil && filepath.IsLocal(rel)
	})
}

// ToAllow returns the folder to add for Within: path itself if it is one, or that of a file; "" for
// a socket or a device, and if it is the root of all.
func ToAllow(path string) string {
	at := whole(path)
	info, err := os.Stat(at)
	switch {
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		return ""
	case err != nil || !info.IsDir():
		at = filepath.Dir(at)
	}
	if at == filepath.Dir(at) {
		return ""
	}
	return at
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
