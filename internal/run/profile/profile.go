// Package profile reads benchmarks from YAML (profiles/*.yaml and files of users) into
// bench.Profile, and writes them back.
//
// A profile says everything that decides about the figures except the machine;
// profiles/locations.yaml shows every key with its meaning. All mistakes of a file are reported at
// once with their lines (package strictyaml). What needs other parts of locbench is left to them:
// whether a contender, a check suite or a data folder exists, and whether a store answers.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/safe"
	"locbench/internal/text/strictyaml"
)

// ErrUnknown is wrapped by the error of Load when there is no profile and no file of that name.
var ErrUnknown = errors.New("unknown profile")

// Load reads the bundled profile called name (bundled holds <name>.yaml), or else the file name.
func Load(name string, bundled fs.FS) (bench.Profile, error) {
	if !strings.ContainsAny(name, `/\`) {
		if data, err := fs.ReadFile(bundled, name+".yaml"); err == nil {
			return Parse("profiles/"+name+".yaml", data)
		}
	}
	data, err := strictyaml.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return bench.Profile{}, unknown(name, bundled)
	}
	if err != nil {
		return bench.Profile{}, fmt.Errorf("read profile: %w", err)
	}
	return Parse(name, data)
}

func unknown(name string, bundled fs.FS) error {
	if strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return fmt.Errorf("%w: no file %s", ErrUnknown, name)
	}
	names, hint := names(bundled), ""
	if near := strictyaml.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%w %q%s (bundled: %s; or the path of a YAML file)",
		ErrUnknown, name, hint, strings.Join(names, ", "))
}

// List reads all bundled profiles, in the order of their names. The error names every one that
// cannot be read; the others are returned with it.
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

// Parse reads a profile. file is the name that mistakes carry and, without its folder and ending,
// the profile's name unless data says another. The error is a strictyaml.Mistakes.
func Parse(file string, data []byte) (bench.Profile, error) {
	f := defaults()
	f.Name = nameOf(file)
	var p bench.Profile
	err := strictyaml.DecodeThen(file, data, &f, func(v strictyaml.Value) {
		f.follow(v)
		p = f.profile()
		f.report(&p, v)
	})
	if err != nil {
		return bench.Profile{}, err
	}
	return p, nil
}

// nameOf makes a name of a file's: it becomes part of the results folder's.
func nameOf(file string) string {
	base := path.Base(filepath.ToSlash(file))
	base = strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
	base = strings.Trim(notInName.ReplaceAllString(base, "-"), "-._")
	return cmp.Or(base[:min(len(base), maxName)], "profile")
}

// Format writes p as YAML with every default filled in. Parse reads a valid one back as it was.
func Format(p bench.Profile) ([]byte, error) {
	return strictyaml.Encode(fileOf(p))
}

// Save writes p as YAML into the file path, under the name that the file's gives it, after it has
// seen that the same can be read back. The file is there whole or not at all. Unless replace is
// set, one that is there already is left alone and the error is fs.ErrExist.
func Save(path string, p bench.Profile, replace bool) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("save profile %s: %w", path, err)
		}
	}()
	p.Name = nameOf(path)
	data, err := Format(p)
	if err == nil {
		_, err = Parse(path, data)
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("that is not a regular file")
	}
	if replace {
		return safe.WriteFile(path, data)
	}
	return safe.CreateFile(path, data)
}
