//go:build unix

package safe

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Flags for opening files: do not wait for the writer of a pipe; for appending, follow no link.
const (
	openNow  = syscall.O_NONBLOCK
	noFollow = syscall.O_NOFOLLOW
)

// names returns the number of names (hard links) of a file.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// owned reports whether a file belongs to this user.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// Locks says whether this system has locks that end with the process, however it ends.
const Locks = true

// TryLock locks a file exclusively or shared, or changes one lock to the other. It does not wait:
// held is false if another process has a conflicting lock, and then this one holds no lock.
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

// Unlock releases a lock.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) } // fails if there is none
