package results

import (
	"errors"
	"os"
	"time"

	"github.com/locbench/locbench/internal/text/safe"
)

// lock locks a log, if the system has locks. It waits for processes that only check the lock.
func lock(f *os.File) error {
	for range 5 {
		if held, err := safe.TryLock(f, true); held || err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the folder is locked")
}

// quiet is the time without a write after which a writer counts as gone, without locks.
const quiet = time.Minute

// locked reports whether another process is writing to the log.
func locked(f *os.File) bool {
	if !safe.Locks {
		st, err := f.Stat()
		return err == nil && time.Since(st.ModTime()) < quiet
	}
	held, err := safe.TryLock(f, false)
	if held {
		safe.Unlock(f)
	}
	return !held && err == nil
}
