package safe

import (
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile replaces the file at path with data, readable for all users. A crash at any moment
// leaves either the old or the new content: temporary file in the same folder (".NAME.tmp…"),
// fsync, rename, fsync of the folder.
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
	_, err = tmp.Write(data)
	for _, next := range []func() error{
		func() error { return tmp.Chmod(0o644) }, tmp.Sync, tmp.Close,
		func() error { return os.Rename(tmp.Name(), path) }, func() error { return syncDir(dir) },
	} {
		if err == nil {
			err = next()
		}
	}
	return err
}

// CreateFile is WriteFile for a new file. If a file or link exists at path, it is left alone and
// the error is fs.ErrExist.
func CreateFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) // reserves the name
	if err != nil {
		return err
	}
	_ = f.Close()
	if err = WriteFile(path, data); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// syncDir makes a rename durable, if the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync() // the content itself is already safe
	return nil
}
