//go:build unix

package machine

import (
	"os"
	"syscall"
)

// asItIs follows no link, and does not wait for the other end of a pipe.
const asItIs = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lock changes the lock on a file to one for this run alone, or to one that is shared. It is false where
// another one is in the way: then none is held.
func lock(f *os.File, alone bool) bool {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err != syscall.EINTR {
			return err != syscall.EWOULDBLOCK
		}
	}
}
