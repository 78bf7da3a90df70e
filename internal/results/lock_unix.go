//go:build unix

package results

import (
	"os"
	"syscall"
)

// lock keeps a second locbench from writing to the same folder. It goes with the process, however that ends.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
