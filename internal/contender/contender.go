// Package contender finds the contenders (services/<name>/service.yaml), chooses their variants,
// fills in their templates, and builds them: a Docker image, or a binary for the process runtime.
package contender

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// ManifestName is the file that makes a folder a contender.
const ManifestName = "service.yaml"

const maxContenders = 1000 // in a Source

// Source is a folder of contenders' folders, or the folder of one contender.
type Source struct {
	FS      fs.FS
	Name    string // the root in messages: "services", "/home/me/contenders"
	Bundled bool   // contenders of other sources replace those of the same name
	// Folders of contenders, as absolute paths, that yield to others of the same name.
	Yielding []string
}

// Folder returns the Source of a folder on disk.
func Folder(dir string) Source { return Source{FS: safe.DirFS(dir), Name: dir} }

// Discover reads the manifests of all sources, bundled ones first, and returns the contenders
// sorted by name. The error has every manifest that cannot be read and every name that is in two
// sources; the other contenders are returned with it.
func Discover(sources ...Source) ([]bench.Service, error) {
	found, own := map[string]bench.Service{}, map[string]bool{}
	var failures []error
	for _, src := range sources {
		services, err := src.discover()
		failures = append(failures, err)
		for _, s := range services {
			if other := found[s.Name]; own[s.Name] && other.Dir != s.Dir {
				failures = append(failures, duplicate(s.Name, other.Dir, s.Dir))
				continue
			}
			found[s.Name], own[s.Name] = s, !src.Bundled
		}
	}
	byName := func(a, b bench.Service) int { return cmp.Compare(a.Name, b.Name) }
	return slices.SortedFunc(maps.Values(found), byName), errors.Join(failures...)
}

func (src Source) discover() ([]bench.Service, error) {
	if src.has(".") {
		s, err := src.read(".")
		if err != nil {
			return nil, err
		}
		return []bench.Service{s}, nil
	}
	entries, err := fs.ReadDir(src.FS, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no folder %s with contenders", src.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("read contenders in %s: %w", src.Name, err)
	}
	yields := map[string]int{} // by folder; those of the lowest number are read first
	for _, e := range entries {
		yields[e.Name()] = src.yields(e.Name())
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(yields[a.Name()], yields[b.Name()]) })
	var services []bench.Service
	var failures []error
	dirs, first := map[string]string{}, map[string]int{} // by contender
	for _, e := range entries {
		// Not e.IsDir: the folder may have links to contenders.
		if strings.HasPrefix(e.Name(), ".") || !src.has(e.Name()) {
			continue
		}
		if len(services) == maxContenders {
			failures = append(failures, fmt.Errorf("%s has more than %d contenders", src.Name, maxContenders))
			break
		}
		s, err := src.read(e.Name())
		if err != nil {
			failures = append(failures, &Unreadable{Folder: e.Name(), Err: err})
			continue
		}
		own := yields[e.Name()]
		if other, again := dirs[s.Name]; again {
			if own != namedElsewhere && own == first[s.Name] {
				failures = append(failures, duplicate(s.Name, other, s.Dir))
			}
			continue
		}
		dirs[s.Name], first[s.Name] = s.Dir, own
		services = append(services, s)
	}
	if len(services) == 0 && len(failures) == 0 {
		return nil, fmt.Errorf("no contender in %s: no %s in it or its folders", src.Name, ManifestName)
	}
	return services, errors.Join(failures...)
}

func duplicate(name, here, there string) error {
	return fmt.Errorf("contender %s is in both %s and %s: rename one, or name its folder with `dir` in the profile", name, here, there)
}

func (src Source) has(dir string) bool {
	info, err := fs.Stat(src.FS, path.Join(dir, ManifestName))
	return err == nil && info.Mode().IsRegular()
}

// How a folder yields to others with a contender of the same name: to those of a lower number, and
// the last ones to each other.
const (
	yieldsNot = iota
	isWorktree
	namedElsewhere // in Source.Yielding
)

func (src Source) yields(folder string) int {
	full, err := filepath.Abs(filepath.Join(src.Name, folder))
	switch {
	case err == nil && slices.Contains(src.Yielding, full):
		return namedElsewhere
	case src.worktree(folder):
		return isWorktree
	}
	return yieldsNot
}

// worktree reports whether a folder is a linked worktree of git (`git worktree add`): another state
// of sources that are elsewhere. Its .git is a file that names a folder in .git/worktrees.
func (src Source) worktree(folder string) bool {
	name := path.Join(folder, ".git")
	if info, err := fs.Stat(src.FS, name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := src.FS.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 8<<10))
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	return err == nil && ok && path.Base(path.Dir(filepath.ToSlash(dir))) == "worktrees"
}

func (src Source) read(dir string) (bench.Service, error) {
	sub, err := fs.Sub(src.FS, dir)
	if err != nil {
		return bench.Service{}, fmt.Errorf("read contender in %s: %w", src.Name, err)
	}
	file := filepath.ToSlash(filepath.Join(src.Name, dir, ManifestName))
	var data []byte
	f, err := sub.Open(ManifestName)
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, strictyaml.MaxSize+1))
	}
	if err != nil {
		return bench.Service{}, fmt.Errorf("read %s: %w", file, err)
	}
	return parseManifest(file, data, sub)
}

