package safe

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Open opens the file at path for reading.
func Open(path string) (*os.File, error) {
	return open(path, func() (fs.FileInfo, error) { return os.Stat(path) }, func() (*os.File, error) {
		return os.OpenFile(path, os.O_RDONLY|openNow, 0)
	})
}

// OpenItself opens the file at path for reading. A link is an error.
func OpenItself(path string) (*os.File, error) {
	return open(path, func() (fs.FileInfo, error) { return os.Lstat(path) }, func() (*os.File, error) {
		return os.OpenFile(path, os.O_RDONLY|openNow|noFollow, 0)
	})
}

// OpenIn opens the file name in dir for reading. A link that leads out of dir is an error.
func OpenIn(dir *os.Root, name string) (*os.File, error) {
	return open(name, func() (fs.FileInfo, error) { return dir.Stat(name) }, func() (*os.File, error) {
		return dir.OpenFile(name, os.O_RDONLY|openNow, 0)
	})
}

// OpenRoot opens the folder dir. Anything else is an error: opening a pipe waits for its other end.
func OpenRoot(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	return os.OpenRoot(dir)
}

// open checks the file before opening it, since opening already affects some devices. It checks
// again afterwards, since another file may have replaced it.
func open(name string, stat func() (fs.FileInfo, error), open func() (*os.File, error)) (*os.File, error) {
	info, err := stat()
	if err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return checked(f, func(info fs.FileInfo) error { return check(name, info) })
}

// checked returns f, or closes it if check finds something wrong.
func checked(f *os.File, check func(fs.FileInfo) error) (*os.File, error) {
	info, err := f.Stat()
	if err == nil {
		err = check(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// check returns an error that wraps fs.ErrInvalid unless info is of a regular file.
func check(name string, info fs.FileInfo) error {
	what := "something else"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeSymlink != 0:
		what = "a link"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%s is %s, not a regular file", name, what)
}

// ReadFile reads the file at path. More than most bytes are an error.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, most)
}

// ReadAll reads the rest of r. More than most bytes are an error; if r is a file, nothing is read
// then. name is used in errors.
func ReadAll(r io.Reader, name string, most int64) ([]byte, error) {
	tooLarge := fmt.Errorf("%s is larger than the %s allowed", name, size(most))
	if f, ok := r.(fs.File); ok {
		if info, err := f.Stat(); err == nil && info.Size() > most {
			return nil, tooLarge
		}
	}
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > most {
		return nil, tooLarge
	}
	return data, nil
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Append opens the file at path for appending and reading, and creates it if it does not exist. A
// link is an error, and so is a file with a second name, since that file would change too.
func Append(path string, perm fs.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil {
		if err := check(path, info); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR|openNow|noFollow, perm)
	if err != nil {
		return nil, err
	}
	return checked(f, func(info fs.FileInfo) error {
		if err := check(path, info); err != nil || names(info) <= 1 {
			return err
		}
		return fmt.Errorf("%s has a second name (hard link): remove one of the two", path)
	})
}

// DirFS returns os.DirFS(dir), in which only regular files and folders can be opened.
func DirFS(dir string) fs.FS { return tree{os.DirFS(dir).(dirFS), dir} }

type dirFS interface {
	fs.StatFS
	fs.ReadDirFS
	fs.ReadLinkFS
}

type tree struct {
	dirFS
	dir string
}

// Open implements fs.FS.
func (t tree) Open(name string) (fs.File, error) {
	info, err := t.Stat(name) // also checks the name
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return t.dirFS.Open(name)
	}
	f, err := Open(filepath.Join(t.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

// Within reports whether the file at path is in one of the folders, links followed. A file that does
// not exist is where its path says.
func Within(path string, folders ...string) bool {
	at := whole(path)
	return slices.ContainsFunc(folders, func(folder string) bool {
		rel, err := filepath.Rel(whole(folder), at)
		return err == nil && filepath.IsLocal(rel)
	})
}

// ToAllow returns the folder to add for Within: path itself if it is one, or that of a file; "" for
// a socket or a device, and if it is the root of all.
func ToAllow(path string) string {
	at := whole(path)
	info, err := os.Stat(at)
	switch {
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		return ""
	case err != nil || !info.IsDir():
		at = filepath.Dir(at)
	}
	if at == filepath.Dir(at) {
		return ""
	}
	return at
}

// whole returns a whole path without links. What does not exist has none.
func whole(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if at, err := filepath.EvalSymlinks(full); err == nil {
		return at
	}
	if parent := filepath.Dir(full); parent != full {
		return filepath.Join(whole(parent), filepath.Base(full))
	}
	return full
}

// Cache returns the folder locbench in the user's cache folder, which it makes. A user without a
// home folder, or with one that cannot be written to, such as / of an arbitrary user in a container,
// has one below the folder of temporary files, which no other user may use.
func Cache() (string, error) {
	dir, err := os.UserCacheDir()
	if err == nil {
		dir = filepath.Join(dir, "locbench")
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		return dir, nil
	}
	if os.Getenv("XDG_CACHE_HOME") == "" {
		own := filepath.Join(os.TempDir(), "locbench-"+strconv.Itoa(os.Getuid()))
		ownErr := makeOwn(own)
		if ownErr == nil {
			return own, nil
		}
		err = errors.Join(err, ownErr)
	}
	return "", fmt.Errorf("make a folder to build and run in: %w; set XDG_CACHE_HOME to a folder that you may write to", err)
}

// makeOwn makes a folder that belongs to this user alone. One that exists may be that of another
// user, who knew its name.
func makeOwn(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !owned(info) {
		return fmt.Errorf("%s is not a folder of this user alone (mode 0700)", dir)
	}
	return nil
}
