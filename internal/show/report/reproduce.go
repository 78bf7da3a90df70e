package report

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// reproduction is how to run the same benchmark again.
type reproduction struct {
	Command string // command line of the run, with its seed; "" if unknown
	Env     string // environment variables that the profile takes: "TOKEN, PASSWORD"; "" for none
}

func newReproduction(run bench.Run) (r reproduction) {
	if text := withoutUser(commandOf(run)); len(text) <= maxText { // a cut one does not run
		r.Command = cleanText(text)
	}
	r.Env = cleanName(strings.Join(run.Profile.EnvNames(), ", "))
	return r
}

// commandOf returns the parsed command of a run, else the recorded one.
func commandOf(run bench.Run) string {
	words := run.Command
	if len(run.Given) > 0 {
		words = run.Given
	}
	if seeded := func(word string) bool { return strings.HasPrefix(word, "--seed") }; run.Seed != 0 && !slices.ContainsFunc(words, seeded) {
		words = append(slices.Clip(words), "--seed="+strconv.FormatUint(run.Seed, 10))
	}
	return conclusion.Command(words)
}

// relative replaces the absolute paths of a run by those from the folder of its profile on: reports
// are passed on.
func relative(run bench.Run) *strings.Replacer {
	p := run.Profile
	paths := slices.Concat(run.Services, run.AllowFiles, p.Checks.Suites, []string{p.Services})
	for _, n := range p.Needs {
		paths = append(paths, n.Texts()...)
	}
	for _, f := range run.Files {
		paths = append(paths, f.File)
	}
	for _, s := range p.Settings {
		paths = append(paths, s.Dir)
	}
	var pairs []string
	for _, path := range paths {
		if filepath.IsAbs(path) {
			pairs = append(pairs, path, run.Path(path))
		}
	}
	return strings.NewReplacer(pairs...)
}

// withoutUser removes user names and passwords from URLs: reports are passed on.
func withoutUser(s string) string { return userInfo.ReplaceAllString(s, "://") }

var userInfo = regexp.MustCompile(`://[^/\s"'@]*@`)

func profileStem(name string) string {
	return cmp.Or(strings.Trim(notPlain.ReplaceAllString(safe.Line(name, 60), "-"), "-."), "profile")
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
