//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// ofOneNeed are words of the need elasticsearch and of its data, also as parts of names such as
// StoreKind. A method Store of package atomic, and the header no-store, are others.
var ofOneNeed = regexp.MustCompile(`(?i:elastic|\b(city|cities|stores?)\b)|[a-z]Store\b|\bStore[A-Z]`)

// TestNeedsOnly: these packages know needs, and not which ones there are.
func TestNeedsOnly(t *testing.T) {
	others := regexp.MustCompile(`\.(LoadOr)?Store\(|"no-store"`)
	for _, dir := range []string{
		"internal/analysis", "internal/app", "internal/bench", "internal/contender/platform", "internal/figures",
		"internal/needs/needs.go", "internal/needs/kind.go", "internal/needs/setup.go", "internal/needs/address.go", "internal/results", "internal/run", "internal/show",
	} {
		files := 0
		testenv.OK(t, filepath.WalkDir(filepath.Join("../..", dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			data, err := os.ReadFile(path)
			line := 0
			for text := range strings.Lines(string(data)) {
				line++
				if word := ofOneNeed.FindString(others.ReplaceAllString(text, "")); word != "" {
					t.Errorf("%s:%d: %q: this package knows needs only", path, line, word)
				}
			}
			return err
		}))
		testenv.Check(t, files > 0, "%s has no files", dir)
	}
}
