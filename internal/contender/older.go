package contender

import (
	"os"
	"path/filepath"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/safe"
)

// private makes a folder that is for this user alone.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// removeOlder removes the other copies of the contender in dir, which was just built: those of the
// same build commands, finished or not, and those of the same variant, whose commands have changed.
// What somebody builds or holds stays, and what cannot be removed: a later build tries again.
func removeOlder(dir string, svc bench.Service) {
	if !safe.Locks {
		return // whether somebody uses one is not known here
	}
	hash := strings.Repeat("[0-9a-f]", hashDigits)
	all, _ := filepath.Glob(filepath.Join(globbed(filepath.Dir(dir)), globbed(svc.Name)+"-"+hash+"-"+hash))
	recipe := strings.TrimRight(dir, "0123456789abcdef")
	for _, older := range all {
		variant, err := safe.ReadFile(older+builtMarker, 1<<10)
		if older == dir || !strings.HasPrefix(older, recipe) && (err != nil || string(variant) != svc.Variant) {
			continue
		}
		removeUnused(older)
	}
}

// globbed returns a text that filepath.Glob takes for itself.
func globbed(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(text)
}
