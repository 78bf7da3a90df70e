package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"locbench/internal/bench"
)

// Save writes p as YAML into the file path, under the name that the file's gives it, after it has
// seen that the same can be read back. The file is there whole or not at all. Unless replace is
// set, one that is there already is left alone and the error is fs.ErrExist.
func Save(path string, p bench.Profile, replace bool) error {
	if err := save(path, p, replace); err != nil {
		return fmt.Errorf("save profile %s: %w", path, err)
	}
	return nil
}

func save(path string, p bench.Profile, replace bool) error {
	p.Name = nameOf(path)
	data, err := Format(p)
	if err == nil {
		_, err = Parse(path, data)
	}
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".locbench-*.yaml")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("that is no file")
	}
	if replace {
		return os.Rename(f.Name(), path)
	}
	if err = os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return saveNew(path, data) // a file system without links
	}
	return err
}

func saveNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
