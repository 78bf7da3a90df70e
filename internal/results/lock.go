package results

import (
	"errors"
	"os"
	"time"

	"locbench/internal/text/safe"
)

// lock keeps a second locbench from writing to the same folder, where the system has locks. Somebody who
// looks whether the lock is free holds it for an instant: that is waited for.
func lock(f *os.File) error {
	for range 5 {
		if held, err := safe.TryLock(f, true); held || err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("it is locked")
}

// quiet is how long nothing may have been written for the writer to count as gone, where there is no lock
// to ask.
const quiet = time.Minute

// locked reports whether somebody else writes.
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
