package report

import (
	"cmp"
	"encoding/json"
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
	Plan    string // the profile with every default filled in, as run.json has it; "" if there is none
}

// maxPlan is the largest plan that the page shows, in bytes.
const maxPlan = 64 << 10

func newReproduction(run bench.Run) (r reproduction) {
	if text := withoutUser(commandOf(run)); len(text) <= maxText { // a cut one does not run
		r.Command = cleanText(text)
	}
	if len(run.Profile.Steps) == 0 {
		return r
	}
	r.Env = cleanName(strings.Join(run.Profile.EnvNames(), ", "))
	if text, err := json.MarshalIndent(run.Profile, "", "  "); err == nil && len(text) <= maxPlan {
		r.Plan = relative(run).Replace(withoutUser(cleanLines(string(safe.JSON(text)))))
	}
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

// cleanLines strips control characters from each line and keeps line ends and indentation.
func cleanLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = safe.Line(lines[i], maxText)
	}
	return strings.Join(lines, "\n")
}

func profileStem(name string) string {
	return cmp.Or(strings.Trim(notPlain.ReplaceAllString(safe.Line(name, 60), "-"), "-."), "profile")
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
