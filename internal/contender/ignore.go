package contender

import (
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// The bounds of a .dockerignore: every file is compared with every pattern.
const (
	maxIgnoreSize = 1 << 20
	maxPatterns   = 1000
)

// ignore is a folder's .dockerignore, applied with Docker's own code.
type ignore struct {
	*patternmatcher.PatternMatcher
	name    string                              // path in the folder
	folders map[string]patternmatcher.MatchInfo // the patterns that each folder seen so far matched
}

// ignoreName is the folder's file; a Dockerfile's, NAME.dockerignore, replaces it.
const ignoreName = ".dockerignore"

// readIgnore reads the .dockerignore of the first file that has one, or the folder's, if any.
func readIgnore(fsys fs.FS, of ...string) (ignore, error) {
	g := ignore{name: ignoreName, folders: make(map[string]patternmatcher.MatchInfo)}
	for _, file := range of {
		if info, err := fs.Stat(fsys, file+ignoreName); err == nil && info.Mode().IsRegular() {
			g.name = file + ignoreName
			break
		}
	}
	var patterns []string
	if f, err := fsys.Open(g.name); err == nil { // an unreadable one counts as missing, as for Docker
		defer f.Close()
		if patterns, err = ignorefile.ReadAll(io.LimitReader(f, maxIgnoreSize)); err != nil {
			return g, fmt.Errorf("read %s: %w", g.name, err)
		}
	}
	if len(patterns) > maxPatterns {
		return g, fmt.Errorf("read %s: %d patterns, expected at most %d", g.name, len(patterns), maxPatterns)
	}
	var err error
	if g.PatternMatcher, err = patternmatcher.New(patterns); err != nil {
		return g, fmt.Errorf("read %s: %w", g.name, err)
	}
	return g, nil
}

// ignored reports whether a pattern leaves out the file or folder, or a folder above it. It must be
// called for a folder before its contents.
func (g ignore) ignored(name string, folder bool) (bool, error) {
	out, matched, err := g.MatchesUsingParentResults(name, g.folders[path.Dir(name)])
	if err != nil {
		return false, fmt.Errorf("%s: %w", g.name, err)
	}
	if folder {
		g.folders[name] = matched
	}
	return out, nil
}
