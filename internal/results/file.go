package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Bounds on what is read back: a results folder may come from anywhere.
const (
	maxFile  = 256 << 20 // bytes of one JSON file
	maxTotal = 4 << 30   // bytes of all leg files
	maxLine  = 16 << 20  // bytes of one line of events.jsonl
	maxLegs  = 100_000
	maxSteps = 100_000
)

// WriteFile replaces the file at path with data so that a crash at any moment leaves either the old
// or the new content: temporary file in the same folder, fsync, rename, fsync of the folder.
func WriteFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err := tmp.Chmod(0o644); err != nil {
		return err
	}
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// removeTemporary removes what a WriteFile of a results file that was killed has left in dir.
// Nobody else may be writing there.
func removeTemporary(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		for _, name := range []string{"?*.json", SummaryFile, ReportFile} {
			if ok, _ := filepath.Match("."+name+".tmp[0-9]*", e.Name()); ok && e.Type().IsRegular() {
				failed = append(failed, os.Remove(filepath.Join(dir, e.Name())))
			}
		}
	}
	return errors.Join(failed...)
}

// syncDir makes a rename durable. Some file systems and systems cannot; then there is nothing to be
// done about it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !os.IsPermission(err) {
		return nil //nolint:nilerr // the content itself is safe already
	}
	return nil
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return WriteFile(path, append(data, '\n'))
}

// readJSON reads one bounded JSON value into v. Its errors name the file as it is called within
// dir.
func readJSON(dir fs.FS, path string, v any) error {
	st, err := fs.Stat(dir, path)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() { // opening a pipe would wait for its writer
		return fmt.Errorf("%s: no regular file", path)
	}
	f, err := dir.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("%s: larger than %d MiB, so it is no results file", path, maxFile>>20)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, place(data, err))
	}
	return nil
}

// place adds the line to a JSON error, which knows only the byte.
func place(data []byte, err error) error {
	var offset int64 = -1
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = e.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	line := 1
	for _, c := range data[:offset] {
		if c == '\n' {
			line++
		}
	}
	return fmt.Errorf("line %d: %w", line, err)
}
