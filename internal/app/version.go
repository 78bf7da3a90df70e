package app

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// release is the version that this source becomes: binaries of a checkout are its "-dev". A test
// compares it with the changelog.
const release = "0.1.0"

// Build says what this binary was built from.
type Build struct {
	Version string    // such as 0.1.0, or 0.1.0-dev+0123456789ab.dirty of a checkout
	Commit  string    // the whole revision; of a module that go install got by its tag ""
	Date    time.Time // of the commit; zero if unknown
}

// Version returns the version of this binary.
func Version() string { return Built().Version }

// Built returns what this binary was built from, as the Go linker wrote it into the binary.
func Built() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

// String returns the version with what it was built for, and on a second line its commit.
func (b Build) String() string {
	text := fmt.Sprintf("locbench %s %s %s/%s\n", b.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if b.Commit == "" {
		return text
	}
	return text + strings.TrimRight("commit "+b.Commit+" "+b.date(), " ") + "\n"
}

func (b Build) date() string {
	if b.Date.IsZero() {
		return ""
	}
	return b.Date.UTC().Format(time.RFC3339)
}

func (b Build) software() bench.Software {
	return bench.Software{Locbench: b.Version, Commit: b.Commit, Date: b.date(), Go: runtime.Version()}
}

// pseudo matches the versions that Go makes of a commit without a tag; its groups are time and
// revision.
var pseudo = regexp.MustCompile(`[-.](\d{14})-([0-9a-f]{12})$`)

// buildOf reads the version of the main module, which is that of a tag for releases and go install,
// and the settings of version control, which a checkout has.
func buildOf(info *debug.BuildInfo) (b Build) {
	version, dirty := strings.CutSuffix(info.Main.Version, "+dirty")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date, _ = time.Parse(time.RFC3339, s.Value) // else unknown
		case "vcs.modified":
			dirty = dirty || s.Value == "true"
		}
	}
	made := pseudo.FindStringSubmatch(version)
	if tag, ok := strings.CutPrefix(version, "v"); ok && made == nil && !dirty {
		b.Version = tag
		return b
	}
	if made != nil && b.Commit == "" { // go install of a branch
		b.Commit = made[2]
		b.Date, _ = time.Parse("20060102150405", made[1])
	}
	b.Version = release + "-dev"
	if b.Commit != "" {
		b.Version += "+" + b.Commit[:min(12, len(b.Commit))]
		if dirty {
			b.Version += ".dirty"
		}
	}
	return b
}
