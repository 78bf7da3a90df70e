//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// ofOneNeed are words of the need elasticsearch and of its data, also as parts of names such as
// StoreKind. A method Store of package atomic, and the header no-store, are others.
var ofOneNeed = regexp.MustCompile(`(?i:elastic|\b(city|cities|stores?)\b)|[a-z]Store\b|\bStore[A-Z]`)

// ofStores are the files below that still know one need: its key, options, fields and checks.
var ofStores = strings.Fields(`
internal/analysis/compare/differences.go
internal/app/contenders/verify.go
internal/app/onrecord.go internal/app/plan.go internal/app/record.go
internal/app/screens/site.go
internal/app/site_needs.go
internal/bench/bench.go internal/bench/environment.go internal/bench/exclusion.go
internal/bench/request.go internal/bench/run.go
internal/bench/store.go
internal/run/machine/doctor.go
internal/run/profile/address.go internal/run/profile/check.go internal/run/profile/check_request.go
internal/run/profile/file.go
internal/run/profile/request.go internal/run/profile/schema.go
internal/run/profile/sections.go internal/run/profile/setters.go internal/run/profile/table.go
internal/run/profile/targets.go
internal/show/report/environment.go internal/show/report/reproduce.go
internal/show/tui/setup/choice.go internal/show/tui/setup/facts.go internal/show/tui/setup/form.go
internal/show/tui/setup/plan.go internal/show/tui/setup/problems.go internal/show/tui/setup/save.go
internal/show/tui/setup/setup.go internal/show/tui/setup/site.go internal/show/tui/setup/store.go
internal/show/tui/setup/view.go
`)

// TestNeedsOnly: these packages know needs, and not which ones there are. A file of ofStores that
// knows them no more leaves the list.
func TestNeedsOnly(t *testing.T) {
	others := regexp.MustCompile(`\.(LoadOr)?Store\(|"no-store"`)
	for _, dir := range []string{
		"internal/analysis", "internal/app", "internal/bench", "internal/contender/platform", "internal/figures",
		"internal/needs/needs.go", "internal/results", "internal/run", "internal/show",
	} {
		files := 0
		testenv.OK(t, filepath.WalkDir(filepath.Join("../..", dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			data, err := os.ReadFile(path)
			name, found := filepath.ToSlash(strings.TrimPrefix(path, "../../")), false
			line := 0
			for text := range strings.Lines(string(data)) {
				line++
				word := ofOneNeed.FindString(others.ReplaceAllString(text, ""))
				found = found || word != ""
				if word != "" && !slices.Contains(ofStores, name) {
					t.Errorf("%s:%d: %q: this package knows needs only", path, line, word)
				}
			}
			if !found && slices.Contains(ofStores, name) {
				t.Errorf("%s knows needs only: remove it from ofStores", name)
			}
			return err
		}))
		testenv.Check(t, files > 0, "%s has no files", dir)
	}
}
