// Package profile reads benchmarks from YAML (profiles/*.yaml and files of users) into
// bench.Profile.
//
// A profile decides the results together with the machine. profiles/locations.yaml explains every
// key. All mistakes of a file are reported at once with their lines (package strictyaml). Other
// parts of locbench check whether a contender, suite or data folder exists and a need responds.
package profile

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

//go:embed profile.schema.json
var ownSchema string

// Schema is the JSON Schema of profiles. TestKeys of package cli compares it with what is read.
var Schema = kinds.WithNeeds(ownSchema)

// ErrUnknown is wrapped by the error of Load when no profile and no file has the name.
var ErrUnknown = errors.New("unknown profile")

// Load reads the bundled profile called name (<name>.yaml in bundled), or else the file name.
//
// The file names files in its own folder and below, or in the allowed folders.
func Load(name string, bundled fs.FS, allowed ...string) (bench.Profile, error) {
	return LoadWith(name, bundled, "", allowed...)
}

// LoadWith is Load with the requests of vegeta's target file in place of the profile's requests and
// sessions, unless targets is "". The needs, data and checks of a bundled profile are for its own
// requests: they are left out, as in a profile without these keys. Mistakes in a request have the
// name of the target file.
func LoadWith(name string, bundled fs.FS, targets string, allowed ...string) (bench.Profile, error) {
	with := instead{targets: targets, allowed: allowed}
	data, err := Text(name, bundled)
	if err != nil {
		return bench.Profile{}, err
	}
	if Bundled(name, bundled) {
		name, with.alone = "profiles/"+name+".yaml", true
	}
	return parse(name, data, with)
}

// Text returns the text of a profile that Load reads.
func Text(name string, bundled fs.FS) ([]byte, error) {
	if Bundled(name, bundled) {
		return fs.ReadFile(bundled, name+".yaml")
	}
	data, err := strictyaml.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknown(name, bundled)
	}
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	return data, nil
}

// Bundled reports whether a name is that of a bundled profile, and not of a file.
func Bundled(name string, bundled fs.FS) bool {
	return !strings.ContainsAny(name, `/\`) && slices.Contains(names(bundled), name)
}

// IsFile reports whether a name is that of a YAML file.
func IsFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// FileOf returns the YAML file in the working folder that a name without its ending may mean; "" if
// there is none.
func FileOf(name string) string {
	for _, file := range []string{name + ".yaml", name + ".yml"} {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

func unknown(name string, bundled fs.FS) error {
	if strings.ContainsAny(name, `/\`) || IsFile(name) {
		return fmt.Errorf("%w: no file %s", ErrUnknown, name)
	}
	names, hint := names(bundled), ""
	if file := FileOf(name); file != "" {
		return fmt.Errorf("%w %q; did you mean the file %s?", ErrUnknown, name, file)
	}
	if near := strictyaml.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%w %q%s (bundled: %s; or the path of a YAML file)",
		ErrUnknown, name, hint, strings.Join(names, ", "))
}

// List reads all bundled profiles, sorted by name, and returns the readable ones with any error.
func List(bundled fs.FS) ([]bench.Profile, error) {
	var list []bench.Profile
	var failures []error
	for _, name := range names(bundled) {
		if p, err := Load(name, bundled); err != nil {
			failures = append(failures, err)
		} else {
			list = append(list, p)
		}
	}
	return list, errors.Join(failures...)
}

func names(bundled fs.FS) []string {
	files, _ := fs.Glob(bundled, "*.yaml") // the pattern is well formed: no other error is possible
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".yaml")
	}
	slices.Sort(files)
	return files
}

// Parse reads a profile. Mistakes carry the name file; without its folder and extension it is also
// the profile's name, unless data has one. The error is a strictyaml.Mistakes.
func Parse(file string, data []byte, allowed ...string) (bench.Profile, error) {
	return parse(file, data, instead{allowed: allowed})
}
