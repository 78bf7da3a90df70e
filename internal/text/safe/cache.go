package safe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

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
