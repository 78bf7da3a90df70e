//go:build unix

package results

import (
	"os"
	"syscall"
	"time"
)

// locks says that the lock tells whether somebody writes.
const locks = true

// lock keeps a second locbench from writing to the same folder. It goes with the process, however
// that ends. Somebody who looks whether the lock is free holds it for an instant: that is waited
// for.
func lock(f *os.File) error {
	var err error
	for range 5 {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EWOULDBLOCK {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// locked tells whether somebody else holds the lock.
func locked(f *os.File) bool {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return err == syscall.EWOULDBLOCK
	}
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	return false
}