// Unreadable is a contender whose manifest cannot be read, in a folder of several.
type Unreadable struct {
	Folder string // its base name, usually the contender's name
	Err    error
}

// Error returns the message of Err.
func (u *Unreadable) Error() string { return u.Err.Error() }

// Unwrap returns Err.
func (u *Unreadable) Unwrap() error { return u.Err }

// SplitUnreadable splits an error of Discover into the unreadable contenders, which do not prevent
// the use of others, and the rest.
func SplitUnreadable(err error) (unreadable []*Unreadable, rest error) {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case nil:
	case *Unreadable:
		unreadable = append(unreadable, e)
	case interface{ Unwrap() []error }:
		var others []error
		for _, one := range e.Unwrap() {
			u, other := SplitUnreadable(one)
			unreadable, others = append(unreadable, u...), append(others, other)
		}
		rest = errors.Join(others...)
	default:
		rest = err
	}
	return unreadable, rest
}

// Find returns the contender called name, unresolved. The error suggests similar names.
func Find(services []bench.Service, name string) (bench.Service, error) {
	names := make([]string, len(services))
	for i, s := range services {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return bench.Service{}, UnknownError{fmt.Sprintf("unknown contender %q; %s", name,
		strictyaml.Suggest(name, "choose from", names))}
}

// UnknownError is why Find found no contender.
type UnknownError struct{ text string }

func (e UnknownError) Error() string { return e.text }

// Resolve returns svc with a variant applied; "" is the first variant. What the variant leaves
// empty stays as in the service. The result has no variants, but the name of the applied one. The
// error of an unknown name lists the variants.
func Resolve(svc bench.Service, variant string) (bench.Service, error) {
	var names []string
	for _, one := range Resolved(svc) {
		if variant == "" || variant == one.Variant {
			return one, nil
		}
		names = append(names, one.Variant)
	}
	if len(svc.Variants) == 0 {
		return bench.Service{}, fmt.Errorf("contender %s has no variant %q: it has no variants", svc.Name, variant)
	}
	return bench.Service{}, fmt.Errorf("contender %s has no variant %q; %s", svc.Name, variant,
		strictyaml.Suggest(variant, "its variants", names))
}

// Resolved returns the variants of a contender, each resolved, or the one without variants.
func Resolved(svc bench.Service) []bench.Service {
	if len(svc.Variants) == 0 {
		return []bench.Service{clean(svc)}
	}
	list := make([]bench.Service, len(svc.Variants))
	for i, v := range svc.Variants {
		list[i] = clean(apply(svc, v))
	}
	return list
}

// clean drops the recipes that a built-in contender does not use, so no record shows them.
func clean(svc bench.Service) bench.Service {
	if svc.Builtin {
		svc.Docker, svc.Process = nil, nil
	}
	return svc
}

func apply(svc bench.Service, v bench.Variant) bench.Service {
	svc.Variant, svc.Variants = v.Name, nil
	if v.Title != "" {
		svc.Title = cmp.Or(svc.Title, svc.Name) + ": " + v.Title
	}
	if v.Builtin != nil {
		svc.Builtin = *v.Builtin
	}
	svc.Env = merge(svc.Env, v.Env)
	if v.Endpoints != nil {
		svc.Endpoints = v.Endpoints
	}
	svc.Unverified = cmp.Or(v.Unverified, svc.Unverified)
	svc.Docker = applyDocker(svc.Docker, v)
	svc.Process = applyProcess(svc.Process, v)
	return svc
}

func applyDocker(base *bench.DockerRecipe, v bench.Variant) *bench.DockerRecipe {
	if base == nil && v.Dockerfile == "" && v.Image == "" {
		return nil
	}
	var d bench.DockerRecipe
	if base != nil {
		d = *base
	}
	switch {
	case v.Image != "":
		d.Image, d.Dockerfile, d.Target, d.Args = v.Image, "", "", nil
	case v.Dockerfile != "":
		d.Dockerfile, d.Image = v.Dockerfile, ""
	}
	d.Target = cmp.Or(v.Target, d.Target)
	d.Args = merge(d.Args, v.Args)
	if v.Command != nil {
		d.Command = v.Command
	}
	return &d
}

func applyProcess(base *bench.ProcessRecipe, v bench.Variant) *bench.ProcessRecipe {
	if base == nil && v.Build == nil {
		return nil
	}
	var p bench.ProcessRecipe
	if base != nil {
		p = *base
	}
	if v.Build != nil {
		p.Build = v.Build
	}
	if v.Command != nil {
		p.Command = v.Command
	}
	return &p
}

// merge returns base with over on top, without changing either.
func merge(base, over map[string]string) map[string]string {
	if len(over) == 0 {
		return base
	}
	out := map[string]string{}
	maps.Copy(out, base)
	maps.Copy(out, over)
	return out
}
