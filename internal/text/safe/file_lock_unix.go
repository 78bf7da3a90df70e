//go:build unix

package safe

import (
	"errors"
	"os"
	"syscall"
)

// Locks says whether this system has locks that end with the process, however that ends.
const Locks = true

// TryLock locks a file for one holder alone, or shares the lock with others, or changes one to the other. It
// does not wait: held is false where somebody else's lock is in the way, and then none is held.
func TryLock(f *os.File, alone bool) (held bool, err error) {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// Unlock lets go of a lock.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) } // fails where there is none
