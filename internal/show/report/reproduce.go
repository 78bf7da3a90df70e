package report

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/safe"
)

// reproduction is how to run the same benchmark again.
type reproduction struct {
	Command string // command line of the run; "" if unknown
	File    string // file name for Profile
	Again   string // command line that runs Profile; "" if locbench cannot run it
	Env     string // environment variables that the profile takes: "TOKEN, PASSWORD"; "" for none
	Profile string // YAML with every default filled in; "" if it cannot be written
}

// maxProfile is the largest profile that the page shows, in bytes.
const maxProfile = 64 << 10

func newReproduction(run bench.Run) reproduction {
	var r reproduction
	if text := withoutUser(commandOf(run)); len(text) <= maxText { // a cut one does not run
		r.Command = cleanText(text)
	}
	if len(run.Profile.Steps) == 0 {
		return r
	}
	text, err := profile.Format(run.Profile)
	if err != nil || len(text) > maxProfile {
		return r
	}
	r.Profile = relative(run).Replace(withoutUser(cleanLines(string(text))))
	r.File = profileStem(run.Profile.Name) + ".yaml"
	r.Env = cleanName(strings.Join(run.Profile.EnvNames(), ", "))
	again := []string{"locbench", "run", "--profile", r.File, "--headless", "--seed", strconv.FormatUint(run.Seed, 10)}
	for _, dir := range run.Services {
		if dir != run.Profile.Services {
			again = append(again, "--services="+cleanText(dir))
		}
	}
	switch run.Engine {
	case bench.EngineFast, bench.EngineVegeta:
		again = append(again, "--engine", string(run.Engine))
	}
	if run.AcceptFailedChecks {
		again = append(again, "--accept-failed-checks")
	}
	for _, n := range run.Profile.Needs {
		if k, ok := kinds.Of(n.Kind); ok && n.From.Traits().ByURL && n.URL == "" {
			again = append(again, "--"+k.AddressOption, "URL")
		}
	}
	for _, t := range run.Targets {
		again = append(again, "--target", cleanText(t.Name+"="+t.URL))
	}
	for _, arg := range run.TLS.Args() {
		again = append(again, cleanText(arg))
	}
	r.Again = withoutUser(conclusion.Command(again))
	return r
}

// commandOf returns the parsed command of a run, else the recorded one.
func commandOf(run bench.Run) string {
	if len(run.Given) > 0 {
		return conclusion.Command(run.Given)
	}
	return conclusion.Command(run.Command)
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
	stem := strings.Trim(notPlain.ReplaceAllString(safe.Line(name, 60), "-"), "-.")
	if stem == "" {
		return "profile"
	}
	return stem
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func markdownReproduce(b *bytes.Buffer, r reproduction) {
	block := func(language, text string) {
		mark := fence([]string{text})
		b.WriteString("\n" + mark + language + "\n" + text + "\n" + mark + "\n")
	}
	if r.Command != "" {
		b.WriteString("Run with\n")
		block("sh", r.Command)
	}
	if r.Profile != "" {
		set := ""
		if r.Env != "" {
			set = "Set " + escape(r.Env) + " in the environment. "
		}
		b.WriteString("\nThe profile below holds everything but the machine. Save it as " + escape(r.File) + ". " +
			set + "Then run\n")
		block("sh", r.Again)
		block("yaml", r.Profile)
	}
}
