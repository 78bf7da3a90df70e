package contender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// cache returns the folder for builds of the process runtime.
func (o BuildOptions) cache() (string, error) {
	if o.Cache != "" {
		return filepath.Abs(o.Cache)
	}
	dir, err := safe.Cache()
	return filepath.Join(dir, "build"), err
}

// builtMarker is the suffix of a file next to a complete build, which holds the variant's name. A
// build without it was interrupted and starts again. lockEnd is the suffix of a build's lock.
const (
	builtMarker = ".built"
	lockEnd     = ".lock"
)

// BuildProcess builds a resolved contender for the process runtime: it copies the folder into the
// cache and runs the build commands there, unless that build exists. Fill completes
// Artifact.Command.
func BuildProcess(ctx context.Context, svc bench.Service, o BuildOptions) (bench.Artifact, error) {
	if svc.Builtin {
		self, err := o.self()
		if err != nil {
			return bench.Artifact{}, err
		}
		info, err := os.Stat(self)
		if err != nil {
			return bench.Artifact{}, fmt.Errorf("build contender %s: %w", label(svc), err)
		}
		return bench.Artifact{Command: []string{self, "serve"}, BinarySize: info.Size(), BuildCached: true}, nil
	}
	if svc.Process == nil {
		return bench.Artifact{}, fmt.Errorf("contender %s has no `process` in its manifest; use --runtime docker", label(svc))
	}
	ctx, cancel := o.bound(ctx)
	defer cancel()
	a, err := buildFolder(ctx, svc, o)
	if err != nil {
		return bench.Artifact{}, fmt.Errorf("build contender %s: %w", label(svc), err)
	}
	return a, nil
}

func buildFolder(ctx context.Context, svc bench.Service, o BuildOptions) (a bench.Artifact, err error) {
	dir, list, err := processFolder(svc, o)
	if err == nil {
		err = errors.Join(outsideProcess(svc, list)...)
	}
	if err != nil {
		return a, err
	}
	if err := makePrivate(filepath.Dir(dir)); err != nil {
		return a, err
	}
	unlock, err := lock(ctx, dir+lockEnd, o.out())
	if err != nil {
		return a, err
	}
	defer unlock()
	a.Dir, a.Command = dir, svc.Process.Command
	for _, e := range list {
		a.Files = append(a.Files, e.name)
	}
	if _, err := os.Stat(dir + builtMarker); err == nil && !o.Rebuild {
		if err := makePrivate(dir); err != nil { // its rights may have changed
			return a, err
		}
		a.BuildCached = true
	} else {
		start := time.Now()
		if err := buildIn(ctx, dir, svc, o, list); err != nil {
			return a, errors.Join(err, os.RemoveAll(dir))
		}
		a.BuildTime = time.Since(start)
		removeOlder(dir, svc)
	}
	if o.Hold != nil {
		held, err := hold(dir)
		if err != nil {
			return a, err
		}
		o.Hold(held)
	}
	a.BinarySize = binarySize(a, svc, o)
	return a, nil
}

// processFolder returns the folder in which a contender is built for the process runtime, and its
// sources. Its name is "<name>-<hash of the commands>-<hash of all>", so variants with the same
// build commands share it.
func processFolder(svc bench.Service, o BuildOptions) (dir string, list []entry, err error) {
	if list, err = sources(svc); err != nil {
		return "", nil, err
	}
	recipe, commands, err := processRecipe(svc, o)
	if err != nil {
		return "", nil, err
	}
	hash, err := hashOf(commands, func(w io.Writer) error { return writeTar(w, svc.Files, list) })
	if err != nil {
		return "", nil, err
	}
	cache, err := o.cache()
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(cache, recipe+"-"+hash), list, nil
}

// processRecipe returns "<name>-<hash of the commands>", the name of a contender's build for the
// process runtime without its sources, and what decides about the build, for a hash.
func processRecipe(svc bench.Service, o BuildOptions) (name string, decide []string, err error) {
	decide = []string{"process", runtime.GOOS, runtime.GOARCH}
	for _, argv := range svc.Process.Build {
		decide = append(decide, strings.Join(argv, "\x00"))
	}
	decide = append(decide, o.processorFor(decide)...)
	if svc.Copy != "" { // or the build of another commit would replace this one in the same run
		decide = append(decide, "copy", svc.Copy)
	}
	hash, err := hashOf(decide, func(io.Writer) error { return nil })
	return svc.Name + "-" + hash, decide, err
}

// buildIn removes what an interrupted build left in dir, fills dir, and runs the build commands.
func buildIn(ctx context.Context, dir string, svc bench.Service, o BuildOptions, list []entry) error {
	if err := errors.Join(os.Remove(dir+builtMarker), os.RemoveAll(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makePrivate(dir); err != nil {
		return err
	}
	if err := unpack(dir, svc.Files, list); err != nil {
		return err
	}
	self, err := o.self()
	if err != nil {
		return err
	}
	for _, raw := range svc.Process.Build {
		argv, err := Command(raw, bench.Template{Name: svc.Name, Port: svc.Port, Dir: dir, Self: self})
		if err != nil {
			return err
		}
		if err := run(ctx, o, dir, argv); err != nil {
			return err
		}
	}
	return os.WriteFile(dir+builtMarker, []byte(svc.Variant), 0o600)
}

// unpack writes the entries below dir, with their modes, so private files stay private. No name in
// an fs.FS leads out of dir, and links are not followed.
func unpack(dir string, fsys fs.FS, list []entry) error {
	for _, e := range list {
		name := filepath.Join(dir, filepath.FromSlash(e.name))
		// A .dockerignore may leave out the folder and keep the file.
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		switch {
		case err != nil:
		case e.mode.IsDir():
			err = os.MkdirAll(name, 0o700)
		case e.link != "":
			err = os.Symlink(e.link, name)
		default:
			err = unpackFile(name, fsys, e)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", e.name, err)
		}
	}
	return nil
}

func unpackFile(name string, fsys fs.FS, e entry) error {
	// Embedded files are read-only, but builds write to their sources.
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, e.mode.Perm()|0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyFile(f, fsys, e), f.Close())
}

// binarySize returns the size of the command's first word that is a file of the build, or 0.
func binarySize(a bench.Artifact, svc bench.Service, o BuildOptions) int64 {
	self, _ := o.self() // without self, {{.Self}} is not a file of the build either
	argv, err := Command(a.Command, bench.Template{Name: svc.Name, Port: svc.Port, Dir: a.Dir, Self: self})
	if err != nil {
		return 0
	}
	for _, word := range argv {
		if !filepath.IsAbs(word) {
			word = filepath.Join(a.Dir, word)
		}
		rel, err := filepath.Rel(a.Dir, word)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}
