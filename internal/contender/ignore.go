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

// ignore is a folder's .dockerignore. It means what it means to Docker: the code is Docker's.
type ignore struct {
	*patternmatcher.PatternMatcher
	name    string                              // its path in the folder
	folders map[string]patternmatcher.MatchInfo // the patterns that each folder seen so far matched
}

// ignoreName is the folder's own; a Dockerfile's, NAME.dockerignore, takes its place.
const ignoreName = ".dockerignore"

// readIgnore reads the .dockerignore of one of the files, or else the folder's, if there is one.
func readIgnore(fsys fs.FS, of ...string) (ignore, error) {
	g := ignore{name: ignoreName, folders: make(map[string]patternmatcher.MatchInfo)}
	for _, file := range of {
		if info, err := fs.Stat(fsys, file+ignoreName); err == nil && info.Mode().IsRegular() {
			g.name = file + ignoreName
			break
		}
	}
	var patterns []string
	if f, err := fsys.Open(g.name); err == nil { // one that cannot be read is none, as to Docker
		defer f.Close()
		if patterns, err = ignorefile.ReadAll(io.LimitReader(f, maxIgnoreSize)); err != nil {
			return g, fmt.Errorf("read %s: %w", g.name, err)
		}
	}
	if len(patterns) > maxPatterns {
		return g, fmt.Errorf("read %s: it has %d patterns, and at most %d are taken", g.name, len(patterns), maxPatterns)
	}
	var err error
	if g.PatternMatcher, err = patternmatcher.New(patterns); err != nil {
		return g, fmt.Errorf("read %s: %w", g.name, err)
	}
	return g, nil
}

// ignored reports whether the file or folder is left out: by a pattern for itself or for a folder
// that it is in. A folder must be asked about before what is in it.
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
