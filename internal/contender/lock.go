package contender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/locbench/locbench/internal/text/safe"
)

// lock waits until no other process has the lock at path, and holds it until unlock. Without locks
// on this system (safe.Locks), builds may run at the same time, and no copy is removed.
func lock(ctx context.Context, path string, out io.Writer) (unlock func(), err error) {
	for reported := false; ; reported = true {
		f, err := tryLock(path)
		if err != nil {
			return nil, fmt.Errorf("lock the build %s: %w", path, err)
		}
		if f != nil {
			return func() { f.Close() }, nil
		}
		if !reported {
			fmt.Fprintln(out, "waiting: another locbench is building this")
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// tryLock takes the lock without waiting. f is nil if another process has or just removed it.
func tryLock(path string) (f *os.File, err error) {
	if f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	held, err := safe.TryLock(f, true)
	if held {
		mine, err1 := f.Stat()
		there, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return f, nil
		}
	}
	f.Close()
	return nil, err
}

// hold prevents removeUnused from removing a copy, until it is closed or this process ends.
func hold(dir string) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	held, err := safe.TryLock(f, false)
	if err == nil && !held {
		err = errors.New("being removed")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("hold %s: %w", dir, err)
	}
	return f, nil
}

// removeUnused removes a copy unless a process builds or holds it.
func removeUnused(dir string) {
	l, err := tryLock(dir + lockEnd)
	if err != nil || l == nil {
		return
	}
	defer l.Close()
	if f, err := os.Open(dir); err == nil {
		defer f.Close()
		if held, _ := safe.TryLock(f, true); !held {
			return
		}
	}
	os.Remove(dir + builtMarker)
	os.RemoveAll(dir)
	os.Remove(dir + lockEnd)
}
