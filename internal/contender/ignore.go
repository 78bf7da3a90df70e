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
	folders map[string]patternmatcher.MatchInfo // the patterns that each folder seen so far matched
}

// readIgnore reads the folder's .dockerignore, if it has one.
func readIgnore(fsys fs.FS) (ignore, error) {
	var patterns []string
	if f, err := fsys.Open(".dockerignore"); err == nil { // else there is none that can be read: Docker takes it so too
		defer f.Close()
		if patterns, err = ignorefile.ReadAll(io.LimitReader(f, maxIgnoreSize)); err != nil {
			return ignore{}, fmt.Errorf("read .dockerignore: %w", err)
		}
	}
	if len(patterns) > maxPatterns {
		return ignore{}, fmt.Errorf("read .dockerignore: it has %d patterns, and at most %d are taken", len(patterns), maxPatterns)
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return ignore{}, fmt.Errorf("read .dockerignore: %w", err)
	}
	return ignore{matcher, make(map[string]patternmatcher.MatchInfo)}, nil
}

// ignored says whether the file or folder is left out: by a pattern for itself or for a folder that
// it is in. A folder must be asked about before what is in it.
func (g ignore) ignored(name string, folder bool) (bool, error) {
	out, matched, err := g.MatchesUsingParentResults(name, g.folders[path.Dir(name)])
	if err != nil {
		return false, fmt.Errorf(".dockerignore: %w", err)
	}
	if folder {
		g.folders[name] = matched
	}
	return out, nil
}
