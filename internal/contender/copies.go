package contender

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// makePrivate makes a folder that only this user can read.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// removeOlder removes the other copies of the contender just built in dir: those of the same build
// commands, finished or not, and those of the same variant with other commands. Copies that a
// process builds or holds, or that cannot be removed, stay for a later build.
func removeOlder(dir string, svc bench.Service) {
	if !safe.Locks {
		return // unknown whether a copy is in use
	}
	hash := strings.Repeat("[0-9a-f]", hashDigits)
	all, _ := filepath.Glob(filepath.Join(quoteGlob(filepath.Dir(dir)), quoteGlob(svc.Name)+"-"+hash+"-"+hash))
	recipe := strings.TrimRight(dir, "0123456789abcdef")
	for _, older := range all {
		variant, err := safe.ReadFile(older+builtMarker, 1<<10)
		if older == dir || !strings.HasPrefix(older, recipe) && (err != nil || string(variant) != svc.Variant) {
			continue
		}
		removeUnused(older)
	}
}

// quoteGlob escapes the special characters of filepath.Glob.
func quoteGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(text)
}
