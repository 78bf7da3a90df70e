package launch

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/text/safe"
)

// ownerEnd is the suffix of the file next to a folder that names its instance and run.
const ownerEnd = ".owner"

// folders returns where the folders of processes are made. It is short, as a socket's path in one
// must be.
func folders() (string, error) {
	dir, err := safe.Cache()
	return filepath.Join(dir, "work"), err
}

// NewFolder returns a path for bench.LaunchSpec.Folder. Nothing is made yet.
func NewFolder() (string, error) {
	dir, err := folders()
	if err != nil {
		return "", err
	}
	var random [6]byte
	rand.Read(random[:]) // never fails
	return filepath.Join(dir, hex.EncodeToString(random[:])), nil
}

// tmp returns the TMPDIR of a process in a folder.
func tmp(folder string) string { return filepath.Join(folder, "tmp") }

// makeFolder makes the folder of a start. What an earlier start left there is removed first.
func makeFolder(spec bench.LaunchSpec, instance string) error {
	if spec.Folder == "" {
		return nil
	}
	err := removeFolder(spec.Folder)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(spec.Folder), 0o700)
	}
	if err == nil { // before the folder: what has no owner is not found again
		err = os.WriteFile(spec.Folder+ownerEnd, []byte(groupName(instance, spec.RunID)), 0o600)
	}
	if err == nil {
		err = os.MkdirAll(tmp(spec.Folder), 0o700)
	}
	if err == nil {
		err = copyArtifact(spec.Dir(), spec.Artifact)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make a folder for the process: %w", err), removeFolder(spec.Folder))
	}
	return nil
}

// removeFolder removes a folder, also with parts that its process has made read-only.
func removeFolder(folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.RemoveAll(folder); err != nil {
		_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(path, 0o700)
			}
			return err
		})
		if err := os.RemoveAll(folder); err != nil {
			return docker.WithCleanHint(err)
		}
	}
	if err := os.Remove(folder + ownerEnd); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyArtifact fills the new folder to with what a build made: copies of the contender's own files
// and folders, and links to the rest, such as installed dependencies.
func copyArtifact(to string, a bench.Artifact) error {
	c := copying{from: a.Dir, to: to, own: map[string]bool{".": true}}
	for _, name := range a.Files {
		for ; !c.own[name]; name = path.Dir(name) {
			c.own[name] = true
		}
	}
	return c.folder(".")
}

type copying struct {
	from, to string
	own      map[string]bool // files and folders of the contender, and the folders above them
	all      bool            // copy everything: this user may not make links
}

func (c *copying) folder(rel string) error {
	if err := os.Mkdir(filepath.Join(c.to, rel), 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(c.from, rel))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		from, to := filepath.Join(c.from, name), filepath.Join(c.to, name)
		if !c.own[name] && !c.all {
			if err := os.Symlink(from, to); err == nil {
				continue
			}
			c.all = true // as on Windows
		}
		switch {
		case e.IsDir():
			err = c.folder(name)
		case e.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = os.Readlink(from); err == nil {
				err = os.Symlink(target, to)
			}
		default:
			err = copyFile(from, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// programSize is the size from which an executable file is a program, which does not change itself.
const programSize = 1 << 20

// copyFile copies a file with its mode and its time, by which compiled files know their sources. A
// program gets a second name instead: a copy would be written to disk while the contender starts.
func copyFile(from, to string) error {
	// A process that is started meanwhile would hold the file open, and nothing could execute it.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := safe.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if info.Mode()&0o111 != 0 && info.Size() >= programSize && os.Link(from, to) == nil {
		return nil
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// cleanFolders removes the folders of processes in dir, except those for which keep returns true.
func cleanFolders(dir, run string, keep func(what, owner string) bool) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), ownerEnd)
		if !ours || name == "" {
			continue
		}
		text, err := safe.ReadFile(filepath.Join(dir, e.Name()), 4<<10)
		if err != nil {
			continue // removed meanwhile
		}
		owner, of, ours := parseGroup(string(text))
		what := "folder " + filepath.Join(dir, name) + " " + ofRun(of)
		if !ours || run != "" && of != groupRun(run) || keep(what, owner) {
			continue
		}
		if err := removeFolder(filepath.Join(dir, name)); err != nil {
			failed = append(failed, err)
			continue
		}
		removed = append(removed, what)
	}
	return removed, errors.Join(failed...)
}
