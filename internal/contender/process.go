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

// builtMarker is the suffix of a file next to a complete build, whose time is that of its last use. A
// build without it was interrupted, or runs.
const builtMarker = ".built"

// After this time without use a build is removed, sooner if there is a newer one of the same commands.
const (
	unusedOlder = 48 * time.Hour
	unused      = 30 * 24 * time.Hour
)

// BuildProcess builds a resolved contender for the process runtime: it copies the folder into the
// cache and runs the build commands there, unless there is a build of the same files and commands. Fill completes
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
	b, err := newProcessBuild(svc, o)
	if err == nil {
		err = errors.Join(outside(svc, b.sources)...)
	}
	if err == nil {
		err = makePrivate(b.cache)
	}
	if err != nil {
		return a, err
	}
	a.Dir, a.Command = b.made(), svc.Process.Command
	for _, e := range b.sources {
		a.Files = append(a.Files, e.name)
	}
	if a.BuildCached = a.Dir != ""; a.BuildCached {
		err = errors.Join(makePrivate(a.Dir), os.Chtimes(a.Dir+builtMarker, time.Time{}, time.Now()))
	} else {
		start := time.Now()
		a.Dir, err = b.run(ctx, svc, o)
		a.BuildTime = time.Since(start)
	}
	if err != nil {
		return a, err
	}
	b.removeUnused(a.Dir)
	a.BinarySize = binarySize(a, svc, o)
	return a, nil
}

// processBuild is a build for the process runtime. Its folders are "<recipe>-<hash>-<random>": two
// locbenches that build the same at the same time do not meet.
type processBuild struct {
	cache   string
	recipe  string // "<name>-<hash of the commands>", so variants with the same build commands share a build
	hash    string // of commands and sources
	sources []entry
}

func newProcessBuild(svc bench.Service, o BuildOptions) (b processBuild, err error) {
	if b.sources, err = sources(svc); err != nil {
		return b, err
	}
	decide := []string{"process", runtime.GOOS, runtime.GOARCH}
	for _, argv := range svc.Process.Build {
		decide = append(decide, strings.Join(argv, "\x00"))
	}
	decide = append(decide, o.processorFor(decide)...)
	recipe, _ := hashOf(decide, func(io.Writer) error { return nil })
	b.recipe = svc.Name + "-" + recipe
	if b.hash, err = hashOf(decide, func(w io.Writer) error { return writeTar(w, svc.Files, b.sources) }); err != nil {
		return b, err
	}
	b.cache, err = o.cache()
	return b, err
}

// made returns the folder of a complete build; "" without one.
func (b processBuild) made() string {
	entries, _ := os.ReadDir(b.cache)
	for _, e := range entries {
		name, built := strings.CutSuffix(e.Name(), builtMarker)
		if info, err := os.Stat(filepath.Join(b.cache, name)); built && strings.HasPrefix(name, b.recipe+"-"+b.hash+"-") &&
			err == nil && info.IsDir() {
			return filepath.Join(b.cache, name)
		}
	}
	return ""
}

// run fills a new folder and runs the build commands in it.
func (b processBuild) run(ctx context.Context, svc bench.Service, o BuildOptions) (dir string, err error) {
	self, err := o.self()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(b.cache, b.recipe+"-"+b.hash+"-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := unpack(dir, svc.Files, b.sources); err != nil {
		return dir, err
	}
	for _, raw := range svc.Process.Build {
		argv, err := Command(raw, bench.Template{Name: svc.Name, Port: svc.Port, Dir: dir, Self: self})
		if err != nil {
			return dir, err
		}
		if err := run(ctx, o, dir, argv); err != nil {
			return dir, err
		}
	}
	return dir, os.WriteFile(dir+builtMarker, nil, 0o600)
}

// removeUnused removes the builds but dir that were not used for long: a run may still start
// processes in one.
func (b processBuild) removeUnused(dir string) {
	entries, _ := os.ReadDir(b.cache)
	for _, e := range entries {
		other, most := filepath.Join(b.cache, e.Name()), unused
		if strings.HasPrefix(e.Name(), b.recipe+"-") {
			most = unusedOlder
		}
		used, err := os.Stat(other + builtMarker)
		if err != nil {
			used, err = e.Info()
		}
		if e.IsDir() && other != dir && err == nil && time.Since(used.ModTime()) > most {
			_ = errors.Join(os.Remove(other+builtMarker), os.RemoveAll(other)) // what cannot be removed is tried again
		}
	}
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

// makePrivate makes a folder that only this user can read.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}
